/** The form of an upload, for analyses and jobs: its parts and their limits. */
import {
  type AnalyzeOptions,
  channelModes,
  defaultOptions,
  speakerModes,
  speakerModesText,
} from '../engine/index.ts';
import { type Ignored, maxBaselines } from '../engine/schema.ts';
import { describeRaw } from '../node/audio-formats.ts';
import { invalidPart, type ProblemReason, type ServiceError } from './errors.ts';
import { decodeUtf8, parseJson } from './json.ts';
import { expectedMetadata, isMetadata, type Metadata, maxMetadataBytes } from './metadata.ts';
import { createMultipartReader, mediaTypeOf, type PartHandler, type PartHeaders } from './multipart.ts';
import { parseSegments } from './segments.ts';
import { suggest } from './suggest.ts';

/** Names of the recordings: the part `audio`, and the parts `baseline` in their order. */
export const recordings = [
  'audio',
  'baseline',
  'baseline-2',
  'baseline-3',
  'baseline-4',
  'baseline-5',
] as const;
export type RecordingName = (typeof recordings)[number];
export const baselineNames = recordings.slice(1, 1 + maxBaselines);

/** Sizes of the recordings in bytes. */
type Sizes = { readonly audio: number; readonly baselines: readonly number[] };

export type Form = AnalyzeOptions & {
  readonly sizes: Sizes;
  /** Parts with unknown names. */
  readonly ignored: readonly Ignored[number][];
  /** Not for jobs. */
  readonly receipt: boolean;
  /** Only for jobs. */
  readonly callback: string | null;
  /** Only for jobs. */
  readonly metadata: Metadata;
};

const texts = {
  channel: 16,
  track: 16,
  channels: 16,
  segments: 2 ** 18,
  speakers: 16,
  receipt: 16,
  callback: 4096,
  metadata: maxMetadataBytes,
} as const;
type TextName = keyof typeof texts;

export const flags = ['true', 'false'] as const;

const acceptedType = /^(audio|video)\/|^(application|binary)\/octet-stream$|^application\/(ogg|mp4)$/;

/**
 * Uses the first part of each name, up to five of `baseline`, and lists unknown ones.
 * @param onBytes receives the bytes of the recordings in order, as views of the blocks
 */
export function createFormReader(
  boundary: string,
  onBytes: (name: RecordingName, bytes: Uint8Array) => void,
) {
  const sizes: Partial<Record<RecordingName, number>> = {};
  const values: Partial<Record<TextName, string>> = {};
  const names: string[] = [];
  let declared: string | null = null;

  function readRecording(name: RecordingName, { contentType, fileName }: PartHeaders): PartHandler {
    const part = name === 'audio' ? name : 'baseline';
    checkType(part, contentType);
    if (part === 'audio') declared = describeRaw(contentType, fileName);
    let size = 0;
    sizes[name] = size;
    return {
      data: (bytes) => {
        size += bytes.length;
        onBytes(name, bytes);
      },
      end: () => {
        if (size === 0) throw invalidPart(part, 'audio.empty', expectedRecording(part));
        sizes[name] = size;
      },
    };
  }

  function readText(name: TextName): PartHandler {
    let text = Buffer.alloc(0);
    values[name] = '';
    return {
      data: (bytes) => {
        if (text.length + bytes.length > texts[name]) throw wrongText(name);
        text = Buffer.concat([text, bytes]);
      },
      end: () => {
        values[name] = decodeText(name, text).trim();
      },
    };
  }

  function onPart(headers: PartHeaders): PartHandler | null {
    const { name } = headers;
    names.push(name);
    if (name === 'audio' && sizes.audio === undefined) return readRecording(name, headers);
    if (name === 'baseline') return readRecording(nextBaseline(), headers);
    if (isText(name) && values[name] === undefined) return readText(name);
    return null;
  }

  function nextBaseline(): RecordingName {
    const free = baselineNames.find((name) => sizes[name] === undefined);
    if (free === undefined) throw tooManyBaselines();
    return free;
  }

  const reader = createMultipartReader(boundary, onPart);
  return {
    /** @throws ServiceError, after which the reader is unusable */
    write: reader.write,
    /** @throws ServiceError for an incomplete form */
    end(): Form {
      reader.end();
      const { audio } = sizes;
      if (audio === undefined) throw missingPart(names);
      const { channel, channels, track, segments, speakers, receipt } = values;
      const { callback = null, metadata = '{}' } = values;
      if (channels !== undefined) refuseWith('channels', { channel, baseline: sizes.baseline });
      if (segments !== undefined) refuseWith('segments', { channels, baseline: sizes.baseline });
      if (speakers !== undefined) refuseWith('speakers', { channels, segments, baseline: sizes.baseline });
      return {
        sizes: { audio, baselines: baselineNames.flatMap((name) => sizes[name] ?? []) },
        channel: toNumberFrom0('channel', channel) ?? defaultOptions.channel,
        track: toNumberFrom0('track', track) ?? defaultOptions.track,
        channels: toOneOf('channels', channelModes, channels) ?? defaultOptions.channels,
        segments: segments === undefined ? defaultOptions.segments : parseSegments(segments),
        speakers: toOneOf('speakers', speakerModes, speakers) ?? defaultOptions.speakers,
        ...(declared !== null && { declared }),
        receipt: toOneOf('receipt', flags, receipt) === 'true',
        callback,
        metadata: toMetadata(metadata),
        ignored: ignoredParts(names),
      };
    },
  };
}

