/** The routes of jobs. */
import type { ErrorCode } from '../errors.ts';
import { json, type Operation } from './operation.ts';
import { refer } from './schemas.ts';
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
  description: 'The same key from the same token is the same job, however often it is sent.',
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
      'For recordings of hours, and for many at a time. Needs a token with both scopes. The recording waits sealed in memory, never on a disk, and is gone as soon as it was analysed. An upload answers JobBegun, a list JobsBegun.',
    parameters: [key],
    requestBody: jobUpload(refer('JobList')),
    ok: { type: 'application/json', schema: { oneOf: [refer('JobBegun'), refer('JobsBegun')] } },
    codes: [...codes, 'too_large', 'invalid', 'overloaded', 'shutting_down'],
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
    description: 'With its recording and its result. A worker that has it stops soon.',
    parameters: [id],
    ok: json('Empty'),
    codes: [...codes, 'not_found'],
  },
];
