/**
 * Two readers of forms, of analyses in memory and of jobs as they come: what one takes the other takes, as the same.
 * They differ where no writer of forms goes: the one of jobs is laxer with headers, and takes no padding after a boundary.
 */
import { request } from 'node:http';
import test, { type ExecutionContext } from 'ava';
import { Failure } from '../../src/errors.ts';
import { collectJob } from '../../src/http/job-upload.ts';
import { createLifecycle } from '../../src/http/lifecycle.ts';
import { readForm } from '../../src/workers/form.ts';
import { scanMultipart } from '../../src/workers/multipart.ts';
import { listen } from '../support/listening.ts';
import { ceilingMs } from '../support/wait.ts';

type Read = { readonly audio: string; readonly channel: number | null } | { readonly refused: string };

function refusal(error: unknown): Read {
  if (!(error instanceof Failure)) throw error;
  return { refused: error.items[0]?.type ?? error.code };
}

function inMemory(body: Buffer): Read {
  try {
    const { audio, channel } = readForm(scanMultipart(body, 'b'));
    return { audio: Buffer.from(audio).toString('latin1'), channel };
  } catch (error) {
    return refusal(error);
  }
}

async function startReader(t: ExecutionContext): Promise<(body: Buffer) => Promise<Read>> {
  let heard: (read: Read) => void = () => {};
  const port = await listen(t, async (incoming, response) => {
    let audio = '';
    const keep = async (part: string, _index: number, bytes: Uint8Array) => {
      if (part === 'audio') audio += Buffer.from(bytes).toString('latin1');
    };
    const deadlineAt = performance.now() + ceilingMs;
    const limits = { maxBytes: 2 ** 20, deadlineAt, cut: createLifecycle().cut };
    const form = await collectJob(incoming, { ...limits, reserve: () => true, keep }).catch(refusal);
    heard(form === null || 'refused' in form ? (form as Read) : { audio, channel: form.channel });
    response.end();
  });
  const headers = { 'Content-Type': 'multipart/form-data; boundary=b' };
  return (body) =>
    new Promise((resolve, reject) => {
      heard = resolve;
      const sent = request({ port, host: '127.0.0.1', method: 'POST', headers, agent: false });
      sent.on('error', reject).on('response', (response) => response.resume());
      sent.end(body);
    });
}

const field = (name: string) => `Content-Disposition: form-data; name="${name}"`;
const whole = `--b\r\n${field('audio')}\r\n\r\nsound\r\n--b\r\n${field('channel')}\r\n\r\n1\r\n--b--\r\n`;

const bodies: Readonly<Record<string, string>> = {
  'a form': whole,
  'line feeds alone': whole.replaceAll('\r\n', '\n'),
  'a line feed after the first boundary': whole.replace('--b\r\n', '--b\n'),
  'a line feed after a header': whole.replace('"audio"\r\n\r\n', '"audio"\n\r\n'),
  'a line feed between headers': whole.replace('"audio"', '"audio"\nContent-Type: text/html'),
  'a line feed before a boundary': whole.replace('sound\r\n--b', 'sound\n--b'),
  'a carriage return alone': whole.replaceAll('\r\n', '\r'),
  'line feeds in the recording': whole.replace('sound', '\nso\nund\r\r\n'),
  'a boundary within a line': whole.replace('sound', 'so--b\r\nund'),
  'a preamble': `before\r\n${whole}`,
  'an epilogue': `${whole}after\r\n--b\r\n`,
  'no line end at the end': whole.slice(0, -2),
  'no last boundary': whole.replace('--b--\r\n', ''),
  'an end in the middle of headers': whole.slice(0, 30),
  'no boundary': 'hello',
  nothing: '',
  'the last boundary alone': '--b--\r\n',
  'an empty recording': whole.replace('sound', ''),
  'two recordings': whole.replace('"channel"\r\n\r\n1', '"audio"\r\n\r\nother'),
  'a part without a name': whole.replace('; name="channel"', ''),
  'a part that is no form-data': whole.replace('form-data; name="channel"', 'attachment; name="channel"'),
  'a name without quotes': whole.replace('"audio"', 'audio'),
  'a name in capitals': whole.replace('"audio"', '"AUDIO"'),
  'a type with parameters': whole.replace('"audio"\r\n', '"audio"\r\nContent-Type: Audio/WAV; x=y\r\n'),
  'no headers at all': whole.replace(`${field('channel')}\r\n`, ''),
};

test('what one reader takes the other takes, and as the same', async (t) => {
  const asJob = await startReader(t);
  for (const [name, text] of Object.entries(bodies)) {
    const body = Buffer.from(text, 'latin1');
    const read = inMemory(body);
    if ('refused' in read) t.true('refused' in (await asJob(body)), name);
    else t.deepEqual(await asJob(body), read, name);
  }
});
