/** The operations of jobs. */
import type { ErrorCode } from '../errors.ts';
import { jobUpload } from './form-schemas.ts';
import { json, type Operation } from './operation.ts';
import { sampleJob, samples } from './samples.ts';
import { schemaRef } from './schemas.ts';

const codes: readonly ErrorCode[] = [
  'unauthenticated',
  'forbidden',
  'rate_limited',
  'not_configured',
  'queue_unavailable',
  'storage_unavailable',
];

const job = {
  tag: 'Jobs',
  security: [{ bearer: [] }],
  invalid: 'ValidationFailure',
} as const;

const id = {
  name: 'id',
  in: 'path',
  required: true,
  description: 'Id of the job.',
  schema: { type: 'string' },
  example: sampleJob,
} as const;

const wait = {
  name: 'wait',
  in: 'query',
  required: false,
  description: 'Seconds to wait for the end of the job, at most 60; more count as 60.',
  schema: { type: 'integer', minimum: 0, maximum: 999_999_999, default: 0 },
} as const;

const key = {
  name: 'Idempotency-Key',
  in: 'header',
  required: false,
  description:
    'A repeat with the same key returns the existing job. Another request with the same key gets 422 `value_error.idempotency_key`.',
  schema: { type: 'string', pattern: '^[!-~]{1,200}$' },
} as const;

export const jobOperations: readonly Operation[] = [
  {
    ...job,
    method: 'post',
    path: '/v1/jobs',
    operationId: 'beginJob',
    samples: samples.beginJob,
    summary: 'Create a job',
    description:
      'For long recordings and lists. Requires a token with both scopes. The recording waits encrypted in memory, never on a disk, and is deleted after its analysis. An upload returns JobBegun, a list JobsBegun, both with 202, also for a known idempotency key. The `Location` of an upload is the path of the job.',
    parameters: [key],
    requestBody: jobUpload(schemaRef('JobList')),
    status: 202,
    headers: ['Location'],
    ok: { type: 'application/json', schema: { oneOf: [schemaRef('JobBegun'), schemaRef('JobsBegun')] } },
    codes: [...codes, 'too_large', 'invalid', 'overloaded', 'shutting_down'],
  },
  {
    ...job,
    method: 'get',
    path: '/v1/jobs',
    operationId: 'listJobs',
    samples: samples.listJobs,
    summary: 'Jobs, newest first',
    description:
      'Up to 100 jobs of this token or its account, without results. `next` is the path of the next page.',
    ok: json('JobPage'),
    codes,
  },
  {
    ...job,
    method: 'get',
    path: '/v1/jobs/after/{id}',
    operationId: 'listJobsAfter',
    samples: samples.listJobsAfter,
    summary: 'Older jobs',
    description:
      'Jobs that were created before the job `id`. 404 when that job has expired: start with the first page.',
    parameters: [id],
    ok: json('JobPage'),
    codes: [...codes, 'not_found'],
  },
  {
    ...job,
    method: 'get',
    path: '/v1/jobs/{id}',
    operationId: 'showJob',
    samples: samples.showJob,
    summary: 'State and result of a job',
    description:
      'A job of this token or its account. With `wait`, the response comes when the job has ended, at the latest after that time; repeat it, or use a callback.',
    parameters: [id, wait],
    ok: json('Job'),
    codes: [...codes, 'not_found'],
  },
  {
    ...job,
    method: 'delete',
    path: '/v1/jobs/{id}',
    operationId: 'removeJob',
    samples: samples.removeJob,
    summary: 'Cancel or delete a job',
    description:
      'Deletes the job, its recording and its result. A running analysis stops soon; the callback of an unfinished job has the status `cancelled`.',
    parameters: [id],
    ok: json('Empty'),
    codes: [...codes, 'not_found'],
  },
];
