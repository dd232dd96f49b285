/** A long recording as a job: its worker is killed, and a worker on another host completes it. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { cacheFolder, root, runProgram } from '../../../benchmarks/case.ts';
import type { Fleet } from '../../../deploy/fleet/fleet.ts';
import type { Host } from '../../../deploy/fleet/host.ts';
import { createToken } from '../../../deploy/fleet/tokens.ts';
import { exactly, informational, type Row } from '../case.ts';

const seconds = 840;
const waitMs = 240_000;

type Job = { readonly id: string; readonly status: string; readonly result?: { readonly status: string } };

export async function checkJobs(fleet: Fleet): Promise<Row[]> {
  const token = createToken(fleet, 'jobs');
  const headers = { Authorization: `Bearer ${token}` };
  const [first, second, third] = fleet.hosts as readonly [Host, Host, Host];
  const form = new FormData();
  form.append('audio', new Blob([new Uint8Array(longRecording())]));
  const sent = await fetch(`${fleet.url}/v1/jobs`, { method: 'POST', headers, body: form });
  const { id } = (await sent.json()) as Job;
  const ask = async () => (await (await fetch(`${third.url}/v1/jobs/${id}`, { headers })).json()) as Job;
  const until = async (...statuses: string[]) => {
    const late = performance.now() + waitMs;
    let job = await ask();
    for (; !statuses.includes(job.status) && performance.now() < late; job = await ask()) await sleep(200);
    return job;
  };
  const killed = await first.work();
  await until('running');
  await sleep(500);
  await killed('SIGKILL');
  const interrupted = await ask();
  const rescuer = await second.work();
  const job = await until('done', 'failed');
  await rescuer('SIGTERM');
  return [
    informational('job: seconds of audio', 's', seconds, `${interrupted.status} when its worker was killed`),
    exactly(
      1,
      'finished by a worker on another host',
      'done',
      job.status === 'done' && job.result?.status === 'ok' ? 1 : 0,
      `${job.status}, asked of a third host`,
    ),
  ];
}

function longRecording(): Buffer {
  const path = join(cacheFolder('fleet'), `${seconds}.mp3`);
  const source = ['-stream_loop', '-1', '-i', join(root, 'examples/sample.wav')];
  runProgram('ffmpeg', [
    '-nostdin',
    '-v',
    'error',
    '-y',
    ...source,
    '-t',
    String(seconds),
    '-b:a',
    '48k',
    path,
  ]);
  return readFileSync(path);
}
