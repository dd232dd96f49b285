/** The routes of jobs: asynchronous analyses of long recordings and of lists of URLs. */
import { Readable } from 'node:stream';
import { setImmediate } from 'node:timers/promises';
import type { Router } from '@koa/router';
import type { Context, Middleware, Next } from 'koa';
import { jobsBody } from '../../api/job-schemas.ts';
import { type Principal, scopes } from '../../auth/tokens.ts';
import { type UsageKey, usageKey } from '../../auth/usage.ts';
import type { Config } from '../../config.ts';
import { explainLimit, invalidPart, ServiceError, tooLarge } from '../../errors.ts';
import type { FairBudget } from '../../fair-share.ts';
import { ignoredField, ignoredParameters, missingForm, refuseWith } from '../../form.ts';
import type { JobOwner, JobRequest, Jobs, StoredJob } from '../../jobs/jobs.ts';
import type { UploadedForm } from '../../jobs/uploads.ts';
import { type Lifecycle, shuttingDown } from '../../lifecycle.ts';
import { boundaryOf } from '../../multipart.ts';
import { type AuthOptions, accountOf, requireScopes } from '../auth.ts';
import { type BodyLimits, declaredLength, sendContinue, waitForBody } from '../body.ts';
import { markAborted, type State } from '../context.ts';
import { type JobUploadOptions, maxBodyBytes, uploadJob } from '../job-upload.ts';
import { createBodyRules, type ReadJson } from '../json.ts';
import { sendPrivateJson } from '../responses.ts';

export type JobOptions = AuthOptions & {
  readonly config: Config;
  readonly budget: FairBudget;
  /** Of stored results that are sent. */
  readonly results: FairBudget;
  readonly lifecycle: Lifecycle;
  readonly jobs: Jobs | null;
  readonly readJson: ReadJson;
};

const maxWaitSeconds = 60;
const urlsPerIteration = 100;
/** Reasons that uploads share carry the prefix `audio.`. */
const jobsRules = createBodyRules(
  2 ** 18,
  (kind) => `${['channel', 'track', 'too_large'].includes(kind) ? 'audio.' : ''}${kind}`,
);
const keyPattern = /^[\x21-\x7e]{1,200}$/;
/** Each URL of a list has its own key; the space keeps it apart from the keys of clients. */
const keyOf = (key: string | null, index: number) => (key === null ? null : `${key} ${index}`);

export function addJobRoutes(router: Router<State>, options: JobOptions): void {
  const { jobs } = options;
  const gate = [requireScopes(options, scopes), requireQueue(jobs)] as const;
  router.post('/v1/jobs', ...gate, async function postJob(context: Context) {
    if (jobs === null) return;
    const key = idempotencyKey(context);
    const { principal } = context.state;
    const usage = usageKey(principal);
    const request = { context, jobs, options, key, usage, owner: ownerOf(principal) };
    if (context.is('application/json')) return createJobsFromUrls(request);
    return createJobFromUpload(request).catch((error: unknown) => {
      throw explainLimit(error, { 'audio.too_large': uploadLimit(options.config.jobs) });
    });
  });
  router.get('/v1/jobs/:id', ...gate, async function showJob(context: Context) {
    if (jobs !== null) await sendJob({ context, jobs, options });
  });
  router.get('/v1/jobs', ...gate, (context: Context) => listJobs(context, jobs, null));
  router.get('/v1/jobs/after/:id', ...gate, (context: Context) =>
    listJobs(context, jobs, context.params.id ?? ''),
  );
  router.delete('/v1/jobs/:id', ...gate, async function removeJob(context: Context) {
    const removed = await jobs?.remove(ownerOf(context.state.principal), context.params.id ?? '');
    if (!removed) throw unknownJob();
    sendPrivateJson(context, {});
  });
}

/** With `wait`, answers when the job has ended, or with its state after that time or at the shutdown. */
async function sendJob({ context, jobs, options }: Sending): Promise<void> {
  const owner = ownerOf(context.state.principal);
  const id = context.params.id ?? '';
  const seconds = waitSeconds(context);
  let job = await jobs.find(owner, id);
  if (seconds > 0 && job?.finished_at === null) {
    const closed = new AbortController();
    context.res.once('close', () => closed.abort());
    await jobs.waits.wait(owner, id, 1000 * seconds, closed.signal);
    if (closed.signal.aborted) return markAborted(context);
    job = await jobs.find(owner, id);
  }
  if (job === null) throw unknownJob();
  sendOne({ context, jobs, options }, job);
}