/** Reads a form in memory; the recordings are views of `body`. @throws ServiceError */
export function readForm(body: Uint8Array, boundary: string) {
  const found: Partial<Record<RecordingName, Uint8Array>> = {};
  // A body of one block yields each recording at once.
  const reader = createFormReader(boundary, (name, bytes) => {
    found[name] = bytes;
  });
  reader.write(body);
  const { sizes: _, callback, metadata, ignored, ...options } = reader.end();
  const baselines = baselineNames.flatMap((name) => found[name] ?? []);
  const unused = Object.entries({ callback, metadata })
    .filter(([, value]) => Object.keys(value ?? {}).length > 0)
    .map(([name]) => ({ name, msg: 'Only POST /v1/jobs has this part' }));
  return {
    audio: found.audio as Uint8Array,
    baselines,
    ...options,
    ignored: [...unused, ...ignored].slice(0, maxIgnored),
  };
}

const maxIgnored = 10;
const partNames = ['audio', 'baseline', ...Object.keys(texts)];

function ignoredParts(names: readonly string[]): Ignored {
  return toIgnored(new Set(names.filter((name) => !partNames.includes(name))), 'part', '');
}

/** @param names of the query parameters of a path that has none */
export function ignoredParameters(names: readonly string[]): Ignored {
  return toIgnored(names, 'query parameter', 'the part ');
}

function toIgnored(names: Iterable<string>, kind: string, prefix: string): Ignored {
  return [...names].slice(0, maxIgnored).map((sent) => {
    const name = sent.slice(0, 64).replaceAll(/[^\w.[\]-]/g, '?');
    const meant = suggest(name, partNames);
    const hint = meant === null ? '' : `: did you mean ${prefix}\`${meant}\`?`;
    return { name, msg: `Unknown ${kind}${hint}` };
  });
}

/** The field `ignored` of a report, if there is one. */
export function ignoredField(...lists: readonly (readonly Ignored[number][])[]): { ignored?: Ignored } {
  const ignored = lists.flat().slice(0, maxIgnored);
  return ignored.length === 0 ? {} : { ignored };
}

function tooManyBaselines(): ServiceError {
  const message = `Expected at most ${maxBaselines} parts \`baseline\`, got more`;
  return invalidPart('baseline', 'audio.too_many', message);
}

type PartName = 'audio' | 'baseline';

/** @throws ServiceError for a content type that is no recording */
function checkType(name: PartName, contentType: string | null): void {
  if (contentType === null || acceptedType.test(contentType)) return;
  const got = mediaType.test(contentType) ? contentType : 'something else';
  const expected =
    'audio/*, video/*, application/octet-stream, binary/octet-stream, application/ogg or application/mp4';
  throw invalidPart(
    name,
    'audio.content_type',
    `Expected a content type of ${expected} for \`${name}\`, got ${got}`,
  );
}

const expectedRecording = (name: PartName) => `Expected a recording for \`${name}\`, got no bytes`;

