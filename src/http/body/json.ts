/** JSON bodies: read by koa-body, bounded in size, time and memory like an upload, and checked against a schema. */
import type { IncomingMessage } from 'node:http';
import { PassThrough } from 'node:stream';
import type { Context } from 'koa';
import { koaBody } from 'koa-body';
import type { z } from 'zod';
import type { Config } from '../../runtime/config.ts';
import { type Problem, ServiceError } from '../../runtime/errors.ts';
import type { Lifecycle } from '../lifecycle.ts';
import { guardBody } from './body-guard.ts';
import { type ByteBudget, createReservation, overByteShare } from './byte-budget.ts';
import { createTurns } from './turns.ts';
import { declaredLength, sendContinue } from './upload.ts';

export type BodyRules = {
  /** Bytes. */
  readonly maxBytes: number;
  /** The type of a validation error. @param kind the field; or `too_large`, `unknown` */
  reasonOf(kind: string): string;
};

/** @throws Failure `bad_request`, `timeout`, `too_large`, `overloaded` or `invalid` */
export type ReadJson = <Schema extends z.ZodType>(
  context: Context,
  schema: Schema,
  rules: BodyRules,
) => Promise<z.output<Schema>>;

type Options = {
  readonly config: Config;
  readonly budget: ByteBudget;
  /** Whose share of the budget a body uses. */
  readonly account: (context: Context) => Promise<string>;
  readonly lifecycle: Lifecycle;
};

/** What costs more than its bytes to check: more fields than any schema has, longer lists than any takes, an item for each fault. */
const maxFields = 64;
const maxEntries = 1000;
const maxItems = 16;

export function createJsonReader(options: Options): ReadJson {
  const nextTurn = createTurns();
  return async (context, schema, rules) => {
    checkHeaders(context, rules);
    const given = requireObject(await read(context, options, rules, nextTurn));
    checkSize(given, rules);
    const parsed = schema.safeParse(given);
    if (parsed.success) return parsed.data;
    const items = parsed.error.issues.slice(0, maxItems).map((issue) => toProblem(issue, given, rules));
    throw invalid(items);
  };
}

function checkHeaders(context: Context, rules: BodyRules): void {
  if (!context.is('application/json')) {
    const got = context.get('Content-Type') || 'nothing';
    throw new ServiceError('bad_request', `Expected application/json for \`Content-Type\`, got ${got}`);
  }
  const encoding = context.get('Content-Encoding') || 'identity';
  if (encoding !== 'identity') {
    throw new ServiceError('bad_request', `Expected none for \`Content-Encoding\`, got ${encoding}`);
  }
  if (declaredLength(context.req) > rules.maxBytes) throw tooLarge(rules);
}

/** Its bytes count as held until the answer is sent: what is made of them is not smaller. */
async function read(
  context: Context,
  options: Options,
  rules: BodyRules,
  nextTurn: () => Promise<void>,
): Promise<unknown> {
  const { req, res, state } = context;
  const deadlineAt = state.startedAt + 1000 * options.config.deadlineSeconds;
  const memory = createReservation(options.budget, await options.account(context));
  const parse = parserOf(rules.maxBytes);
  sendContinue(req, res);
  res.once('close', () => memory.release());
  const text = createUtf8Check();
  const delayed = delayEnd(req, nextTurn);
  let detach = () => {};
  const body = new Promise<unknown>((resolve, reject) => {
    const stopGuard = guardBody(req, { deadlineAt, shutdown: options.lifecycle.shutdown }, reject);
    const leave = () => {
      if (req.readableEnded) return;
      state.gone = true;
      reject(expectedObject());
    };
    const hold = (bytes: Buffer) => {
      text.add(bytes);
      if (!memory.add(bytes.length)) reject(overByteShare());
    };
    detach = () => {
      stopGuard();
      req.off('data', hold).off('close', leave).unpipe(delayed);
      delayed.destroy();
    };
    const given = () => resolve(text.isValid() ? context.request.body : null);
    const source: Context = Object.create(context, { req: { value: delayed } });
    parse(source, async () => {}).then(given, (error: unknown) => reject(toFailure(error, rules)));
    req.on('data', hold).on('close', leave);
    const reason = options.lifecycle.shutdown.reason();
    if (reason !== null) reject(reason);
    else if (req.destroyed) leave();
  });
  return body.finally(() => detach());
}