function waitSeconds({ query }: Context): number {
  const { wait = '0' } = query;
  if (typeof wait === 'string' && /^\d{1,9}$/.test(wait)) return Math.min(Number(wait), maxWaitSeconds);
  throw new ServiceError('bad_request', 'Expected a whole number of seconds for `wait`, got something else');
}

async function listJobs(context: Context, jobs: Jobs | null, after: string | null): Promise<void> {
  const page = await jobs?.list(ownerOf(context.state.principal), after);
  if (!page) throw unknownJob();
  sendPrivateJson(context, {
    jobs: page.jobs,
    next: page.last === null ? null : `/v1/jobs/after/${page.last}`,
  });
}

type JobRequestContext = {
  readonly context: Context;
  readonly jobs: Jobs;
  readonly options: JobOptions;
  readonly key: string | null;
  readonly owner: JobOwner;
  readonly usage: UsageKey;
};

async function createJobFromUpload(request: JobRequestContext): Promise<void> {
  const { context, jobs, options, key, owner, usage } = request;
  const { req, res } = context;
  const boundary = boundaryOf(req.headers['content-type']);
  if (boundary === null) throw missingForm(req.headers['content-type']);
  const { maxUploadBytes } = options.config.jobs;
  if (declaredLength(req) > maxBodyBytes(maxUploadBytes)) throw tooLarge(maxUploadBytes);
  requireAccepting(options);
  // The upload of a repeated request is only hashed, so it needs no slot.
  const known = key !== null && (await jobs.hasKey(owner, key));
  const slots = known ? 0 : 1;
  // A full queue is reported before the body is requested; the slot is reserved once the body arrives.
  await jobs.admission.check(owner, slots);
  sendContinue(req, res);
  const { config, lifecycle } = options;
  const deadlineAt = performance.now() + 1000 * config.jobs.uploadSeconds;
  const limits = { shutdown: lifecycle.shutdown, deadlineAt };
  if (!(await waitForBody(req, limits))) return markAborted(context);
  await jobs.admission.reserve(owner, slots, async () => {
    const id = jobs.createId();
    const form = await upload(request, { ...limits, id, boundary, keep: !known });
    if (form === null) {
      markAborted(context);
      return 0;
    }
    const { sizes, receipt, ignored, ...rest } = form;
    const source = { kind: 'upload', sizes } as const;
    const job = await jobs.create(id, {
      ...rest,
      ...ignoredField(ignored, ignoredParameters(Object.keys(context.query))),
      receipt: receiptOf(receipt, request),
      owner,
      usage,
      idempotencyKey: key,
      source,
    });
    context.set('Location', `/v1/jobs/${job.id}`);
    context.status = 202;
    sendOne(request, job, secretFor(form.callback, jobs, owner));
    return job.id === id ? 1 : 0;
  });
}

function uploadLimit({ maxBytes, maxUploadBytes }: Config['jobs']): string {
  return maxUploadBytes === maxBytes
    ? 'UNDERTONE_JOB_MAX_BYTES sets the limit'
    : 'the limit is half of UNDERTONE_JOB_BUFFER_BYTES, since jobs wait in memory without UNDERTONE_REDIS_URL';
}

function receiptOf(
  requested: boolean,
  { context, options }: JobRequestContext,
): NonNullable<JobRequest['receipt']> | null {
  if (!requested && options.config.receipts !== 'always') return null;
  return { purpose: context.state.principal?.purpose ?? null };
}

/** Returns null when the client aborted. Deletes the upload when its form is refused. */
async function upload(
  { context, owner, jobs, options }: JobRequestContext,
  limits: BodyLimits & Pick<JobUploadOptions, 'id' | 'boundary' | 'keep'>,
): Promise<UploadedForm | null> {
  const { budget, config } = options;
  const form = await uploadJob(context.req, {
    ...limits,
    uploads: jobs.uploads,
    memory: budget.open([owner.key]),
    owner: owner.key,
    maxBytes: config.jobs.maxUploadBytes,
  });
  try {
    // The queue in memory ends with the service.
    requireAccepting(options);
    await checkCallback(form?.callback ?? null, config);
  } catch (error) {
    if (limits.keep) await jobs.uploadStore.delete(limits.id).catch(() => {});
    throw error;
  }
  return form;
}