/** Undefined without the part. @throws ServiceError */
function toNumberFrom0(name: 'channel' | 'track', text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  if (!/^\d{1,4}$/.test(text)) throw wrongText(name);
  return Number(text);
}

function toMetadata(text: string): Metadata {
  try {
    const value = parseJson(text);
    if (isMetadata(value)) return value;
  } catch {}
  throw wrongText('metadata');
}

/** @throws ServiceError for bytes that are not UTF-8 */
function decodeText(name: TextName, bytes: Uint8Array): string {
  try {
    return decodeUtf8(bytes);
  } catch {
    const [reason] = expectedTexts[name];
    throw invalidPart(name, reason, `Expected UTF-8 for \`${name}\`, got other bytes`);
  }
}

/** Undefined without the part. @throws ServiceError for a text that is no choice */
function toOneOf<Choice extends string>(
  name: TextName,
  choices: readonly Choice[],
  text: string | undefined,
): Choice | undefined {
  const choice = choices.find((one) => one === text);
  if (choice === undefined && text !== undefined) throw wrongText(name);
  return choice;
}

/** Parts of several speakers are refused together with a part of one. @throws ServiceError */
export function refuseWith(
  name: 'channels' | 'segments' | 'speakers',
  others: Readonly<Record<string, unknown>>,
): void {
  const other = Object.keys(others).find((key) => others[key] != null);
  if (other === undefined) return;
  throw invalidPart(name, name, `Expected no \`${other}\` with \`${name}\`, got both`);
}

const isText = (name: string): name is TextName => Object.hasOwn(texts, name);

const expectedTexts: Readonly<Record<TextName, readonly [reason: ProblemReason, message: string]>> = {
  channel: [
    'audio.channel',
    'Expected the number of a channel, counted from 0, for `channel`, got something else',
  ],
  track: [
    'audio.track',
    'Expected the number of an audio track, counted from 0, for `track`, got something else',
  ],
  channels: ['channels', `Expected ${channelModes.join(' or ')} for \`channels\`, got something else`],
  segments: ['segments', `Expected at most ${texts.segments} bytes for \`segments\`, got more`],
  speakers: ['speakers', `Expected ${speakerModesText} for \`speakers\`, got something else`],
  receipt: ['receipt', `Expected ${flags.join(' or ')} for \`receipt\`, got something else`],
  callback: ['callback', `Expected at most ${texts.callback} bytes for \`callback\`, got more`],
  metadata: ['metadata', `Expected ${expectedMetadata}, for \`metadata\`, got something else`],
};

function wrongText(name: TextName): ServiceError {
  const [reason, message] = expectedTexts[name];
  return invalidPart(name, reason, message);
}

// The error of a request without a recording: what came instead, and the form to send.

/** Shape of a media type that an error may repeat. */
const mediaType = /^[\w.+-]{1,64}\/[\w.+-]{1,64}$/;
const partName = /^[\w.[\]-]{1,32}$/;
const maxNames = 4;
const expected = 'field required: expected a recording in the part `audio` of a form (multipart/form-data)';
const example = 'curl -F audio=@recording.wav';

/** @param contentType that of a body that is no form */
export function missingForm(contentType: string | undefined): ServiceError {
  const type = mediaTypeOf(contentType);
  return missing(gotBody(type), 'Send the file as a form');
}

/** @param names those of the parts of a form */
function missingPart(names: readonly string[]): ServiceError {
  const shown = names
    .slice(0, maxNames)
    .map((name) => (partName.test(name) ? `\`${name}\`` : 'a part of another name'));
  const more = names.length > maxNames ? ` and ${names.length - maxNames} more` : '';
  const got = names.length === 0 ? 'a form without parts' : `a form with ${shown.join(', ')}${more}`;
  return missing(got, 'Name the part `audio`');
}

function gotBody(type: string): string {
  if (type === '') return 'no Content-Type';
  if (/^(audio|video)\/[\w.+-]{1,64}$/.test(type)) return `the file itself as ${type}`;
  if (type === 'application/json') return 'JSON (application/json)';
  return mediaType.test(type) ? `a body of ${type}` : 'another Content-Type';
}

function missing(got: string, todo: string): ServiceError {
  return invalidPart('audio', 'missing', `${expected}, got ${got}. ${todo}: ${example}`);
}
