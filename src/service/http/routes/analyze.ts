/** POST /v1/analyze, POST /v1/analyze/SIGNAL, POST /v1/embed and POST /playground/compare. */
import type { Router } from '@koa/router';
import type { Context, Middleware, Next } from 'koa';
import type { Stage } from '../../../engine/index.ts';
import { signals as allSignals, type Signal } from '../../../engine/schema.ts';
import { scopeOf } from '../../auth/tokens.ts';
import type { Config } from '../../config.ts';
import { explainLimit, ServiceError, tooLarge } from '../../errors.ts';
import type { FairBudget } from '../../fair-share.ts';
import { ignoredParameters, missingForm } from '../../form.ts';
import { admissionError, type Lifecycle } from '../../lifecycle.ts';
import { boundaryOf } from '../../multipart.ts';
import type { ReceiptKeys } from '../../receipt-keys.ts';
import { signReceipt } from '../../receipts.ts';
import { type AnalysisResult, type Pool, queueFull } from '../../workers/pool.ts';
import type { FormTask } from '../../workers/protocol.ts';
import { type AuthOptions, accountOf, requireScopes } from '../auth.ts';
import { declaredLength, overByteShare, readBody, sendContinue, type Upload } from '../body.ts';
import { markAborted, type State } from '../context.ts';

export type AnalysisOptions = AuthOptions & {
  readonly config: Config;
  readonly pool: Pool;
  readonly budget: FairBudget;
  readonly lifecycle: Lifecycle;
  readonly receiptKeys: ReceiptKeys;
};

export function addAnalyzeRoutes(router: Router<State>, options: AnalysisOptions): void {
  const named = namedLimits(options.config);
  const add = (path: string, signals: readonly Signal[]) =>
    router.post(path, requireScopes(options, signals.map(scopeOf)), named, analyze({ signals }, options));
  for (const signal of allSignals) add(`/v1/analyze/${signal}`, [signal]);
  add('/v1/analyze', allSignals);
  if (options.config.comparedModelsDir !== null)
    router.post(
      '/playground/compare',
      requireScopes(options, allSignals.map(scopeOf)),
      named,
      analyze({ signals: allSignals, compared: true }, options),
    );
  const embed = analyze({ signals: [], embeddings: true }, options);
  router.post(
    '/v1/embed',
    requireScopes(options, ['embed']),
    requireEmbeddings(options.config),
    named,
    embed,
  );
}

function requireEmbeddings({ embeddings }: Config): Middleware<State> {
  return async function embeddingsOn(_: Context, next: Next) {
    if (embeddings) return next();
    const message = 'Expected UNDERTONE_EMBEDDINGS=on for /v1/embed, got off: the operator may turn it on';
    throw new ServiceError('not_found', message);
  };
}

type Wanted = Pick<FormTask, 'signals' | 'embeddings' | 'compared'>;

/** Names the setting of a limit, and POST /v1/jobs, which takes more. */
function namedLimits(config: Config): Middleware<State> {
  const { jobs } = config;
  const path = jobs.available ? 'POST /v1/jobs' : 'with UNDERTONE_REDIS_URL POST /v1/jobs';
  const advice = {
    'audio.too_long': `UNDERTONE_MAX_SECONDS sets the limit, and ${path} takes up to ${jobs.maxSeconds} s`,
    'audio.too_large': `UNDERTONE_MAX_UPLOAD_BYTES sets the limit, and ${path} takes up to ${jobs.maxUploadBytes} bytes`,
  };
  return async function limits(_: Context, next: Next) {
    try {
      await next();
    } catch (error) {
      throw explainLimit(error, advice);
    }
  };
}

/** Checks everything that the headers decide before it requests the body. */
function analyze(wanted: Wanted, options: AnalysisOptions): Middleware<State> {
  const { budget, config, lifecycle, receiptKeys } = options;
  return async function analyze(context: Context) {
    const { req, res, state } = context;
    const account = accountOf(state.principal);
    const boundary = checkHeaders(context, account, options);
    sendContinue(req, res);
    const deadlineAt = state.startedAt + 1000 * config.deadlineSeconds;
    const uploadStartedAt = performance.now();
    const upload = await readBody(req, {
      maxBytes: config.maxUploadBytes,
      budget,
      account,
      deadlineAt,
      shutdown: lifecycle.shutdown,
    });
    state.stages.push({ name: 'upload', ms: performance.now() - uploadStartedAt });
    const key = receiptKeys.current();
    const { purpose = null } = state.principal ?? {};
    const receipt = { keyId: key.id, purpose, always: config.receipts === 'always' };
    const ignored = ignoredParameters(Object.keys(context.query));
    const task = { ...wanted, boundary, ignored, requestId: state.requestId, receipt };
    const result =
      upload === null ? null : await run(context, task, upload, { account, deadlineAt }, options.pool);
    if (result === null) return markAborted(context);
    const { json, signed } = result;
    if (signed !== undefined) signReceipt({ json, signed }, key.key);
    send(context, result);
  };
}

/** @returns the multipart boundary */
function checkHeaders(
  { req }: Context,
  account: string,
  { budget, config, lifecycle, pool }: AnalysisOptions,
): string {
  const error = admissionError(lifecycle, pool);
  if (error !== null) throw error;
  if (declaredLength(req) > config.maxUploadBytes) throw tooLarge(config.maxUploadBytes);
  const boundary = boundaryOf(req.headers['content-type']);
  if (boundary === null) throw missingForm(req.headers['content-type']);
  if (!pool.accepts(account)) throw queueFull();
  if (declaredLength(req) > budget.available(account)) throw overByteShare();
  return boundary;
}

async function run(
  { res }: Context,
  task: Omit<FormTask, 'body'>,
  { blocks, release }: Upload,
  options: { readonly account: string; readonly deadlineAt: number },
  pool: Pool,
): Promise<AnalysisResult | null> {
  const pending = pool.submit({ ...task, body: blocks }, { ...options, release });
  res.once('close', pending.cancel);
  try {
    return await pending.result;
  } finally {
    res.off('close', pending.cancel);
  }
}

function send(context: Context, { json, stages, audioSeconds }: AnalysisResult): void {
  context.state.stages.push(...stages);
  context.state.audioSeconds = audioSeconds;
  context.status = 200;
  context.set('Content-Type', 'application/json');
  context.set('Server-Timing', serverTiming(context.state.stages));
  context.body = Buffer.from(json.buffer, json.byteOffset, json.byteLength);
}

/** W3C Server Timing: milliseconds per stage. */
function serverTiming(stages: readonly Stage[]): string {
  return stages.map(({ name, ms }) => `${name};dur=${ms.toFixed(3)}`).join(', ');
}