/** koa-body parses a body as soon as it ends: the end waits for its turn, so that no two bodies are parsed in one. */
function delayEnd(request: IncomingMessage, nextTurn: () => Promise<void>): PassThrough {
  const body = new PassThrough({ flush: (done) => void nextTurn().then(() => done()) });
  return Object.assign(request.pipe(body), { headers: request.headers });
}

/** koa-body takes nothing for an empty object, and replaces what is not UTF-8. */
function createUtf8Check() {
  const decoder = new TextDecoder('utf-8', { fatal: true });
  let empty = true;
  let valid = true;
  const decode = (bytes: Buffer | undefined, stream: boolean) => {
    try {
      decoder.decode(bytes, { stream });
    } catch {
      valid = false;
    }
  };
  return {
    add: (bytes: Buffer) => {
      empty = false;
      if (valid) decode(bytes, true);
    },
    isValid: () => {
      if (valid) decode(undefined, false);
      return valid && !empty;
    },
  };
}

type Parser = (context: Context, next: () => Promise<void>) => Promise<unknown>;

const parsers = new Map<number, Parser>();

function parserOf(maxBytes: number): Parser {
  const parser =
    parsers.get(maxBytes) ??
    koaBody({
      jsonLimit: maxBytes,
      jsonTypes: ['application/json'],
      multipart: false,
      text: false,
      urlencoded: false,
    });
  parsers.set(maxBytes, parser);
  return parser;
}

/** The errors of raw-body have a type; those of the JSON parser have the whole body in them, which is not passed on. */
function toFailure(error: unknown, rules: BodyRules): ServiceError {
  const type = error instanceof Error && 'type' in error ? error.type : null;
  return type === 'entity.too.large' ? tooLarge(rules) : expectedObject();
}

function requireObject(body: unknown): Readonly<Record<string, unknown>> {
  if (typeof body !== 'object' || body === null || Array.isArray(body)) throw expectedObject();
  return body as Readonly<Record<string, unknown>>;
}

function checkSize(given: Readonly<Record<string, unknown>>, { reasonOf }: BodyRules): void {
  const fields = Object.keys(given);
  if (fields.length > maxFields) throw invalid([unknownField(reasonOf)]);
  for (const field of fields) {
    const value = given[field];
    if (!Array.isArray(value) || value.length <= maxEntries) continue;
    const message = `Expected at most ${maxEntries} entries for \`${field}\`, got more`;
    throw invalid([problem(field, reasonOf(field), message)]);
  }
}

function invalid(problems: readonly Problem[]): ServiceError {
  return new ServiceError('invalid', 'The body is invalid', { problems });
}

function problem(field: string, reason: string, message: string): Problem {
  return { where: 'body', field, reason, message };
}

function expectedObject(): ServiceError {
  return new ServiceError('bad_request', 'Expected a JSON object for `body`, got something else');
}

function tooLarge({ maxBytes, reasonOf }: BodyRules): ServiceError {
  const message = `Expected at most ${maxBytes} bytes for \`body\`, got more`;
  const problems = [problem('body', reasonOf('too_large'), message)];
  return new ServiceError('too_large', message, { problems });
}

/** Says what was expected and never what was given: it may be a password. */
function toProblem(
  issue: z.core.$ZodIssue,
  given: Readonly<Record<string, unknown>>,
  { reasonOf }: BodyRules,
): Problem {
  if (issue.code === 'unrecognized_keys') return unknownField(reasonOf);
  const field = String(issue.path[0]);
  if (given[field] === undefined) return problem(field, 'missing', 'field required');
  return problem(field, reasonOf(field), `Expected ${issue.message} for \`${field}\`, got something else`);
}

function unknownField(reasonOf: BodyRules['reasonOf']): Problem {
  return problem('body', reasonOf('unknown'), 'Expected known fields alone for `body`, got others');
}
