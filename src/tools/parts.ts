/** Options of `undertone analyze` that choose channels and speakers, and the results of each. */

import { channelModes, speakerModes, speakerModesText } from '../engine/index.ts';
import { signals as allSignals, type Signal } from '../engine/schema.ts';
import { ServiceError } from '../service/errors.ts';
import { parseSegments } from '../service/segments.ts';
import type { AnalyzeResult, AnalyzeTask, FileResult } from './analyze-thread.ts';
import type { Part } from './columns.ts';
import { type CliContext, expected, UsageError } from './context.ts';
import { type Input, readText } from './inputs.ts';

export type PartOptions = {
  readonly baseline: readonly string[];
  readonly channel?: string;
  readonly track?: string;
  readonly channels?: string;
  readonly segments?: string;
  readonly speakers?: string;
};

/** @throws UsageError for options that exclude each other */
export async function parseParts(
  { baseline, channel, track, channels, segments, speakers }: PartOptions,
  signals: readonly Signal[],
  terminal: CliContext,
): Promise<Pick<AnalyzeTask, 'channel' | 'track' | 'segments' | 'speakers'>> {
  const channelNumber = parseNumberFrom0('--channel', 'a channel', channel);
  const mode = channelModes.find((one) => one === channels);
  if (channels !== undefined) {
    if (mode === undefined) throw expected(channelModes.join(' or '), '--channels', JSON.stringify(channels));
    if (channel !== undefined) throw expected('no --channel', '--channels', 'both: remove one of them');
  }
  const voices = speakerModes.find((one) => one === speakers);
  if (speakers !== undefined && voices === undefined)
    throw expected(speakerModesText, '--speakers', JSON.stringify(speakers));
  const [several, other] = Object.entries({
    '--channels': channels,
    '--segments': segments,
    '--speakers': speakers,
  })
    .filter(([, value]) => value !== undefined)
    .map(([name]) => name);
  if (several !== undefined && other !== undefined)
    throw expected(`no ${other}`, several, 'both: remove one of them');
  if (several && baseline.length > 0) throw expected('no --baseline', several, 'both: remove one of them');
  if (several && signals.length < allSignals.length) {
    throw expected(`all signals`, several, 'some: remove --signals');
  }
  return {
    channel: mode ?? channelNumber,
    track: parseNumberFrom0('--track', 'an audio track', track),
    segments: segments === undefined ? null : await readSegments(segments, terminal),
    speakers: voices ?? null,
  };
}

/** @returns null without the option */
function parseNumberFrom0(name: string, what: string, text: string | undefined): number | null {
  if (text === undefined) return null;
  if (/^\d{1,4}$/.test(text)) return Number(text);
  throw expected(`the number of ${what}, counted from 0`, name, JSON.stringify(text));
}

export async function readSegments(path: string, terminal: CliContext): Promise<AnalyzeTask['segments']> {
  const text = await readText('--segments', path, terminal);
  try {
    return parseSegments(text);
  } catch (error) {
    throw error instanceof ServiceError ? new UsageError(error.message) : error;
  }
}

/** Segments are those of one recording. */
export function checkInputs(inputs: readonly Input[], { segments }: Pick<AnalyzeTask, 'segments'>): void {
  if (segments !== null && inputs.length !== 1) {
    throw expected('one recording', '--segments', `${inputs.length}: run the command once for each`);
  }
}

export function partKind({
  channel,
  segments,
  speakers,
}: Pick<AnalyzeTask, 'channel' | 'segments' | 'speakers'>): Part['kind'] | null {
  if (channel === 'split') return 'channel';
  return segments === null && speakers === null ? null : 'speaker';
}

/** The results of each channel or speaker; one without a name for a file that failed. */
export function partsOf(
  result: AnalyzeResult,
  kind: Part['kind'] | null,
): readonly { readonly result: FileResult; readonly part: Part | null }[] {
  if ('error' in result) return [{ result, part: kind && { kind, name: '' } }];
  const { report } = result;
  if ('channels' in report) {
    return report.channels.map((part, index) => ({
      result: { report: part },
      part: { kind: 'channel', name: String(index) },
    }));
  }
  if ('speakers' in report) {
    return report.speakers.map((part) => ({
      result: { report: part },
      part: { kind: 'speaker', name: part.speaker },
    }));
  }
  return [{ result: { report }, part: null }];
}

/** The path, and the channel or the speaker. */
export function titleOf(path: string, part: Part | null): string {
  return part === null || part.name === '' ? path : `${path} (${part.kind} ${part.name})`;
}
