/** Messages of the protocol `undertone.v1`. docs/streaming.md describes it. */
import { z } from 'zod';
import { type Encoding, speakerModes } from '../../engine/index.ts';
import {
  definitions,
  envelope,
  modelSchema,
  noSignalsSchema,
  reportShape,
  type Signal,
  secondsSchema,
  signals,
  titlesOf,
} from '../../engine/schema.ts';
import { ServiceError } from '../errors.ts';
import { expectKnownFields } from '../json.ts';

export const subprotocol = 'undertone.v1';
export const streamPath = '/v1/stream';

/** A stream is analysed at multiples of this position, s. */
export const stepSeconds = 0.25;
/** Received and not processed audio, s, beyond which the socket is not read. */
export const maxPendingSeconds = 5;
export const maxFrameBytes = 2 ** 20;
/** Audio that one session holds in memory. */
export const maxSessionBytes = 256 * 2 ** 20;
export const pingMs = 20_000;
/** Frames of one connection, at once and per second: pings, pongs and close frames, and those with less payload than `bytes`. */
export const maxControlFrames = { size: 20, perSecond: 2 };
export const maxSmallFrames = { size: 1000, perSecond: 200, bytes: 128 };
/** A longer message is malformed. */
const maxMessageLength = 4096;
/** From the handshake to `session.configure`. */
export const configureMs = 10_000;

export const closeCodes = {
  done: 1000,
  draining: 1001,
  malformed: 1007,
  policy: 1008,
  internal: 1011,
  overloaded: 1013,
  idle: 4408,
  tooLong: 4413,
  unusable: 4422,
  tooMany: 4429,
} as const;
export type CloseReason = keyof typeof closeCodes;

const encodings = ['s16le', 'f32le', 'mulaw', 'alaw'] as const satisfies readonly Encoding[];

const listed = (names: readonly string[]) => names.join(', ');
const oneRate = { error: 'an integer from 8000 to 48000' };
const oneInterval = { error: `a multiple of ${stepSeconds} from 1 to 60` };
const someSignals = { error: `a list of ${listed(signals)}` };

const configure = z
  .strictObject({
    type: z.literal('session.configure'),
    encoding: z
      .enum(encodings, { error: `one of ${listed(encodings)}` })
      .describe('Encoding of a sample: 16-bit integer or 32-bit float, little-endian, or G.711.'),
    sample_rate_hz: z.int(oneRate).min(8000, oneRate).max(48_000, oneRate).describe('Sample rate, Hz.'),
    channels: z
      .union([z.literal(1), z.literal(2)], { error: '1 or 2' })
      .describe('Interleaved channels. Their average is analysed, unless `split` is true.'),
    split: z
      .boolean({ error: 'true or false' })
      .default(false)
      .describe('Whether each of 2 channels is analysed alone. The report is that of `channels` = `split`.'),
    signals: z
      .array(z.enum(signals, someSignals), someSignals)
      .min(1, someSignals)
      .default([...signals])
      .transform((wanted) => signals.filter((signal) => wanted.includes(signal)))
      .describe('Requested signals.'),
    speakers: z
      .enum(speakerModes, { error: 'text: 2 to 6 or auto' })
      .optional()
      .describe(
        'Voices on one channel: so many, or as many as are found. Each turn has its speaker, and the report is that of `speakers`. ' +
          'Not with `split`; with all signals.',
      ),
    interval_s: z
      .number(oneInterval)
      .min(1, oneInterval)
      .max(60, oneInterval)
      .multipleOf(stepSeconds, oneInterval)
      .default(3)
      .describe('Between measurements, s.'),
  })
  .describe('The first message: format of the samples and requested signals.');

/** Messages without fields. */
const bare = <Type extends string>(type: Type, about: string) =>
  z.strictObject({ type: z.literal(type) }).describe(about);

export const clientMessages = {
  'session.configure': configure,
  'turn.end': bare(
    'turn.end',
    'The person has finished: the scores of the open utterance follow. The utterance stays open.',
  ),
  keep_alive: bare('keep_alive', 'Keeps the session open without audio.'),
  'session.end': bare('session.end', 'No more audio: the report follows.'),
} as const;

const clientMessage = z.discriminatedUnion('type', [
  configure,
  clientMessages['turn.end'],
  clientMessages.keep_alive,
  clientMessages['session.end'],
]);

export type SessionConfig = z.output<typeof configure>;
type ClientMessage = z.output<typeof clientMessage>;

/** @throws ServiceError `bad_request` for text that is no message, `invalid` for a message with invalid fields */
export function parseClientMessage(text: string): ClientMessage {
  if (text.length > maxMessageLength) {
    if (holdsMedia.test(text.slice(0, maxMessageLength))) throw unknownMessage(mediaMessage);
    const expected = `at most ${maxMessageLength} characters`;
    throw new ServiceError('bad_request', `Expected ${expected} for \`message\`, got ${text.length}`);
  }
  const message = parseJson(text);
  const parsed = clientMessage.safeParse(message);
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues as [z.core.$ZodIssue];
  const [field] = issue.path;
  if (issue.code === 'unrecognized_keys') {
    const { type } = message as ClientMessage;
    const expected = expectKnownFields(
      'message',
      clientMessages[type],
      Object.keys(message as ClientMessage),
    );
    throw new ServiceError('invalid', expected);
  }
  if (field === undefined || field === 'type')
    throw unknownMessage(holdsMedia.test(text) ? mediaMessage : 'something else');
  throw new ServiceError('invalid', `Expected ${issue.message} for \`${String(field)}\`, got something else`);
}

