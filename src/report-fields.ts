/** Every field of a report: its name, unit and range, and what it means. */
import { z } from 'zod';

const score = z.number().min(0).max(1);
const seconds = z.number().min(0);
const interval = z.tuple([score, score]);

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
    duration_s: seconds.describe('Length of the recording as it was decoded, s.'),
    speech_s: seconds.describe('Speech in it, pauses of 0.25 s and more left out, s.'),
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
    clipped_ratio: score.describe("Share of the source's samples that lie in runs at full scale, 0 to 1."),
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

const reportShape = {
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

const dominantEmotion = z
  .string()
  .describe(
    'The most probable of the labels: angry, calm, disgusted, fearful, happy, neutral, sad or surprised.',
  );
const valence = score.describe('How positive listeners find the voice, 0 (negative) to 1 (positive).');
const arousal = score.describe(
  'How activated listeners find the voice, 0 (calm, subdued) to 1 (excited, agitated).',
);
const clarity = score.describe(
  'Fluency and prosody as experts rate read English, predicted, 0 to 1; higher is clearer.',
);

const emotionSignals = z
  .strictObject({
    valence,
    arousal,
    dominant_emotion: dominantEmotion,
    tone: z
      .string()
      .describe(
        'A word by a fixed rule on valence and arousal: calm, engaged, tense, distressed, subdued or neutral.',
      ),
    emotions: z
      .record(z.string(), score.describe('Probability, 0 to 1.'))
      .describe('Probability of each label, 0 to 1; together they are 1.'),
    confidence: score.describe('Probability of the dominant emotion, 0 to 1.'),
    intervals: z
      .strictObject({
        valence: interval.describe('80 % interval of valence: lower and upper end, 0 to 1.'),
        arousal: interval.describe('80 % interval of arousal: lower and upper end, 0 to 1.'),
      })
      .describe(
        'Calibrated on speakers left out of training; wider when speech is short or the recording poor.',
      ),
  })
  .describe('How the voice sounds to listeners, which is not what the person feels.');

const cognitiveSignals = z
  .strictObject({
    cognitive_load: score.describe(
      'Index of pausing against the reference recordings, or the baseline, 0 to 1; 0.5 is like them, higher is more effort.',
    ),
    clarity,
    processing: score.describe(
      'Index of fluent planning against the same reference, 0 to 1; 0.5 is like it, higher is longer runs and fewer pauses.',
    ),
    confidence: score.describe(
      'Share of the indices that this recording supplies (the rest is the reference), times 1 less the width of ' +
        'the interval of clarity; three quarters of that with possibly_scripted. 0 to 1.',
    ),
    intervals: z
      .strictObject({ clarity: interval.describe('80 % interval of clarity: lower and upper end, 0 to 1.') })
      .describe(
        'Calibrated on speakers left out of training; wider when speech is short or the recording poor.',
      ),
  })
  .describe('How fluently the person speaks. Indices of timing, not clinical measures.');

const noSignals = z.strictObject({}).describe('There was too little speech.');

const contributionSchema = z
  .strictObject({
    measure: z.string().describe('Name of the measure, as in `measures`.'),
    value: z.number().describe('Value of the measure, in its unit.'),
    effect: z.number().min(-1).max(1).describe('What it adds to the score, -1 to 1.'),
    source: z.string().describe('The study behind the direction.'),
  })
  .describe('What one measure adds to a score.');

const emotionWindow = z
  .strictObject({
    start_s: seconds.describe('Start of the window, s.'),
    end_s: seconds.describe('End of the window, s.'),
    valence,
    arousal,
    dominant_emotion: dominantEmotion,
    confidence: score.describe('Probability of the dominant emotion in this window, 0 to 1.'),
  })
  .describe('A window of at most 10 s.');

const clarityWindow = z
  .strictObject({
    start_s: seconds.describe('Start of the window, s.'),
    end_s: seconds.describe('End of the window, s.'),
    clarity,
  })
  .describe('A window of at most 10 s.');

const timelineOf = <Window extends z.ZodType>(window: Window) =>
  z.array(window).describe('The windows that were pooled, by their seconds of speech, into the scores.');

const emotionBody = {
  ...reportShape,
  signals: z
    .union([emotionSignals, noSignals])
    .describe('The emotion signals, or nothing when there is too little speech.'),
  timeline: timelineOf(emotionWindow),
};

const contributionsOf = (name: string) =>
  z.array(contributionSchema).describe(`What adds up, from \`reference\`, to ${name} as printed.`);

const cognitiveBody = {
  ...reportShape,
  signals: z
    .union([cognitiveSignals, noSignals])
    .describe('The cognitive signals, or nothing when there is too little speech.'),
  measures: z
    .record(
      z.string(),
      z
        .strictObject({
          value: z.number().describe('The value, in `unit`.'),
          unit: z.string().describe('The unit: s, 1/min, ratio, ...'),
        })
        .describe('One measure of the timing of speech.'),
    )
    .describe(
      'Timing of speech and pauses by name: pause_ratio, mean_run, articulation_rate, ... Undefined ones are absent.',
    ),
  contributions: z
    .strictObject({
      cognitive_load: contributionsOf('cognitive_load'),
      processing: contributionsOf('processing'),
    })
    .describe('What each index is made of.'),
  reference: score.describe(
    'Where both indices start, 0 to 1: a speaker at the reference, or at the baseline, in every measure.',
  ),
  timeline: timelineOf(clarityWindow),
  relative: z
    .boolean()
    .describe('Whether a baseline of the same speaker was used in place of the reference recordings.'),
};

const envelope = {
  audio: audioSchema,
  request_id: z.string().describe('As in the header X-Request-Id: 1 to 128 of A-Z a-z 0-9 . _ -'),
};

export const emotionReportSchema = z.strictObject({ ...emotionBody, ...envelope });
export const cognitiveReportSchema = z.strictObject({ ...cognitiveBody, ...envelope });
export const combinedReportSchema = z.strictObject({
  status: reportShape.status.describe('`ok` when both are.'),
  emotion: z.strictObject(emotionBody).describe('The emotion report, its audio and request_id hoisted.'),
  cognitive: z
    .strictObject(cognitiveBody)
    .describe('The cognitive report, its audio and request_id hoisted.'),
  ...envelope,
});

export type EmotionReport = z.infer<typeof emotionReportSchema>;
export type CognitiveReport = z.infer<typeof cognitiveReportSchema>;
export type CombinedReport = z.infer<typeof combinedReportSchema>;
export type EmotionSignals = z.infer<typeof emotionSignals>;
export type CognitiveSignals = z.infer<typeof cognitiveSignals>;
