/** Files that ffmpeg decodes without a warning get 200 with its duration; files without audio are refused. */
import { readFileSync } from 'node:fs';
import { cacheFolder } from '../../../benchmarks/case.ts';
import { installPackages } from '../../../benchmarks/packages.ts';
import { atLeast, exactly, informational, negativeControl, type Options, type Row } from '../case.ts';
import { type Altered, alteredRecordings } from '../corpus/altered.ts';
import { encodings, generateFiles, makeClip, referenceSeconds, tools } from '../corpus/encodings.ts';
import { type NonAudio, nonAudioFiles } from '../corpus/non-audio.ts';
import { inParallel } from '../support/parallel.ts';
import { type Client, createClient } from '../support/requests.ts';
import { buildService, withServer } from '../support/service.ts';

type Recording = { readonly name: string; readonly file: string; readonly seconds: number };
type Verdict = { readonly name: string; readonly fault: string | null };

/** The short form takes every fourth file; the seed selects the first. */
const shortStep = 4;
const tolerance = 0.01;
const atATime = 4;
/** Names and types that files without audio are sent with. */
const disguises = [
  ['speech.wav', 'audio/wav'],
  ['speech.mp3', 'audio/mpeg'],
  ['speech.m4a', 'video/mp4'],
  ['speech.webm', 'application/octet-stream'],
] as const;

export async function run({ long, seed }: Options): Promise<readonly Row[]> {
  installPackages(tools);
  buildService();
  const recordings = await cleanRecordings(long ? 1 : shortStep, seed);
  const nonAudio = await nonAudioFiles(cacheFolder('reliability/foreign'));
  const altered = await alteredRecordings('examples/sample.wav', cacheFolder('reliability/altered'));
  return withServer({ UNDERTONE_QUEUE: '64', UNDERTONE_DEADLINE_S: '300' }, async ({ port, token }) => {
    const client = createClient(port, token, atATime);
    const checked = await judge(recordings, (one) => checkDuration(client, one));
    const refused = await judge(disguised(nonAudio), (one) => checkRefusal(client, one));
    const swapped = await judge(recordings.slice(0, 5).map(withWrongDuration), (one) =>
      checkDuration(client, one),
    );
    const audible = recordings.slice(0, 5).map(({ name, file }) => ({ name, bytes: readFileSync(file) }));
    const accepted = await judge(disguised(audible), (one) => checkRefusal(client, one));
    const [intact] = altered as readonly [Altered, ...Altered[]];
    const measures = await measuresOf(client, intact);
    const kept = await judge(altered, (one) => checkMeasures(client, one, measures));
    const unlike = await judge(altered.slice(0, 2), (one) =>
      checkMeasures(client, one, { ...measures, cognitive_load: measures.cognitive_load + 0.1 }),
    );
    client.close();
    return [
      informational('recordings that ffmpeg decodes cleanly', 'files', recordings.length),
      durationRow(checked),
      informational('files without audio', 'uploads', refused.length),
      refusedRow(refused),
      informational('recordings with gaps or untrue sizes', 'files', altered.length),
      measuresRow(kept),
      negativeControl('a load .1 off', [measuresRow(unlike)]),
      negativeControl('durations 2 % off', [durationRow(swapped)]),
      negativeControl('recordings in place of files without audio', [refusedRow(accepted)]),
    ];
  });
}

async function cleanRecordings(step: number, seed: number): Promise<Recording[]> {
  const folder = cacheFolder('reliability/encodings');
  const all = encodings(await makeClip(folder), folder).filter((_, index) => index % step === seed % step);
  await generateFiles(
    'recordings',
    all.map(({ recipe }) => recipe),
  );
  const files = all.map(({ name, recipe }) => ({ name, file: recipe.file }));
  const found = await inParallel(
    files,
    2,
    async (one) => {
      const seconds = await referenceSeconds(one.file);
      return seconds === null ? [] : [{ ...one, seconds }];
    },
    'decoding by ffmpeg',
  );
  return found.flat();
}

