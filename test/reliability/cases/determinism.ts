/** The same file gets the same bytes: alone, among 64 at once, and with any number of workers. */
import { createHash } from 'node:crypto';
import { installPackages } from '../../../benchmarks/packages.ts';
import { fixture } from '../../../scripts/recordings.ts';
import { exactly, informational, negativeControl, type Options, type Row } from '../case.ts';
import { tools } from '../corpus/encodings.ts';
import { inParallel } from '../support/parallel.ts';
import { createClient } from '../support/requests.ts';
import { buildService, type Server, withServer } from '../support/service.ts';

const files = [
  'mono-16k.wav',
  'cbr.mp3',
  'opus.webm',
  'aac.m4a',
  'speech.flac',
  'vorbis.ogg',
  'speech.amr',
  'u8.wav',
];
const atOnce = 64;
const workers = [1, 2, 4];
const longRounds = 8;
/** With the same id in every request, whole answers are equal. */
const headers = { 'X-Request-Id': 'the-same' };

type Digests = ReadonlyMap<string, string>;

export async function run({ long, count }: Options): Promise<readonly Row[]> {
  installPackages(tools);
  buildService();
  const rounds = count ?? (long ? longRounds : 1);
  const alone = new Map(await served(1, (server) => digests(server, files, 1)));
  const names = Array.from({ length: atOnce * rounds }, (_, index) => files[index % files.length] as string);
  const rows: Row[] = [];
  for (const number of workers) {
    const answers = await served(number, (server) => digests(server, names, atOnce));
    rows.push(differing(alone, answers, `answers that differ, ${atOnce} at once, workers: ${number}`));
  }
  const mixed = [...alone].map(([name], index): [string, string] => [
    name,
    [...alone.values()][(index + 1) % files.length] as string,
  ]);
  return [
    informational('recordings', 'files', files.length, files.join(', ')),
    ...rows,
    negativeControl('the answer of another file', [differing(alone, mixed, 'answers that differ')]),
  ];
}

function served<Result>(number: number, work: (server: Server) => Promise<Result>): Promise<Result> {
  return withServer(
    { UNDERTONE_WORKERS: `${number}`, UNDERTONE_QUEUE: `${atOnce}`, UNDERTONE_DEADLINE_S: '600' },
    work,
  );
}

async function digestOf(client: ReturnType<typeof createClient>, name: string): Promise<string> {
  const { status, body } = await client.upload(
    '/v1/analyze',
    [{ name: 'audio', bytes: fixture(name) }],
    headers,
  );
  if (status !== 200) throw new Error(`Expected 200 for ${name}, got ${status}: ${body}`);
  return createHash('sha256').update(body).digest('hex');
}

async function digests(
  { port, token }: Server,
  names: readonly string[],
  atATime: number,
): Promise<[string, string][]> {
  const client = createClient(port, token, atATime);
  const digest = async (name: string): Promise<[string, string]> => [name, await digestOf(client, name)];
  const found = await inParallel(names, atATime, digest, `${atATime} at once`);
  client.close();
  return found;
}

function differing(alone: Digests, answers: readonly [string, string][], name: string): Row {
  const wrong = answers.filter(([file, digest]) => alone.get(file) !== digest);
  const note = [...new Set(wrong.map(([file]) => file))].join(', ');
  return exactly(0, name, `of ${answers.length}`, wrong.length, note);
}
