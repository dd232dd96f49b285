/** Fields of every report: names, units, ranges and meanings. The fields of a signal are in its file. */
import { z } from 'zod';
import { warningNames, warnings } from './warnings.ts';

export const scoreSchema = z.number().min(0).max(1);
export const secondsSchema = z.number().min(0);
export const intervalSchema = z.tuple([scoreSchema, scoreSchema]);

/** Without links, which the API document does not have. */
const describeWarnings = () =>
  warningNames.map((name) => `${name}: ${warnings[name].condition.replace(/ \(\[.*\)/, '')}.`).join(' ');

export const audioSchema = z
  .strictObject({
    duration_s: secondsSchema.describe('Duration of the decoded recording, s.'),
    speech_s: secondsSchema.describe('Duration of the speech without pauses of 0.25 s or more, s.'),
    gaps_s: secondsSchema
      .optional()
      .describe(
        'Audio that the file lacks inside of its duration, s; 0 for none. Absent from reports of 1.0.0.',
      ),
    container: z.string().describe('Container, detected from the content: wav, mp3, mp4, ogg, ...'),
    codec: z.string().describe('Codec of the audio stream: pcm_s16le, aac, opus, ...'),
    sample_rate_hz: z.int().min(4000).max(384_000).describe('Sample rate of the source, Hz.'),
    channels: z
      .int()
      .min(1)
      .describe('Channels of the source. Their average is analysed unless `channel` selects one.'),
    track: z
      .int()
      .min(0)
      .optional()
      .describe('Number of the analysed audio track, from 0. Absent when the file has one.'),
    tracks: z.int().min(2).optional().describe('Audio tracks of the file. Absent when it has one.'),
    snr_db: z
      .number()
      .nullable()
      .describe(
        'Level of the speech above the noise in pauses, or without pauses above the quietest tenth, 0 to 60 dB; null without speech to measure, and where the file lacks the noise of its pauses (Opus DTX).',
      ),
    level_dbfs: z.number().describe('RMS level of the speech, dB; 0 is full scale.'),
    clipped_ratio: scoreSchema.describe(
      'Share of source samples in runs at full scale, or at a lower limit of all samples, 0 to 1.',
    ),
    bandwidth_hz: z
      .number()
      .min(0)
      .max(8000)
      .describe('Highest frequency with speech energy, Hz; at most 8000.'),
  })
  .describe('Format and signal quality of the recording.');

export const originSchema = z
  .strictObject({
    model: z.string().describe('As its maker calls it.'),
    source: z.string().describe('Where it comes from, as its card or description states it.'),
    licence: z.string().describe('As its card or description states it.'),
    sha256: z
      .string()
      .regex(/^[0-9a-f]{64}$/)
      .describe('Of its graph in this set of models.'),
  })
  .describe('Of a model of another maker. Absent from others.');

export const modelSchema = z
  .strictObject({
    name: z.string().describe('Name of the model, as in GET /v1/models.'),
    version: z.string().describe('Version of the model, MAJOR.MINOR.PATCH.'),
    features_version: z.int().min(1).describe('Changes when the same samples give different features.'),
    origin: originSchema.optional(),
  })
  .describe('The model of this report.');

export const recordingStatus = z
  .enum(['ok', 'insufficient_speech'])
  .describe('`insufficient_speech`: less than 0.5 s of speech was detected; `signals` is an empty object.');

export const reportShape = {
  warnings: z
    .array(z.enum(warningNames).describe(describeWarnings()))
    .describe(
      'Reasons to trust the scores less; defects of the recording also widen the intervals. Later releases may add ' +
        'warnings: ignore unknown ones.',
    ),
  model: modelSchema,
};

export const noSignalsSchema = z
  .strictObject({})
  .describe('Empty: too little speech, or a signal that is not available.');

const variant = <Status extends string, Signals extends z.ZodObject, Fields extends z.ZodRawShape>(
  status: Status,
  signals: Signals,
  fields: Fields,
) =>
  z.strictObject({
    status: z.literal(status).describe('Selects the variant.'),
    ...reportShape,
    signals,
    ...fields,
  });

/**
 * The report of a signal but for its envelope: one variant per `status`.
 * @param scores `signals` of a report with enough speech
 * @param fields that only this signal has, in every variant
 */
export function bodySchema<Scores extends z.ZodObject, Fields extends z.ZodRawShape>(
  scores: Scores,
  fields: Fields,
) {
  const reason = z.string().describe('Why the models have no such signal, for people.');
  return z
    .discriminatedUnion('status', [
      variant('ok', scores, fields).describe('Enough speech: `signals` has the scores.'),
      variant('insufficient_speech', noSignalsSchema, fields).describe(
        'Less than 0.5 s of speech was detected.',
      ),
      variant('not_available', noSignalsSchema, { reason, ...fields }).describe(
        'The models have no such signal.',
      ),
    ])
    .describe('The report of a signal, its audio and request_id hoisted. `status` selects the variant.');
}

export type BodySchema = z.ZodDiscriminatedUnion<readonly [z.ZodObject, z.ZodObject, z.ZodObject], 'status'>;

export const entryShape = {
  start_s: secondsSchema.describe('Start, s.'),
  end_s: secondsSchema.describe('End, s.'),
};

export const timelineSchema = <Entry extends z.ZodType>(entry: Entry) =>
  z
    .array(entry)
    .describe(
      'Utterances: speech of 0.5 s or more between pauses, cut before 10 s. Their mean, weighted by seconds of speech, gives ' +
        'the scores.',
    );

const segmentSchema = z
  .strictObject({ type: z.enum(['speech', 'pause', 'gap']), ...entryShape })
  .describe(
    'Speech, a gap without audio in the file, or a pause: 0.25 s or more between speech, of any length at the start, the end ' +
      'and next to a gap. Of a channel or speaker, the speech of others is a pause.',
  );

export const envelope = {
  audio: audioSchema,
  segments: z
    .array(segmentSchema)
    .describe('Speech, pauses and gaps from the start of the recording to its end.'),
  request_id: z
    .string()
    .regex(/^[A-Za-z0-9._-]{1,128}$/)
    .describe('The value of the header X-Request-Id: 1 to 128 of A-Z a-z 0-9 . _ -'),
};

/** A copy without `request_id`, of the report and of each channel or speaker: recordings that no service received have none. */
export function withoutRequestIds(report: object) {
  return JSON.parse(JSON.stringify(report, (name, value) => (name === 'request_id' ? undefined : value)));
}