async function judge<Thing extends { readonly name: string }>(
  things: readonly Thing[],
  faultOf: (thing: Thing) => Promise<string | null>,
): Promise<Verdict[]> {
  const check = async (thing: Thing) => {
    const fault = await faultOf(thing).catch((error: Error) => error.message);
    return { name: thing.name, fault };
  };
  const verdicts = await inParallel(things, atATime, check, 'uploading');
  for (const { name, fault } of verdicts) if (fault !== null) console.error(`${name}: ${fault}`);
  return verdicts;
}

async function checkDuration(client: Client, { file, seconds }: Recording): Promise<string | null> {
  const { status, body } = await client.upload('/v1/analyze', [{ name: 'audio', bytes: readFileSync(file) }]);
  if (status !== 200) return `${status} ${body.slice(0, 300)}`;
  const { duration_s } = (JSON.parse(body) as { audio: { duration_s: number } }).audio;
  if (Math.abs(duration_s / seconds - 1) <= tolerance) return null;
  return `${duration_s} s, ffmpeg ${seconds.toFixed(3)} s`;
}

type Measures = { readonly [Name in (typeof compared)[number]]: number };
const compared = ['cognitive_load', 'processing', 'pause_ratio'] as const;
const measureTolerance = 0.03;

async function analyzed(client: Client, { name, bytes }: Altered) {
  const { status, body } = await client.upload('/v1/analyze', [{ name: 'audio', bytes }]);
  if (status !== 200) throw new Error(`${name}: ${status} ${body.slice(0, 300)}`);
  const { cognitive } = JSON.parse(body) as {
    cognitive: {
      readonly signals: Omit<Measures, 'pause_ratio'>;
      readonly measures: { readonly pause_ratio: { readonly value: number } };
      readonly warnings: readonly string[];
    };
  };
  const { signals, measures, warnings } = cognitive;
  return { measures: { ...signals, pause_ratio: measures.pause_ratio.value } as Measures, warnings };
}

const measuresOf = async (client: Client, intact: Altered) => (await analyzed(client, intact)).measures;

async function checkMeasures(client: Client, altered: Altered, intact: Measures): Promise<string | null> {
  const { measures, warnings } = await analyzed(client, altered);
  if (altered.warning !== null) return warnings.includes(altered.warning) ? null : `no ${altered.warning}`;
  if (warnings.length > 0) return warnings.join(', ');
  const far = compared.filter((name) => Math.abs(measures[name] - intact[name]) > measureTolerance);
  return far.length === 0 ? null : far.map((name) => `${name} ${measures[name]}, ${intact[name]}`).join('; ');
}

function measuresRow(verdicts: readonly Verdict[]): Row {
  return exactly(
    100,
    'of them measured as the intact recording within .03, or with the warning',
    '%',
    ...shareOf(verdicts),
  );
}

type Disguised = NonAudio & { readonly filename: string; readonly type: string };

function disguised(nonAudio: readonly NonAudio[]): Disguised[] {
  return nonAudio.flatMap((one) => disguises.map(([filename, type]) => ({ ...one, filename, type })));
}

async function checkRefusal(client: Client, { bytes, filename, type }: Disguised): Promise<string | null> {
  const { status, body } = await client.upload('/v1/analyze', [{ name: 'audio', bytes, filename, type }]);
  if (status === 422 && body.includes('"value_error.audio.unsupported"')) return null;
  return `${status} ${body.slice(0, 300)}`;
}

const withWrongDuration = (one: Recording): Recording => ({ ...one, seconds: 1.02 * one.seconds });

function durationRow(verdicts: readonly Verdict[]): Row {
  return atLeast(99, 'of them 200, duration within 1 %', '%', ...shareOf(verdicts));
}

function refusedRow(verdicts: readonly Verdict[]): Row {
  return exactly(100, 'of them 422 value_error.audio.unsupported', '%', ...shareOf(verdicts));
}

function shareOf(verdicts: readonly Verdict[]): [value: number, note: string] {
  const faulty = verdicts.filter(({ fault }) => fault !== null).map(({ name }) => name);
  const value = (100 * (verdicts.length - faulty.length)) / verdicts.length;
  return [value, [...new Set(faulty)].slice(0, 8).join('; ')];
}
