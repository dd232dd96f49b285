/** Whether analyses and jobs accept and refuse the same forms. */

import { contentType, multipart, toneFile } from '../../../benchmarks/upload-body.ts';
import { call } from '../../support/http.ts';
import { none, type Row } from '../case.ts';
import { type Form, formOf } from '../corpus/forms.ts';
import { inParallel } from '../support/parallel.ts';
import { createPrng } from '../support/prng.ts';
import type { Server } from '../support/service.ts';

const clients = 4;
const sound = toneFile(0.1);
const types =
  'audio/wav AUDIO/WAV audio/x;charset=y video/mp4 application/ogg text/plain text/plain;charset=utf-8 image/png a';

type NamedForm = Form & { readonly name: string };

function fixedForms(): NamedForm[] {
  const form = (name: string, body: Buffer): NamedForm => ({ name, contentType, body });
  const part = { name: 'audio', bytes: sound };
  const others = (count: number) => Array.from({ length: count }, () => ({ name: 'x', bytes: 'y' }));
  const bareLf = multipart([part]).toString('latin1').replaceAll('\r\n', '\n');
  return [
    ...types.split(' ').map((type) => form(type, multipart([{ ...part, type }]))),
    ...[63, 64, 65, 1000].map((count) => form(`${count} parts`, multipart([part, ...others(count - 1)]))),
    form('64 parts before it', multipart([...others(64), part])),
    form('bare LF', Buffer.from(bareLf, 'latin1')),
    form('no form', Buffer.from('x')),
  ];
}

type ValidationItem = { readonly type: string; readonly loc: readonly string[]; readonly msg: string };

const decodingErrors =
  /^value_error\.audio\.(unsupported|malformed|too_long|too_complex|too_many_channels|sample_rate|insufficient_speech)$/;

/** Errors of the analysis: the form was accepted. */
function isOfRecording({ type, msg }: ValidationItem): boolean {
  return decodingErrors.test(type) || (type === 'value_error.audio.channel' && /got \d+$/.test(msg));
}

async function verdict({ port, token }: Server, path: string, { contentType: type, body }: Form) {
  const headers = { Authorization: `Bearer ${token}`, ...(type === null ? {} : { 'Content-Type': type }) };
  const reply = await call(port, { method: 'POST', path, headers, body }).catch((error: Error) => error);
  if (reply instanceof Error) return `no answer: ${reply.message}`;
  if (reply.status < 300) return 'accepted';
  const { code, detail } = JSON.parse(reply.body) as {
    readonly code?: string;
    readonly detail: string | readonly ValidationItem[];
  };
  const [item] = typeof detail === 'string' ? [] : detail;
  if (item !== undefined && isOfRecording(item)) return 'accepted';
  return `${reply.status} ${code ?? `${item?.type} of ${item?.loc.at(-1)}`}`;
}

export async function verdictRow(server: Server, seed: number, count: number): Promise<Row> {
  const drawn = Array.from({ length: count }, (_, number): NamedForm => {
    return { name: `--seed ${seed}, number ${number}`, ...formOf(createPrng(seed, number)) };
  });
  // /v1/jobs reads JSON as a list of URLs.
  const forms = [...fixedForms(), ...drawn].filter((form) => form.contentType !== 'application/json');
  const differences = await inParallel(forms, clients, async (form) => {
    const [analysis, job] = await Promise.all([
      verdict(server, '/v1/analyze', form),
      verdict(server, '/v1/jobs', form),
    ]);
    return analysis === job ? [] : [`${form.name}: ${analysis} at /v1/analyze, ${job} at /v1/jobs`];
  });
  return none('forms with different results at analyses and jobs', differences.flat(), forms.length);
}
