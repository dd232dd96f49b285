/** Jobs of samples without a header: the error names what the content type or the file name declares. */
import test from 'ava';
import { createJobClient, jobOf } from '../support/jobs.ts';
import { listen } from '../support/listening.ts';
import { startServer } from '../support/server.ts';

const samples = Buffer.alloc(4000, 0xd5);
const rawMuLaw =
  'Expected an audio file, got raw mu-law samples, which have no header: convert them, such as with ffmpeg -f mulaw -ar 8000 -i FILE recording.wav';
const rawPcm = rawMuLaw.replace('mu-law', 'PCM').replace('-f mulaw -ar 8000', '-f s16le -ar 16000');

test('a job of raw samples fails with what its content type, file name or URL declares', async (t) => {
  const port = await listen(t, (request, response) => {
    if (request.url === '/typed') response.setHeader('Content-Type', 'Audio/PCMU; rate=8000');
    response.end(samples);
  });
  const root = `http://127.0.0.1:${port}/`;
  const server = await startServer(t, {
    UNDERTONE_JOB_WORKERS: '1',
    UNDERTONE_JOB_URL_PREFIXES: root,
    UNDERTONE_JOB_PRIVATE_HOSTS: '127.0.0.1',
  });
  const jobs = createJobClient(server);
  const upload = async (part: { readonly type?: string; readonly filename?: string }) =>
    jobOf(await jobs.upload([{ name: 'audio', bytes: samples, ...part }]));
  const { body } = await jobs.list({
    urls: [`${root}call.ulaw?key=1`, `${root}call.raw`, `${root}typed`, `${root}call`],
  });
  const [muLaw, pcm, typed, unknown] = JSON.parse(body).jobs;
  const expected = [
    [await upload({ type: 'audio/basic' }), rawMuLaw],
    [await upload({ filename: 'call.ulaw' }), rawMuLaw],
    [await upload({ filename: 'call.raw' }), rawPcm],
    [muLaw, rawMuLaw],
    [pcm, rawPcm],
    [typed, rawMuLaw],
    [unknown, 'Expected an audio file, got data of an unknown kind'],
  ] as const;
  for (const [{ id }, message] of expected) {
    const { status, error } = await jobs.ended(id);
    t.is(status, 'failed');
    const detail = error?.detail as readonly { readonly msg: string }[] | undefined;
    t.is(detail?.[0]?.msg, message);
  }
});
