/** What a service with these settings keeps, where, and how long. docs/compliance.md has the same table for the defaults. */
import { usageDays } from '../db/expiry.ts';
import type { Config } from '../runtime/config.ts';

type Row = readonly [what: string, where: string, howLong: string];

/** The database may have results from a time with Redis. */
const ofEarlierJobs: Row = [
  'Result of a job from before jobs were turned off',
  'database',
  'until the expiry that was set with it',
];

export function retentionRows({ jobs, redisUrl }: Pick<Config, 'jobs' | 'redisUrl'>): readonly Row[] {
  const ofJobs: readonly Row[] = [
    [
      'Recording of a job',
      'memory of Redis, encrypted',
      `until the analysis, max ${hours(jobs.audioSeconds)}`,
    ],
    ['Result and metadata of a job', 'database', `${hours(jobs.resultSeconds)}, or until it is deleted`],
  ];
  return [
    ['Recording of a request or live session', 'memory of the process', 'until the response'],
    ...(redisUrl === null ? [ofEarlierJobs] : ofJobs),
    ['Counts of requests, errors and seconds per token', 'database', `${usageDays} days`],
    ['Name and purpose of a token', 'database', 'until the account is deleted'],
    [
      'Log lines: token id, bytes, seconds, status, times',
      'standard output',
      'set by the operator; they have no audio, file name or score',
    ],
    ['Recording that waits for log-in', 'storage of the browser', '15 minutes'],
    ['E-mail address and password hash of an account', 'database', 'until the account is deleted'],
  ];
}

function hours(seconds: number): string {
  return `${Number((seconds / 3600).toFixed(2))} h`;
}
