/** What ffmpeg decodes cleanly is answered 200 with its duration; what is no recording is refused. */
import { readFileSync } from 'node:fs';
import { basename } from 'node:path';
import { cacheFolder } from '../../../benchmarks/case.ts';
import { installPackages } from '../../../benchmarks/packages.ts';
import { atLeast, caught, exactly, type Options, type Row, told } from '../case.ts';
import { type Client, createClient } from '../corpus/ask.ts';
import { encodings, makeClip } from '../corpus/encodings.ts';
import { type Foreign, foreignFiles } from '../corpus/foreign.ts';
import { makeAll, tools } from '../corpus/making.ts';
import { spokenRecordings } from '../corpus/recordings.ts';
import { referenceSeconds } from '../corpus/reference.ts';
import { inParallel } from '../parallel.ts';
import { startProgress } from '../progress.ts';
import { buildService, withServer } from '../service.ts';

type Recording = { readonly name: string; readonly file: string; readonly seconds: number };
type Verdict = { readonly name: string; readonly fault: string | null };

/** The short form takes every so manyeth file, beginning elsewhere with every seed. */
const shortStep = 4;
const tolerance = 0.01;
const atATime = 4;
/** Names and types under which a file that is no recording is sent. */
const disguises = [
  ['speech.wav', 'audio/wav'],
  ['speech.mp3', 'audio/mpeg'],
  ['speech.m4a', 'video/mp4'],
  ['speech.webm', 'application/octet-stream'],
] as const;

export async function run({ long, seed }: Options): Promise<readonly Row[]> {
  installPackages(tools);
  buildService();
  const recordings = await known(long ? 1 : shortStep, seed);
  const foreign = await foreignFiles(cacheFolder('reliability/foreign'));
  return withServer({ UNDERTONE_QUEUE: '64', UNDERTONE_DEADLINE_S: '300' }, async ({ port, token }) => {
    const client = createClient(port, token, atATime);
    const heard = await judge(recordings, (one) => hearRecording(client, one));
    const refused = await judge(disguised(foreign), (one) => refuseForeign(client, one));
    const swapped = await judge(recordings.slice(0, 5).map(lied), (one) => hearRecording(client, one));
    const sounding = recordings.slice(0, 5).map(({ name, file }) => ({ name, bytes: readFileSync(file) }));
    const taken = await judge(disguised(sounding), (one) => refuseForeign(client, one));
    client.close();
    return [
      told({ name: 'recordings that ffmpeg decodes cleanly', unit: 'files', value: recordings.length }),
      heardRow(heard),
      told({ name: 'files that are no recordings', unit: 'uploads', value: refused.length }),
      refusedRow(refused),
      caught('durations 2 % off', [heardRow(swapped)]),
      caught('recordings in place of what is none', [refusedRow(taken)]),
    ];
  });
}

async function known(step: number, seed: number): Promise<Recording[]> {
  const folder = cacheFolder('reliability/encodings');
  const all = encodings(await makeClip(folder), folder).filter((_, index) => index % step === seed % step);
  await makeAll(
    'recordings',
    all.map(({ recipe }) => recipe),
  );
  const voices = (await spokenRecordings()).map((file) => ({ name: basename(file), file }));
  const files = [...voices, ...all.map(({ name, recipe }) => ({ name, file: recipe.file }))];
  const progress = startProgress('decoding by ffmpeg', files.length);
  const found = await inParallel(files, 2, async (one) => {
    const seconds = await referenceSeconds(one.file);
    progress.advance();
    return seconds === null ? [] : [{ ...one, seconds }];
  });
  progress.stop();
  return found.flat();
}

async function judge<Thing extends { readonly name: string }>(
  things: readonly Thing[],
  faultOf: (thing: Thing) => Promise<string | null>,
): Promise<Verdict[]> {
  const progress = startProgress('uploading', things.length);
  const verdicts = await inParallel(things, atATime, async (thing) => {
    const fault = await faultOf(thing).catch((error: Error) => error.message);
    progress.advance();
    return { name: thing.name, fault };
  });
  progress.stop();
  for (const { name, fault } of verdicts) if (fault !== null) console.error(`${name}: ${fault}`);
  return verdicts;
}

async function hearRecording(client: Client, { file, seconds }: Recording): Promise<string | null> {
  const { status, body } = await client.upload('/v1/analyze', [{ name: 'audio', bytes: readFileSync(file) }]);
  if (status !== 200) return `${status} ${body.slice(0, 300)}`;
  const { duration_s } = (JSON.parse(body) as { audio: { duration_s: number } }).audio;
  if (Math.abs(duration_s / seconds - 1) <= tolerance) return null;
  return `${duration_s} s, ffmpeg ${seconds.toFixed(3)} s`;
}

type Disguised = Foreign & { readonly filename: string; readonly type: string };

function disguised(foreign: readonly Foreign[]): Disguised[] {
  return foreign.flatMap((one) => disguises.map(([filename, type]) => ({ ...one, filename, type })));
}

async function refuseForeign(client: Client, { bytes, filename, type }: Disguised): Promise<string | null> {
  const { status, body } = await client.upload('/v1/analyze', [{ name: 'audio', bytes, filename, type }]);
  if (status === 422 && body.includes('"value_error.audio.unsupported"')) return null;
  return `${status} ${body.slice(0, 300)}`;
}

const lied = (one: Recording): Recording => ({ ...one, seconds: 1.02 * one.seconds });

function heardRow(verdicts: readonly Verdict[]): Row {
  return atLeast(99, { name: 'of them 200, duration within 1 %', unit: '%', ...shareOf(verdicts) });
}

function refusedRow(verdicts: readonly Verdict[]): Row {
  return exactly(100, { name: 'of them 422 value_error.audio.unsupported', unit: '%', ...shareOf(verdicts) });
}

function shareOf(verdicts: readonly Verdict[]): { readonly value: number; readonly note: string } {
  const faulty = verdicts.filter(({ fault }) => fault !== null).map(({ name }) => name);
  const value = (100 * (verdicts.length - faulty.length)) / verdicts.length;
  return { value, note: [...new Set(faulty)].slice(0, 8).join('; ') };
}