/** The media streams of telephony providers: JSON with an `event`, and audio as base64. */
const holdsMedia = /"(event"\s*:|[\w+/\\-]{64})/;
const mediaMessage = `a message of a media stream: decode its base64, send the bytes as binary frames, and \
name their \`encoding\` in \`session.configure\`: one of ${listed(encodings)}`;

function unknownMessage(got: string): ServiceError {
  const expected = 'Expected a JSON object with a known `type` for `message`';
  return new ServiceError('bad_request', `${expected}, got ${got}`);
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

// Messages of the service to a client of a live session.

const names = Object.keys(closeCodes);
const codes = Object.values(closeCodes);

const seq = z.int().min(0).describe('Counts the messages of the session from 0.');
const at = secondsSchema.describe('Position in the stream, s.');
const channel = z
  .literal([0, 1])
  .optional()
  .describe('Channel that was analysed alone; present with `split`.');
const span = {
  channel,
  start_s: secondsSchema.describe('Start in the stream, s.'),
  end_s: secondsSchema.describe('End in the stream, s.'),
};

const provisional = z.literal(true).describe('The report may differ.');

const message = <Type extends string, Shape extends z.ZodRawShape>(type: Type, about: string, shape: Shape) =>
  z.strictObject({ type: z.literal(type).describe('The kind of message.'), seq, ...shape }).describe(about);

type Entries = z.ZodArray<z.ZodObject>;
/** Fields of a report with enough speech. */
type Shape = {
  readonly signals?: z.ZodType | undefined;
  readonly timeline?: Entries | undefined;
  readonly moments?: z.ZodNullable<Entries> | undefined;
};

const shapeOf = (signal: Signal): Shape => definitions[signal].body.options[0].shape;

/** Present for the requested signals that have the field. */
const perSignal = (field: keyof Shape, schemaOf: (shape: Shape) => z.ZodType) =>
  Object.fromEntries(
    signals
      .filter((signal) => field in shapeOf(signal))
      .map((signal) => [signal, schemaOf(shapeOf(signal)).optional()]),
  );

const withoutBounds = ({ element }: Entries) => element.omit({ start_s: true, end_s: true });

function turnOf({ timeline, moments }: Shape): z.ZodType {
  const scores = withoutBounds(timeline as Entries);
  const moment =
    moments &&
    withoutBounds(moments.unwrap())
      .optional()
      .describe('Present when the utterance sounds more emotional than those of the speaker before it.');
  return (moment === undefined ? scores : scores.extend({ moment })).describe('The scores of the utterance.');
}

const limits = z
  .strictObject({
    max_seconds: z.number().min(0).describe('Most audio of a session, s; it lasts at most twice that time.'),
    idle_s: z.number().min(0).describe('Longest time without audio and `keep_alive`, s.'),
    max_frame_bytes: z.int().min(1).describe('Largest frame, bytes.'),
  })
  .describe('Limits of the session.');

/** What measurements have of each signal: see `addTo` of its definition. */
const soFar = signals.filter((signal) => definitions[signal].addTo !== undefined);
const recent = signals.filter((signal) => !soFar.includes(signal));

export const serverMessages = {
  'session.ready': message('session.ready', 'The session is configured.', {
    request_id: envelope.request_id,
    limits,
    models: z.array(modelSchema.describe('A loaded model.')).describe('The loaded models.'),
  }),
  'speech.started': message('speech.started', 'Speech has started.', { channel, at_s: at }),
  'speech.ended': message('speech.ended', 'Speech has ended.', { channel, at_s: at }),
  measurement: message(
    'measurement',
    `${titlesOf(recent)} of the last seconds, and ${titlesOf(soFar)} of the session so far.`.replace(
      /^./,
      (first) => first.toUpperCase(),
    ),
    {
      ...span,
      provisional,
      speech_s: secondsSchema.describe('Speech within it, s.'),
      ...perSignal('signals', (shape) =>
        z
          .union([shape.signals as z.ZodType, noSignalsSchema])
          .describe('The signals, or nothing when there is too little speech.'),
      ),
      warnings: reportShape.warnings,
    },
  ),
  turn: message('turn', 'One utterance, with the scores of signals that have a timeline.', {
    ...span,
    provisional: z
      .boolean()
      .describe(
        'false: the utterance has ended, and the report has the same scores; with `speakers`, if it cuts it alike and finds a speaker. true: it goes on after `turn.end`.',
      ),
    cause: z
      .enum(['pause', 'length', 'speaker', 'turn.end', 'session.end'])
      .describe(
        'A pause after it, its length, another voice after it, a message of the client, or the end of the session.',
      ),
    speaker: z
      .string()
      .nullable()
      .optional()
      .describe(
        'Present with `speakers`: `1`, `2` and so on, by the utterances so far; null when it may be of several. The report compares all ' +
          'utterances: its speakers may differ.',
      ),
    ...perSignal('timeline', turnOf),
  }),
  final: message('final', 'The report of the session.', {
    report: z.looseObject({}).describe('The body of POST /v1/analyze for the same samples.'),
  }),
  error: message('error', 'Why the session ends.', {
    status: z.int().min(400).max(599).describe('Status of the same error over HTTP.'),
    code: z.string().optional().describe('The reason, for programs.'),
    detail: z.union([z.string(), z.array(z.looseObject({}))]).describe('As in the body of the HTTP error.'),
    request_id: envelope.request_id,
  }),
  'session.ended': message('session.ended', 'The last message.', {
    code: z.literal(codes).describe('The close code that follows.'),
    reason: z.enum(names).describe('The close code in words.'),
    audio_s: secondsSchema.describe('Audio that was received, s.'),
  }),
} as const;
