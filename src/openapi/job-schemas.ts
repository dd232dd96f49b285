/** Request and response schemas of jobs. */
import { z } from 'zod';
import { combinedReportSchema } from '../analysis/report.ts';
import { jobsBody, maxUrls } from '../http/body/job-body.ts';
import { withDescriptions } from './with-descriptions.ts';

const time = z.iso.datetime();

const progress = z
  .strictObject({
    analysed_s: z.number().min(0).describe('How much of the recording has been analysed, s.'),
    duration_s: z
      .number()
      .min(0)
      .nullable()
      .describe('Its declared duration, s, exact once all is analysed; null when none is declared.'),
  })
  .describe('How far a long recording is; it moves every five minutes of audio.');

const error = z
  .looseObject({})
  .describe('As the body of an error of POST /v1/analyze has it, without `request_id`.');

const status = z
  .enum(['waiting', 'running', 'done', 'failed', 'cancelled'])
  .describe(
    'waiting: for a worker. running: a worker has it. done: `result` is there. failed: `error` says why. cancelled: removed before its end; only its callback says so.',
  );

const summary = z
  .strictObject({
    id: z.string().describe('To ask for it by; the `request_id` of its report.'),
    status,
    created_at: time.describe('When it was created, UTC.'),
    finished_at: time.nullable().describe('When it ended, UTC; null before.'),
    expires_at: time.describe('From then on it is gone, with its result, UTC.'),
    progress: progress.nullable().describe('Null unless a recording of over 15 minutes is being analysed.'),
  })
  .describe('A job without its result.');

const job = summary
  .extend({
    result: combinedReportSchema
      .nullable()
      .describe('The report, as POST /v1/analyze answers; null unless done.'),
    error: error.nullable().describe('Why there is no report; null unless failed.'),
  })
  .describe('A job.');

const secret = z
  .string()
  .optional()
  .describe(
    'What calls to `callback` are signed with, where one was given: the same for all jobs of a holder.',
  );

export const jobSchemas = {
  Job: job,
  JobSummary: summary,
  JobPage: z
    .strictObject({
      jobs: z.array(summary).describe('Newest first.'),
      next: z.string().nullable().describe('Path of the next page, /v1/jobs/after/ID; null on the last one.'),
    })
    .describe('Jobs, newest first.'),
  JobProgress: progress,
  JobBegun: job.extend({ callback_secret: secret }).describe('A job that has just begun.'),
  JobsBegun: z
    .strictObject({
      jobs: z.array(job).describe('One for each address, in their order.'),
      callback_secret: secret,
    })
    .describe('Jobs that have just begun.'),
  JobList: withDescriptions(jobsBody, {
    urls: `Where the recordings lie, at most ${maxUrls}; in at most 256 KiB of JSON; each begins as the operator allows.`,
    channel: 'Counted from 0: analyse this channel instead of the average of all; null for the average.',
    callback: 'Where to send each job when it has ended: https, on a public host; null for nowhere.',
  }).describe('Recordings to fetch.'),
} as const;
