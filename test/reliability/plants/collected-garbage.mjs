/** Garbage is collected every second, in every thread: what the process takes up is then what it keeps. */
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

setFlagsFromString('--expose-gc');
const collect = runInNewContext('gc');
setInterval(collect, 1000).unref();
