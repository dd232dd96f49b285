/** Fields of every report: names, units, ranges and meanings. The fields of a signal are in its file. */
import { z } from 'zod';

export const scoreSchema = z.number().min(0).max(1);
export const secondsSchema = z.number().min(0);
export const intervalSchema = z.tuple([scoreSchema, scoreSchema]);

const warnings = [
  'low_snr',
  'clipped',
  'narrow_band',
  'music_or_noise',
  'channels_differ',
  'truncated',
  'short_speech',
  'low_confidence',
  'possibly_scripted',
  'baseline_other_speaker',
] as const;

const audioSchema = z
  .strictObject({
    duration_s: secondsSchema.describe('Length of the recording as it was decoded, s.'),
    speech_s: secondsSchema.describe('Speech in it, pauses of 0.25 s and more left out, s.'),
    container: z.string().describe('Container, told from the content: wav, mp3, mp4, ogg, ...'),
    codec: z.string().describe('Codec of the audio stream: pcm_s16le, aac, opus, ...'),
    sample_rate_hz: z.int().min(4000).max(384_000).describe('Sample rate of the source, Hz.'),
    channels: z
      .int()
      .min(1)
      .describe('Channels of the source. They are averaged unless `channel` picks one.'),
    snr_db: z
      .number()
      .nullable()
      .describe(
        'Level of the speech over that of the noise between it, dB. Null when nothing but speech is there.',
      ),
    level_dbfs: z.number().describe('RMS level of the speech, dB; 0 is full scale.'),
    clipped_ratio: scoreSchema.describe(
      "Share of the source's samples that lie in runs at full scale, 0 to 1.",
    ),
    bandwidth_hz: z
      .number()
      .min(0)
      .max(8000)
      .describe('Highest frequency with speech energy, Hz; 8000 is the most that is looked at.'),
  })
  .describe('The recording itself: what it was, and how well speech could be heard in it.');

const modelSchema = z
  .strictObject({
    name: z.string().describe('Name of the model that answered, as in GET /v1/models.'),
    version: z.string().describe('Version of the model, MAJOR.MINOR.PATCH.'),
    features_version: z.int().min(1).describe('Changes whenever the same samples would give other features.'),
  })
  .describe('What answered.');

export const reportShape = {
  status: z
    .enum(['ok', 'insufficient_speech'])
    .describe('`insufficient_speech`: under 0.5 s of speech was heard, and `signals` is an empty object.'),
  warnings: z
    .array(
      z
        .enum(warnings)
        .describe(
          'low_snr: speech under 10 dB over the noise. clipped: over 0.1 % of samples at full scale. ' +
            'narrow_band: nothing above 4500 Hz. music_or_noise: what was taken for speech sounds like something else, ' +
            'or nothing was and the recording is not silent. channels_differ: not one voice in one room, pick one by `channel`. ' +
            'truncated: the file ends early and was analysed up to there. short_speech: under 3 s of speech for ' +
            'emotion, 10 s for cognitive. low_confidence: the dominant emotion is more likely wrong ' +
            'than right. possibly_scripted: pauses as few and runs as long as in reading aloud. ' +
            'baseline_other_speaker: the baseline sounds like another speaker or another microphone.',
        ),
    )
    .describe('What to know before trusting the scores; faults of the recording also widen the intervals.'),
  model: modelSchema,
};

export const noSignalsSchema = z.strictObject({}).describe('There was too little speech.');

export const timelineSchema = <Window extends z.ZodType>(window: Window) =>
  z.array(window).describe('The windows that were pooled, by their seconds of speech, into the scores.');

export const envelope = {
  audio: audioSchema,
  request_id: z.string().describe('As in the header X-Request-Id: 1 to 128 of A-Z a-z 0-9 . _ -'),
};
