/** Moves the service and its children into a control group. */
import { writeFileSync } from 'node:fs';
import { isMainThread } from 'node:worker_threads';

const { CONTROL_GROUP } = process.env;
if (isMainThread && CONTROL_GROUP) writeFileSync(`${CONTROL_GROUP}/cgroup.procs`, String(process.pid));
