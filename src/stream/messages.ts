/** Messages of the service to a client of a live session. */
import { z } from 'zod';
import { envelope, noSignalsSchema, reportShape, secondsSchema } from '../analysis/report-schema.ts';
import { definitions, type Signal, signals } from '../analysis/signals/table.ts';
import { closeCodes } from './protocol.ts';

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

/** Present for the requested signals that have the field. */
const perSignal = <Field>(field: string, schemaOf: (schema: Field) => z.ZodType) =>
  Object.fromEntries(
    signals
      .filter((signal) => field in shapeOf(signal))
      .map((signal) => [signal, schemaOf(shapeOf(signal)[field] as Field).optional()]),
  );

/** Fields of a report with enough speech. */
const shapeOf = (signal: Signal): z.ZodRawShape => definitions[signal].body.options[0].shape;

const entryOf = ({ element }: z.ZodArray<z.ZodObject>) =>
  element.omit({ start_s: true, end_s: true }).describe('The scores of the utterance.');

const model = z.strictObject({
  name: z.string().describe('Name of the model.'),
  version: z.string().describe('MAJOR.MINOR.PATCH.'),
  features_version: z.int().describe('Version of the features of its training.'),
});

const limits = z
  .strictObject({
    max_seconds: z.number().min(0).describe('Most audio of a session, s; it lasts at most twice that time.'),
    idle_s: z.number().min(0).describe('Longest time without audio and `keep_alive`, s.'),
    max_frame_bytes: z.int().min(1).describe('Largest frame, bytes.'),
  })
  .describe('Limits of the session.');

export const serverMessages = {
  'session.ready': message('session.ready', 'The session is configured.', {
    request_id: envelope.request_id,
    limits,
    models: z.array(model).describe('The loaded models.'),
  }),
  'speech.started': message('speech.started', 'Speech has started.', { channel, at_s: at }),
  'speech.ended': message('speech.ended', 'Speech has ended.', { channel, at_s: at }),
  measurement: message(
    'measurement',
    'Emotion of the last seconds, and cognitive signals of the session so far.',
    {
      ...span,
      provisional,
      speech_s: secondsSchema.describe('Speech within it, s.'),
      ...perSignal('signals', (scores: z.ZodType) =>
        z
          .union([scores, noSignalsSchema])
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
        'false: the utterance has ended, and the report has the same scores. true: it goes on after `turn.end`.',
      ),
    cause: z
      .enum(['pause', 'length', 'turn.end', 'session.end'])
      .describe('A pause after it, its length, or a message of the client.'),
    ...perSignal('timeline', entryOf),
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
