/** `undertone listen`: a live analysis of a microphone or standard input, and its view. */
import type { Command } from 'commander';
import type { SampleFormat } from '../engine/index.ts';
import { signals, versionOf } from '../engine/schema.ts';
import { parseConfig } from '../service/config.ts';
import { ServiceError } from '../service/errors.ts';
import type { LocalSession, LocalSessions, ServerMessages, SessionConfig } from '../service/live/local.ts';
import { parseSignals, readSettings } from './analysis-options.ts';
import { type CliContext, expected, UsageError } from './context.ts';
import { createView, type LiveView } from './listen-view.ts';
import { type LiveInput, openMicrophone, openStdin } from './live-input.ts';

const examples = `
Without -, a microphone is recorded by parec, arecord or ffmpeg. With -, standard input is a WAV file, or raw samples if
--encoding is present. Ctrl-C ends the recording and prints the report. Nothing is written to disk.

Examples:
  undertone listen
  undertone listen --json | jq 'select(.type == "turn")'
  ffmpeg -loglevel error -i call.mp3 -ac 1 -ar 16000 -f wav - | undertone listen -
  arecord -t raw -f S16_LE -r 16000 | undertone listen - --encoding s16le --rate 16000`;

type Options = {
  readonly encoding?: string;
  readonly rate?: string;
  readonly channels?: string;
  readonly device?: string;
  readonly json?: true;
  readonly signals: string;
  readonly speakers?: string;
  readonly interval?: string;
  readonly modelsDir?: string;
};

export function registerListen(program: Command, terminal: CliContext): void {
  program
    .command('listen')
    .description('analyse a microphone or standard input live, without a server')
    .argument('[source]', '- for standard input')
    .option('--encoding <name>', 'raw samples on standard input: s16le, f32le, mulaw or alaw')
    .option('--rate <hz>', 'sample rate of raw samples (16000)')
    .option('--channels <n>', 'interleaved channels of raw samples (1)')
    .option('--device <name>', 'microphone, as the recording program names it')
    .option('--json', 'messages of docs/streaming.md, one a line')
    .option('--signals <names>', `${signals.join(', ')}, or several with commas between`, signals.join(','))
    .option('--speakers <count>', 'voices on one channel: 2 to 6, or auto')
    .option('--interval <s>', 'between measurements (3)')
    .option('--models-dir <folder>', 'models to use (UNDERTONE_MODELS_DIR, or those of this package)')
    .addHelpText('after', examples)
    .action((source: string | undefined, options: Options) => listen(source, options, terminal));
}

async function listen(source: string | undefined, options: Options, terminal: CliContext): Promise<void> {
  const { openLocalSessions, parseConfiguration } = await import('../service/live/local.ts');
  const configOf = (format: object) => configure(format, options, parseConfiguration);
  const raw = parseRawFormat(source, options, configOf);
  const settings = await readSettings(options, terminal);
  const { stream, deadlineSeconds } = parseConfig(terminal.env);
  const { readManifests } = await import('../node/models.ts');
  const models = (await readManifests(settings.modelsDir)).map(versionOf);
  const sessions = await openLocalSessions({
    settings,
    models,
    maxSeconds: stream.maxSeconds,
    deadlineMs: 1000 * deadlineSeconds,
    onLost: (cause) => terminal.stderr.write(`${cause.message}\n`),
    onError: (cause) => terminal.stderr.write(`${cause instanceof Error ? cause.stack : String(cause)}\n`),
  });
  let input: LiveInput | null = null;
  try {
    input = source === '-' ? await openStdin(raw, terminal) : openMicrophone(options.device, terminal);
    const name = source === '-' ? 'standard input' : 'microphone';
    const view = createView(name, options.json === true, terminal);
    await analyzeLive(input, configOf(input.format), sessions, view, terminal);
  } finally {
    input?.stop();
    await sessions.close();
  }
}

function parseRawFormat(
  source: string | undefined,
  { encoding, rate, channels }: Options,
  configOf: (format: object) => SessionConfig,
): SampleFormat | null {
  if (source !== undefined && source !== '-')
    throw expected('- or nothing', 'source', JSON.stringify(source));
  if (encoding === undefined && rate === undefined && channels === undefined) return null;
  if (source === undefined)
    throw expected('no format of a microphone', '--encoding, --rate and --channels', 'one');
  if (encoding === undefined) throw expected('s16le, f32le, mulaw or alaw', '--encoding', 'nothing');
  const fields = { encoding, sampleRate: Number(rate ?? 16_000), channels: Number(channels ?? 1) };
  const { sample_rate_hz: sampleRate, ...format } = configOf(fields);
  return { ...format, sampleRate };
}

/** @throws UsageError for a format that a session does not accept */
function configure(
  format: object,
  { interval, signals: names, speakers }: Options,
  parse: (fields: object) => SessionConfig,
): SessionConfig {
  const { encoding, sampleRate: sample_rate_hz, channels } = format as SampleFormat;
  const every = interval === undefined ? {} : { interval_s: Number(interval) };
  try {
    const signals = parseSignals(names);
    return parse({ encoding, sample_rate_hz, channels, signals, ...(speakers && { speakers }), ...every });
  } catch (error) {
    throw error instanceof ServiceError ? new UsageError(error.message) : error;
  }
}

/** Resolves when the session is over. */
async function analyzeLive(
  input: LiveInput,
  config: SessionConfig,
  sessions: LocalSessions,
  view: LiveView,
  terminal: CliContext,
): Promise<void> {
  await new Promise<void>((resolve) => {
    const session = sessions.open(config, {
      send: (text) => {
        view.show(text);
        reportError(text, terminal);
      },
      close: () => resolve(),
      pause: () => input.samples.pause(),
      resume: () => input.samples.resume(),
    });
    feed(input, session);
  });
  const error = await input.error();
  if (error === null) return;
  terminal.stderr.write(`${error}\n`);
  terminal.fail();
}

function reportError(text: string, terminal: CliContext): void {
  const message = JSON.parse(text) as ServerMessages['error'] | { readonly type: 'other' };
  if (message.type !== 'error') return;
  const { detail } = message;
  const reasons = typeof detail === 'string' ? [detail] : detail.map(({ msg }) => msg);
  terminal.stderr.write(`${reasons.join('\n')}\n`);
  terminal.fail();
}

const stopSignals = ['SIGINT', 'SIGTERM'] as const;

/** Ends the session at the end of the samples, at Ctrl-C or SIGTERM. A second signal ends the process. */
function feed({ samples, bytes, stop }: LiveInput, session: LocalSession): void {
  let left = bytes;
  const end = () => {
    for (const signal of stopSignals) process.off(signal, onSignal);
    samples.off('data', onData);
    session.onText('{"type":"session.end"}');
  };
  function onData(chunk: Buffer): void {
    session.onAudio(chunk.subarray(0, left));
    left -= chunk.length;
    if (left <= 0) end();
  }
  function onSignal(): void {
    stop();
    end();
  }
  for (const signal of stopSignals) process.on(signal, onSignal);
  samples.on('data', onData).once('end', end).once('error', end);
  samples.resume();
}
