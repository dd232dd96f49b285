/** Malformed forms, sent to the service. */
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { toneFile } from '../../../benchmarks/upload-body.ts';
import { negativeControl, none, type Options, type Row } from '../case.ts';
import { attack, rowsOf } from '../corpus/campaign.ts';
import { mutate } from '../corpus/mutate.ts';
import { createPrng, type Prng } from '../support/prng.ts';
import { buildService, type Server, withServer } from '../support/service.ts';

const shortCount = 3000;
const longCount = 20_000;
const path = '/v1/analyze';

export async function run({ long, seed, count }: Options): Promise<readonly Row[]> {
  buildService();
  const total = count ?? (long ? longCount : shortCount);
  const TMPDIR = mkdtempSync(join(tmpdir(), 'undertone-forms-'));
  const settings = { UNDERTONE_WORKERS: '2', UNDERTONE_QUEUE: '64', UNDERTONE_DEADLINE_S: '250', TMPDIR };
  try {
    return await withServer(settings, async (server) => {
      const rows = [...(await formRows(server, total, seed)), remainingRow(server, TMPDIR)];
      writeFileSync(join(TMPDIR, 'remaining'), '');
      return [...rows, negativeControl('a remaining file', [remainingRow(server, TMPDIR)])];
    });
  } finally {
    rmSync(TMPDIR, { recursive: true, force: true });
  }
}

async function formRows(server: Server, total: number, seed: number): Promise<Row[]> {
  const campaign = await attack(server, total, async (client, number) => {
    const { contentType, body } = formOf(createPrng(seed, number));
    const type = contentType === null ? {} : { 'Content-Type': contentType };
    const headers = { Authorization: `Bearer ${server.token}`, ...type };
    return { path, answer: await client.send('POST', path, body, headers) };
  });
  for (const { number, fault } of campaign.findings)
    console.error(`--seed ${seed}, number ${number}: ${fault}`);
  return rowsOf(campaign, server);
}

function remainingRow({ dataDir }: Server, temporary: string): Row {
  const uploads = readdirSync(dataDir).filter(
    (name) => !/^undertone|secret|receipt-keys|compiled|\.db/.test(name),
  );
  return none('files that remain', [...readdirSync(temporary), ...uploads], 'all');
}

// Bodies of multipart/form-data that a careless or a malicious client could send.

type Form = { readonly contentType: string | null; readonly body: Buffer };

const sound = toneFile(0.05);
const boundaries = [
  'b',
  '----WebKitFormBoundaryX7',
  'x'.repeat(70),
  'x'.repeat(71),
  "a b:c'()+_,-./=?",
  '--',
  '-',
  '0',
];
const names = [
  'audio',
  'audio',
  'audio',
  'baseline',
  'channel',
  'AUDIO',
  '',
  'x',
  'au"dio',
  'aud\u00efo',
  '__proto__',
  'n'.repeat(20_000),
];
const lineEnds = ['\r\n', '\r\n', '\n', '\r', '\r\r\n', '\n\r', ''];
const oddHeaders = [
  'Content-Disposition: attachment; name="audio"',
  'Content-Disposition: form-data',
  'Content-Disposition: form-data; name=audio; name=other',
  'Content-Disposition: form-data; name="audio',
  "Content-Disposition: form-data; name*=utf-8''audio",
  'content-disposition:form-data;name=audio;filename="a\\".wav"',
  'Content-Type: audio/wav\r\n folded',
  'Content-Type: text/plain; charset="',
  'Content-Type: ',
  'Content-Transfer-Encoding: base64',
  'Content-Length: 99999999',
  'no colon here',
  ': no name',
  '\0\0\0',
  `X-Long: ${'y'.repeat(20_000)}`,
];
function payload(prng: Prng, boundary: string): Buffer {
  const near = [
    `--${boundary}`,
    `\r\n--${boundary}`,
    `\r\n--${boundary}x\r\n`,
    `\r\n--${boundary.slice(0, -1)}\r\n`,
  ];
  return prng.pick([
    () => sound,
    () => sound,
    () => Buffer.alloc(0),
    () => prng.bytes(prng.below(300)),
    () => Buffer.from(prng.pick(['0', '1', '-1', '99999', '1e3', ' 1 ', 'x'])),
    () => Buffer.from(prng.pick(near).repeat(1 + prng.below(3)), 'latin1'),
    () => Buffer.from('\r\n'.repeat(prng.below(2000))),
  ])();
}

function part(prng: Prng, boundary: string, end: () => string, honest: boolean): Buffer {
  const headers = [`Content-Disposition: form-data; name="${honest ? 'audio' : prng.pick(names)}"`];
  if (prng.oneIn(2))
    headers.push(
      `Content-Type: ${prng.pick(['audio/wav', 'audio/wav', 'text/html', 'a', 'audio/wav; x=y'])}`,
    );
  if (prng.oneIn(4)) headers.splice(prng.below(2), prng.below(2), prng.pick(oddHeaders));
  const head = headers.map((header) => `${header}${end()}`).join('');
  return Buffer.concat([
    Buffer.from(`--${boundary}${prng.oneIn(8) ? ' \t' : ''}${end()}${head}${end()}`, 'utf8'),
    honest ? sound : payload(prng, boundary),
    Buffer.from(end()),
  ]);
}

function contentTypeOf(prng: Prng, boundary: string): string | null {
  const honest = `multipart/form-data; boundary="${boundary}"`;
  if (!prng.oneIn(6)) return honest;
  return prng.pick([
    null,
    'multipart/form-data',
    'multipart/form-data; boundary=',
    'multipart/form-data; boundary="',
    'multipart/mixed; boundary=b',
    'multipart/form-data; boundary=another',
    `multipart/form-data; boundary=${boundary}; boundary=second`,
    `MULTIPART/FORM-DATA;BOUNDARY=${boundary}`,
    'application/x-www-form-urlencoded',
    'application/json',
    `multipart/form-data; ${'p=q; '.repeat(1000)}boundary=b`,
  ]);
}

function formOf(prng: Prng): Form {
  const boundary = prng.pick(boundaries);
  const count = prng.oneIn(50) ? 60 + prng.below(200) : prng.below(5);
  const end = prng.oneIn(3) ? () => prng.pick(lineEnds) : () => '\r\n';
  const parts = Array.from({ length: count }, (_, index) =>
    part(prng, boundary, end, index === 0 && prng.oneIn(2)),
  );
  const close = prng.oneIn(6)
    ? ''
    : `--${boundary}--${prng.pick(['\r\n', '', 'epilogue', '\r\n\r\nepilogue'])}`;
  const preamble = prng.oneIn(8) ? 'preamble\r\n' : '';
  const body = Buffer.concat([Buffer.from(preamble), ...parts, Buffer.from(close)]);
  return {
    contentType: contentTypeOf(prng, boundary),
    body: prng.oneIn(3) ? body : mutate(body, prng, [sound, body]),
  };
}
