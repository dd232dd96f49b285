/** Receipts of jobs, which `undertone verify` checks with the job as the service returns it. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import test from 'ava';
import { wavFile } from '../../benchmarks/upload-body.ts';
import { samplesOf } from '../support/analysis.ts';
import { runCli } from '../support/cli.ts';
import { makeFolder } from '../support/folder.ts';
import { call } from '../support/http.ts';
import { type JobReply, type JobStack, jobOf, startJobStack } from '../support/jobs.ts';
import { lecture } from '../support/recordings.ts';
import { makeToken } from '../support/server.ts';

const receipt = { name: 'receipt', bytes: 'true' };
const voice = wavFile(samplesOf('speech.wav'));
const identical = { code: 0, stdout: 'identical: the recording gives this report again\n', stderr: '' };

async function verify({ get }: JobStack, job: JobReply, recording: Uint8Array, baseline?: Uint8Array) {
  const folder = makeFolder();
  const write = (name: string, content: Uint8Array | string) => {
    writeFileSync(join(folder, name), content);
    return join(folder, name);
  };
  const answer = write('job.json', JSON.stringify(job));
  const keys = write('keys.json', (await get('/.well-known/undertone-keys.json')).body);
  const more = baseline === undefined ? [] : ['--baseline', write('baseline', baseline)];
  const args = ['verify', answer, write('recording', recording), '--keys', keys];
  return runCli([...args, ...more]);
}

async function analyse(stack: JobStack, parts: Parameters<JobStack['upload']>[0]): Promise<JobReply> {
  const reply = await stack.upload(parts);
  return stack.ended(jobOf(reply).id);
}

test('jobs have receipts on request, with the purpose of the token', async (t) => {
  const stack = await startJobStack(t);
  await stack.startWorker();
  const scopes = 'analyze:emotion,analyze:cognitive';
  const token = makeToken(stack.server, scopes, 'archive', '--purpose', 'film archive');
  const body = JSON.stringify({ urls: ['https://example.org/a.wav'], receipt: 'yes' });
  const headers = { Authorization: `Bearer ${token}`, 'Content-Type': 'application/json' };
  const refused = await call(stack.server.port, { method: 'POST', path: '/v1/jobs', headers, body });
  t.is(refused.status, 422, refused.body);
  t.is(JSON.parse(refused.body).detail[0].msg, 'Expected true or false for `receipt`, got something else');

  const plain = await analyse(stack, [{ name: 'audio', bytes: voice }]);
  t.false('receipt' in (plain.result ?? {}));
  const parts = [{ name: 'audio', bytes: voice }, { name: 'baseline', bytes: voice }, receipt];
  const begun = jobOf(await stack.upload(parts, { Authorization: `Bearer ${token}` }));
  let job = jobOf(await stack.show(begun.id, token));
  while (job.status !== 'done') job = jobOf(await stack.show(begun.id, token));
  t.like(job.result?.receipt, { purpose: 'film archive' });
  t.deepEqual(await verify(stack, job, voice, voice), identical);
  const changed = structuredClone(job) as JobReply & { result: { status: string } };
  changed.result.status = 'insufficient_speech';
  t.is((await verify(stack, changed, voice, voice)).stdout, 'different: the report is another\n');
});

test('with UNDERTONE_RECEIPTS=always every job has one, also of a recording of several chunks', async (t) => {
  const stack = await startJobStack(t, { UNDERTONE_RECEIPTS: 'always' });
  await stack.startWorker();
  const long = lecture(905);
  const job = await analyse(stack, [{ name: 'audio', bytes: long }]);
  t.is(job.status, 'done');
  t.deepEqual(await verify(stack, job, long), identical);
});
