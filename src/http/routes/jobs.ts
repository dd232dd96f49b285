/** The routes of jobs: recordings of hours, and many at a time, that nobody waits for. */
import type { Router } from '@koa/router';
import type { Context, Middleware, Next } from 'koa';
import { scopes } from '../../auth/tokens.ts';
import type { JobJson, JobOwner, JobRequest, Jobs } from '../../jobs/jobs.ts';
import type { UploadedForm } from '../../jobs/uploads.ts';
import { boundaryOf } from '../../multipart/headers.ts';
import type { Config } from '../../runtime/config.ts';
import { invalidPart, ServiceError, tooLarge } from '../../runtime/errors.ts';
import { type BodyLimits, bodyArrives } from '../body/body-guard.ts';
import { type ByteBudget, createReservation } from '../body/byte-budget.ts';
import { checkUrls, jobsBody, jobsRules } from '../body/job-body.ts';
import { type JobUploadOptions, maxBodyBytes, uploadJob } from '../body/job-upload.ts';
import type { ReadJson } from '../body/json.ts';
import { declaredLength, sendContinue } from '../body/upload.ts';
import { type Lifecycle, shuttingDown } from '../lifecycle.ts';
import { type AuthOptions, accountOf, type Principal, requireScopes } from '../middleware/auth.ts';
import { markAborted, type State } from '../state.ts';

export type JobOptions = {
  readonly config: Config;
  readonly budget: ByteBudget;
  readonly lifecycle: Lifecycle;
  readonly jobs: Jobs | null;
  readonly readJson: ReadJson;
};

const keyPattern = /^[\x21-\x7e]{1,200}$/;
/** For each address its own: the keys of a list cannot be given by clients. */
const keyOf = (key: string | null, index: number) => (key === null ? null : `${key} ${index}`);

export function addJobRoutes(router: Router<State>, options: JobOptions & AuthOptions): void {
  const { jobs } = options;
  const gate = [requireScopes(options, scopes), requireQueue(jobs)] as const;
  router.post('/v1/jobs', ...gate, async function beginJob(context: Context) {
    if (jobs === null) return;
    const key = idempotencyKey(context);
    const asked = { context, jobs, options, key, owner: ownerOf(context.state.grant) };
    if (context.is('application/json')) return createJobs(asked);
    return createJob(asked);
  });
  router.get('/v1/jobs/:id', ...gate, async function showJob(context: Context) {
    const found = await jobs?.find(ownerOf(context.state.grant), context.params.id ?? '');
    if (!found) throw unknownJob();
    send(context, found);
  });
  router.get('/v1/jobs', ...gate, (context: Context) => listJobs(context, jobs, null));
  router.get('/v1/jobs/after/:id', ...gate, (context: Context) =>
    listJobs(context, jobs, context.params.id ?? ''),
  );
  router.delete('/v1/jobs/:id', ...gate, async function removeJob(context: Context) {
    const removed = await jobs?.remove(ownerOf(context.state.grant), context.params.id ?? '');
    if (!removed) throw unknownJob();
    send(context, {});
  });
}

/** `next` is the path of the next page. */
async function listJobs(context: Context, jobs: Jobs | null, after: string | null): Promise<void> {
  const page = await jobs?.list(ownerOf(context.state.grant), after);
  if (!page) throw unknownJob();
  send(context, { jobs: page.jobs, next: page.last === null ? null : `/v1/jobs/after/${page.last}` });
}

type JobRequestContext = {
  readonly context: Context;
  readonly jobs: Jobs;
  readonly options: JobOptions;
  readonly key: string | null;
  readonly owner: JobOwner;
};

async function createJob(asked: JobRequestContext): Promise<void> {
  const { context, jobs, options, key, owner } = asked;
  const { req, res } = context;
  const boundary = boundaryOf(req.headers['content-type']);
  if (boundary === null) throw invalidPart('audio', 'missing', 'field required');
  const { maxBytes } = options.config.jobs;
  if (declaredLength(req) > maxBodyBytes(maxBytes)) throw tooLarge(maxBytes);
  requireOpen(options);
  // The recording of a known job is read for its digest alone, and needs no place.
  const known = key !== null && (await jobs.hasKey(owner, key));
  const places = known ? 0 : 1;
  // A full queue is said before the body is asked for; the place is reserved once the body arrives.
  await jobs.reserveSlots(owner, places, async () => {});
  sendContinue(req, res);
  const { config, lifecycle } = options;
  const deadlineAt = performance.now() + 1000 * config.jobs.uploadSeconds;
  const limits = { shutdown: lifecycle.shutdown, deadlineAt };
  if (!(await bodyArrives(req, limits))) return markAborted(context);
  await jobs.reserveSlots(owner, places, async () => {
    const id = jobs.createId();
    const form = await upload(asked, { ...limits, id, boundary, keep: !known });
    if (form === null) return markAborted(context);
    const { sizes, channel, callback, digest } = form;
    const source = { kind: 'upload', sizes } as const;
    const request = { owner, idempotencyKey: key, digest, source, channel, callback };
    const job = await jobs.create(id, request);
    sendAccepted(context, { ...job, ...secretFor(callback, jobs, owner) });
  });
}

