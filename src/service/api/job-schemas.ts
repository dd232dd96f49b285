/** Request and response schemas of jobs. */
import { z } from 'zod';
import { channelModes, defaultOptions, speakerModes, speakerModesText } from '../../engine/index.ts';
import { channelsReportSchema, combinedReportSchema, speakersReportSchema } from '../../engine/schema.ts';
import { expectedMetadata, isMetadata, type Metadata } from '../metadata.ts';

// The JSON body of POST /v1/jobs: recordings to fetch by URL.

const maxUrls = 1000;

const listError = `1 to ${maxUrls} addresses`;
const urlError = 'addresses as text';
const channelError = 'the number of a channel';
const trackError = 'the number of an audio track';

export const jobsBody = z.strictObject({
  urls: z
    .array(z.string({ error: urlError }).max(2048, { error: urlError }), { error: listError })
    .min(1, { error: listError })
    .max(maxUrls, { error: listError })
    .describe(
      `URLs of the recordings, at most ${maxUrls}, in at most 256 KiB of JSON; each starts with an allowed prefix.`,
    ),
  channel: z
    .int({ error: channelError })
    .min(0, { error: channelError })
    .max(9999, { error: channelError })
    .nullable()
    .default(null)
    .describe('0-based index of the channel to analyse; null for the average of all.'),
  track: z
    .int({ error: trackError })
    .min(0, { error: trackError })
    .max(9999, { error: trackError })
    .nullable()
    .default(null)
    .describe(
      '0-based index of the audio track to analyse; null for the one that the file marks as default, or else the first that decodes.',
    ),
  channels: z
    .enum(channelModes, { error: channelModes.join(' or ') })
    .nullable()
    .default(defaultOptions.channels)
    .describe('`split`: one report per channel of recordings with two; `channel` is then null.'),
  speakers: z
    .enum(speakerModes, { error: speakerModesText })
    .nullable()
    .default(defaultOptions.speakers)
    .describe(
      '`2` to `6` or `auto`: one report per voice of recordings on one channel; `channels` is then null.',
    ),
  receipt: z
    .boolean({ error: 'true or false' })
    .default(false)
    .describe('Whether each report has a signed `receipt`.'),
  callback: z
    .string({ error: 'an address' })
    .nullable()
    .default(null)
    .describe('URL that receives each finished job: https, on a public host; null for none.'),
  metadata: z
    .unknown()
    .refine(isMetadata, { error: `${expectedMetadata},` })
    .transform((value) => value as Metadata)
    .meta({ type: 'object', additionalProperties: { type: 'string' } })
    .default({})
    .describe(`Data of the client, returned with each job: ${expectedMetadata}.`),
});

const time = z.iso.datetime();

const progress = z
  .strictObject({
    analysed_s: z.number().min(0).describe('Analysed duration, s.'),
    duration_s: z
      .number()
      .min(0)
      .nullable()
      .describe('Declared duration, s, exact at the end of the analysis; null if none is declared.'),
  })
  .describe('Progress of a long recording, in steps of at most three minutes of audio.');

const error = z.looseObject({}).describe('The error body of POST /v1/analyze, without `request_id`.');

const status = z
  .enum(['waiting', 'running', 'done', 'failed', 'cancelled'])
  .describe(
    'waiting: in the queue. running: on a worker. done: `result` is set. failed: `error` is set. cancelled: removed before its end; only the callback has this status.',
  );

const summary = z
  .strictObject({
    id: z
      .string()
      .regex(/^job_[0-9A-Za-z]{20}$/)
      .describe('Id of the job, and `request_id` of its report.'),
    status,
    reason: z
      .enum(['no_worker'])
      .nullable()
      .describe('Why the job waits: no_worker: no process takes jobs. Null otherwise.'),
    created_at: time.describe('Time of creation, UTC.'),
    finished_at: time.nullable().describe('Time of its end, UTC; null before.'),
    expires_at: time.describe('Time at which the job and its result are deleted, UTC.'),
    progress: progress.nullable().describe('Null unless a recording of more than 15 minutes is running.'),
    metadata: z
      .record(z.string(), z.string())
      .describe('What the client gave with the recording; empty if nothing.'),
  })
  .describe('A job without its result.');

const job = summary
  .extend({
    result: z
      .union([combinedReportSchema, channelsReportSchema, speakersReportSchema])
      .nullable()
      .describe('The report of POST /v1/analyze; null unless done.'),
    error: error.nullable().describe('The error; null unless failed.'),
  })
  .describe('A job.');

const event = job
  .extend({
    type: z.enum(['job.done', 'job.failed', 'job.cancelled']).describe('What happened.'),
    timestamp: time.describe('When it happened, UTC: `finished_at` of the job.'),
  })
  .describe('The body of a callback: a job that has ended, with `type` and `timestamp`.');

const secret = z
  .string()
  .optional()
  .describe('The key that signs calls to `callback`, equal for all jobs of an owner; only with a callback.');

/** `channels` excludes `channel` and `speakers`. */
const exclusive = ['channel', 'speakers'].map((other) => ({
  required: [other, 'channels'],
  properties: { [other]: { type: ['integer', 'string'] }, channels: { type: 'string' } },
}));

export const jobSchemas = {
  Job: job,
  JobSummary: summary,
  JobEvent: event,
  JobPage: z
    .strictObject({
      jobs: z.array(summary).describe('Newest first.'),
      next: z.string().nullable().describe('Path of the next page, /v1/jobs/after/ID; null on the last one.'),
    })
    .describe('Jobs, newest first.'),
  JobProgress: progress,
  JobBegun: job.extend({ callback_secret: secret }).describe('A new job.'),
  JobsBegun: z
    .strictObject({
      jobs: z.array(job).describe('One per URL, in the same order.'),
      callback_secret: secret,
    })
    .describe('New jobs.'),
  JobList: z
    .object(jobsBody.shape)
    .meta({ not: { anyOf: exclusive } })
    .describe('Recordings to fetch.'),
} as const;