async function createJobsFromUrls(request: JobRequestContext): Promise<void> {
  const { context, jobs, options, key, owner, usage } = request;
  const { config } = options;
  const { urls, ...fields } = await options.readJson(context, jobsBody, jobsRules);
  const ignored = ignoredField(ignoredParameters(Object.keys(context.query)));
  const rest = { ...fields, segments: null, ...ignored };
  if (config.jobs.urlPrefixes.length === 0) {
    const msg = 'Expected an upload: UNDERTONE_JOB_URL_PREFIXES is not set, so this service fetches no URLs';
    throw new ServiceError('not_configured', msg);
  }
  if (rest.channels !== null) refuseWith('channels', { channel: rest.channel });
  if (rest.speakers !== null) refuseWith('speakers', { channels: rest.channels });
  await checkUrls(urls, config);
  await checkCallback(rest.callback, config);
  requireAccepting(options);
  const requests = urls.map((url, index): JobRequest => {
    const digest = jobs.digest({ ...rest, source: { url } });
    const source = { kind: 'object', url } as const;
    const receipt = receiptOf(rest.receipt, request);
    return { ...rest, receipt, owner, usage, idempotencyKey: keyOf(key, index), digest, source };
  });
  const known: (StoredJob | null)[] = [];
  for (const { idempotencyKey, digest } of requests) {
    known.push(idempotencyKey === null ? null : await jobs.findByKey(owner, idempotencyKey, digest));
  }
  const created: StoredJob[] = [];
  const added = known.filter((job) => job === null).length;
  await jobs.admission.reserve(owner, added, async () => {
    for (const [index, request] of requests.entries()) {
      created.push(known[index] ?? (await jobs.create(jobs.createId(), request)));
    }
    return added;
  });
  context.status = 202;
  const more = secretFor(rest.callback, jobs, owner);
  if (created.some(isDone)) sendStored(request, created, jobs.streamAll(created, more));
  else sendPrivateJson(context, jobs.encodeAll(created, more));
}

function requireAccepting({ lifecycle }: JobOptions): void {
  if (lifecycle.refusing()) throw shuttingDown();
}

/** Lets the event loop turn between groups of URLs. @throws ServiceError `invalid` for the first one that is not allowed */
export async function checkUrls(urls: readonly string[], { jobs }: Pick<Config, 'jobs'>): Promise<void> {
  const { checkAudioUrl } = await import('../../jobs/remote-audio.ts');
  for (const [index, url] of urls.entries()) {
    if (index % urlsPerIteration === urlsPerIteration - 1) await setImmediate();
    const expected = checkAudioUrl(url, jobs);
    if (expected === null) continue;
    throw invalidPart('urls', 'urls', `Expected ${expected} for \`urls[${index}]\`, got another`);
  }
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
      'Expected `UNDERTONE_REDIS_URL` to be set, which jobs require with PostgreSQL or UNDERTONE_JOB_WORKERS=0, got nothing',
    );
  };
}

/** Tokens of one account share its jobs; each operator token owns its jobs alone. */
function ownerOf(principal: Principal | undefined): JobOwner {
  return { key: accountOf(principal), accountId: principal?.owner ?? null };
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

type Sending = Pick<JobRequestContext, 'context' | 'jobs' | 'options'>;

const isDone = ({ status }: StoredJob) => status === 'done';

function sendOne(request: Sending, job: StoredJob, more: object = {}): void {
  const { context, jobs } = request;
  if (isDone(job)) sendStored(request, [job], jobs.stream(job, more));
  else sendPrivateJson(context, jobs.encode(job, more));
}

/** Sends JSON with stored results as the client reads it. @throws ServiceError `overloaded` */
function sendStored(
  { context, jobs, options }: Sending,
  sent: readonly StoredJob[],
  json: AsyncIterable<string | Uint8Array>,
): void {
  const reservation = options.results.open([accountOf(context.state.principal)]);
  const bytes = sent.reduce((sum, job) => sum + job.bytes, 0);
  if (!reservation.add(Math.min(bytes, jobs.bytesPerResponse))) {
    throw new ServiceError('overloaded', "The account's share of the memory for results is used up");
  }
  context.res.once('close', () => reservation.release());
  context.set({ 'Cache-Control': 'no-store', 'Content-Type': 'application/json' });
  context.body = Readable.from(json, { objectMode: false });
}

function secretFor(callback: string | null, jobs: Jobs, owner: JobOwner): { callback_secret?: string } {
  return callback === null ? {} : { callback_secret: jobs.callbackSecret(owner) };
}