/** Null when the client left. What came of an upload that failed is dropped. */
async function upload(
  { context, owner, jobs, options }: JobRequestContext,
  limits: BodyLimits & Pick<JobUploadOptions, 'id' | 'boundary' | 'keep'>,
): Promise<UploadedForm | null> {
  const { budget, config } = options;
  const form = await uploadJob(context.req, {
    ...limits,
    uploads: jobs.uploads,
    memory: createReservation(budget, owner.name),
    maxBytes: config.jobs.maxBytes,
  });
  try {
    await checkCallback(form?.callback ?? null, config);
  } catch (error) {
    if (limits.keep) await jobs.uploadStore.delete(limits.id).catch(() => {});
    throw error;
  }
  return form;
}

async function createJobs({ context, jobs, options, key, owner }: JobRequestContext): Promise<void> {
  const { config } = options;
  const { urls, channel, callback } = await options.readJson(context, jobsBody, jobsRules);
  if (config.jobs.urlPrefixes.length === 0) {
    const msg = 'Expected an upload: this service fetches no recordings (UNDERTONE_JOB_URL_PREFIXES)';
    throw new ServiceError('not_configured', msg);
  }
  await checkUrls(urls, config.jobs);
  await checkCallback(callback, config);
  requireOpen(options);
  const requests = urls.map((url, index): JobRequest => {
    const digest = jobs.digest({ source: { url }, channel, callback });
    const source = { kind: 'object', url } as const;
    return { owner, idempotencyKey: keyOf(key, index), digest, source, channel, callback };
  });
  const known: (JobJson | null)[] = [];
  for (const { idempotencyKey, digest } of requests) {
    known.push(idempotencyKey === null ? null : await jobs.findByKey(owner, idempotencyKey, digest));
  }
  const created: JobJson[] = [];
  await jobs.reserveSlots(owner, known.filter((job) => job === null).length, async () => {
    for (const [index, request] of requests.entries()) {
      created.push(known[index] ?? (await jobs.create(jobs.createId(), request)));
    }
  });
  sendAccepted(context, { jobs: created, ...secretFor(callback, jobs, owner) });
}

function requireOpen({ lifecycle }: JobOptions): void {
  if (lifecycle.refusing()) throw shuttingDown();
}

async function checkCallback(callback: string | null, { jobs }: Config): Promise<void> {
  if (callback === null) return;
  const { checkCallbackUrl } = await import('../../jobs/remote-audio.ts');
  const expected = checkCallbackUrl(callback, jobs);
  if (expected === null) return;
  throw invalidPart('callback', 'callback', `Expected ${expected} for \`callback\`, got another`);
}

function requireQueue(jobs: Jobs | null): Middleware<State> {
  return async function queue(_context: Context, next: Next) {
    if (jobs !== null) return next();
    throw new ServiceError(
      'not_configured',
      'Expected UNDERTONE_REDIS_URL, where jobs wait, to be set; got none',
    );
  };
}

/** An account's tokens share its jobs; each token of the operator has its own. */
function ownerOf(grant: Principal | undefined): JobOwner {
  return { name: accountOf(grant), account: grant?.owner ?? null };
}

function idempotencyKey(context: Context): string | null {
  const key = context.headers['idempotency-key'];
  if (key === undefined) return null;
  if (typeof key === 'string' && keyPattern.test(key)) return key;
  throw new ServiceError(
    'bad_request',
    'Expected 1 to 200 visible characters for `Idempotency-Key`, got others',
  );
}

function unknownJob(): ServiceError {
  return new ServiceError('not_found', 'Expected the id of a job of this token, got another');
}

/** The job exists, and its result does not yet. */
function sendAccepted(context: Context, body: object): void {
  context.status = 202;
  send(context, body);
}

function secretFor(callback: string | null, jobs: Jobs, owner: JobOwner): { callback_secret?: string } {
  return callback === null ? {} : { callback_secret: jobs.callbackSecret(owner) };
}

function send(context: Context, body: object): void {
  context.set({ 'Content-Type': 'application/json', 'Cache-Control': 'no-store' });
  context.body = JSON.stringify(body);
}
