/** Bytes of a stream, step by step -> samples at the rate of the models. */

import type { Models } from './loader.ts';
import { frameBytesOf, type SampleFormat, wavHeader } from './pcm.ts';
import type { Audio, DecodeLimits, DecodeOptions, Platform, Source } from './platform.ts';

export type SampleState = {
  /** The last bytes: the next step decodes them again, as context of the resampler. */
  readonly bytes: Uint8Array;
  /** Position of `bytes` in the stream, in samples at the rate of the models. */
  readonly start: number;
  /** Samples that were returned, at the rate of the models. */
  readonly read: number;
  /** Of the channels so far: each step counts by the energy of its samples. */
  readonly correlation: { readonly sum: number; readonly energy: number };
};

export const initialSampleState: SampleState = {
  bytes: new Uint8Array(0),
  start: 0,
  read: 0,
  correlation: { sum: 0, energy: 0 },
};

type Request = {
  readonly format: SampleFormat;
  /** Each of two channels alone; otherwise the average of all. */
  readonly split: boolean;
  readonly cause: 'turn.end' | 'session.end' | null;
  readonly cancel: Int32Array | null;
};

/** Longer than any step. */
const maxStepSeconds = 120;
/** Context of the resampler: samples so near to the end of the bytes wait for the next step. */
const resamplerSeconds = 0.02;

/** The samples that follow those that were read. Bytes are cut where both sample rates have a sample. */
export function decodeNext(
  state: SampleState,
  bytes: Uint8Array,
  { format, split, cause, cancel }: Request,
  limits: DecodeLimits,
  { features: { sampleRate }, platform }: Pick<Models, 'features' | 'platform'>,
) {
  const all = Buffer.concat([state.bytes, bytes]);
  const file = Buffer.concat([wavHeader(format, all.length), all]);
  const options = { sampleRate, track: null, limits: { ...limits, seconds: maxStepSeconds }, cancel };
  const audio = split ? decodeChannels(file, options, platform) : decodeMean(file, options, platform);
  const [first] = audio.channels as [Float32Array];
  const common = gcd(format.sampleRate, sampleRate);
  const [inStep, outStep] = [format.sampleRate / common, sampleRate / common];
  const held =
    format.sampleRate === sampleRate ? 0 : Math.ceil((resamplerSeconds * sampleRate) / outStep) * outStep;
  const available = state.start + first.length;
  const end = cause === 'session.end' ? available : Math.max(state.read, available - held);
  // The bytes of the last samples stay, so that a step without bytes has some to decode.
  const context = Math.max(held, outStep);
  const start = Math.max(state.start, Math.floor(Math.max(0, end - context) / outStep) * outStep);
  const skipped = ((start - state.start) / outStep) * inStep * frameBytesOf(format);
  const channels = audio.channels.map((samples) =>
    samples.slice(state.read - state.start, end - state.start),
  );
  const correlation = addCorrelation(state.correlation, channels[0] as Float32Array, audio.source);
  const { sum, energy } = correlation;
  return {
    source: energy > 0 ? { ...audio.source, channelCorrelation: sum / energy } : audio.source,
    channels,
    state: { bytes: new Uint8Array(all.subarray(skipped)), start, read: end, correlation },
  };
}

/** The noise of a pause, in which channels differ, counts little. */
function addCorrelation(
  { sum, energy }: SampleState['correlation'],
  samples: Float32Array,
  { channelCorrelation }: Source,
): SampleState['correlation'] {
  const added = samples.reduce((total, sample) => total + sample * sample, 0);
  return { sum: sum + added * channelCorrelation, energy: energy + added };
}

type StepDecodeOptions = Omit<DecodeOptions, 'channel'>;
type Decoded = { readonly channels: readonly Float32Array[]; readonly source: Source };

function decodeMean(file: Uint8Array, options: StepDecodeOptions, { decode }: Platform): Decoded {
  const { samples, source }: Audio = decode(file, { ...options, channel: null });
  return { channels: [samples], source };
}

function decodeChannels(file: Uint8Array, options: StepDecodeOptions, platform: Platform): Decoded {
  const decoders = platform.openChannelDecoders(file, options, maxStepSeconds * options.sampleRate);
  try {
    const channels = decoders.map(({ next }) => next());
    return { channels, source: decoders[1].source() as Source };
  } finally {
    decoders[0].close();
  }
}

function gcd(one: number, other: number): number {
  return other === 0 ? one : gcd(other, one % other);
}
