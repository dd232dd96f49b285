/** Operations of jobs. */
import type { ErrorCode } from '../runtime/errors.ts';
import { json, type Operation } from './operation.ts';
import { schemaRef } from './schemas.ts';
import { jobUpload } from './uploads.ts';

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
  description: 'Of the job.',
  schema: { type: 'string' },
} as const;

const key = {
  name: 'Idempotency-Key',
  in: 'header',
  required: false,
  description:
    'A request that is sent again with the same key gets the job of the first one. With the key of another request it is a 422 `value_error.idempotency_key`.',
  schema: { type: 'string', pattern: '^[!-~]{1,200}$' },
} as const;

export const jobOperations: readonly Operation[] = [
  {
    ...job,
    method: 'post',
    path: '/v1/jobs',
    operationId: 'beginJob',
    summary: 'Begin a job',
    description:
      'For recordings of hours, and for many at a time. Needs a token with both scopes. The recording waits sealed in memory, never on a disk, and is gone as soon as it was analysed. An upload answers JobBegun, a list JobsBegun; both with 202, also where the idempotency key is known.',
    parameters: [key],
    requestBody: jobUpload(schemaRef('JobList')),
    status: 202,
    ok: { type: 'application/json', schema: { oneOf: [schemaRef('JobBegun'), schemaRef('JobsBegun')] } },
    codes: [...codes, 'too_large', 'invalid', 'overloaded', 'shutting_down'],
  },
  {
    ...job,
    method: 'get',
    path: '/v1/jobs',
    operationId: 'listJobs',
    summary: 'Jobs, newest first',
    description:
      'Of this token, or of all tokens of the same account: up to 100, without their results. `next` is the path of the page with older ones.',
    ok: json('JobPage'),
    codes,
  },
  {
    ...job,
    method: 'get',
    path: '/v1/jobs/after/{id}',
    operationId: 'listJobsAfter',
    summary: 'Older jobs',
    description:
      'Those that were created before the job `id`. 404 when that job is gone: begin with the first page.',
    parameters: [id],
    ok: json('JobPage'),
    codes: [...codes, 'not_found'],
  },
  {
    ...job,
    method: 'get',
    path: '/v1/jobs/{id}',
    operationId: 'showJob',
    summary: 'What has become of a job',
    description:
      'Of this token, or of another one of the same account. To be asked every few seconds, unless a callback tells.',
    parameters: [id],
    ok: json('Job'),
    codes: [...codes, 'not_found'],
  },
  {
    ...job,
    method: 'delete',
    path: '/v1/jobs/{id}',
    operationId: 'removeJob',
    summary: 'Remove a job',
    description:
      'With its recording and its result. A worker that has it stops soon; one callback tells of a job that had not ended, with status `cancelled`.',
    parameters: [id],
    ok: json('Empty'),
    codes: [...codes, 'not_found'],
  },
];
