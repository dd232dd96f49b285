/** JSON bodies: limited in size, time and memory like uploads, and validated by a schema. */
import type { Context } from 'koa';
import type { z } from 'zod';
import type { Config } from '../../runtime/config.ts';
import { type Problem, ServiceError, tooLarge } from '../../runtime/errors.ts';
import type { FairBudget } from '../../runtime/fair-budget.ts';
import type { Lifecycle } from '../lifecycle.ts';
import { nextIteration } from './next-iteration.ts';
import { declaredLength, readBody, sendContinue } from './read-body.ts';

export type BodyRules = {
  readonly maxBytes: number;
  /** Returns the reason of a validation error. @param kind the field, `too_large` or `unknown` */
  reasonOf(kind: string): string;
};

/** @throws ServiceError `bad_request`, `timeout`, `too_large`, `overloaded` or `invalid` */
export type ReadJson = <Schema extends z.ZodType>(
  context: Context,
  schema: Schema,
  rules: BodyRules,
) => Promise<z.output<Schema>>;

type Options = {
  readonly config: Config;
  readonly budget: FairBudget;
  /** Returns the account whose share of the budget the body uses. */
  readonly account: (context: Context) => Promise<string>;
  readonly lifecycle: Lifecycle;
};

/** Limits on validation work; no schema has more fields or accepts longer lists. */
const maxFields = 64;
const maxEntries = 1000;
const maxProblems = 16;

export function createJsonReader(options: Options): ReadJson {
  return async (context, schema, rules) => {
    checkHeaders(context, rules);
    const input = requireObject(await read(context, options, rules));
    checkSize(input, rules);
    const parsed = schema.safeParse(input);
    if (parsed.success) return parsed.data;
    const issues = parsed.error.issues.slice(0, maxProblems);
    throw invalid(issues.map((issue) => toProblem(issue, input, rules)));
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
  if (declaredLength(context.req) > rules.maxBytes) throw overLimit(rules);
}

/** The bytes stay reserved until the response is sent, since the parsed value is not smaller. */
async function read(context: Context, options: Options, rules: BodyRules): Promise<unknown> {
  const { req, res, state } = context;
  const { budget, config, lifecycle } = options;
  const account = await options.account(context);
  const deadlineAt = state.startedAt + 1000 * config.deadlineSeconds;
  sendContinue(req, res);
  const limits = { maxBytes: rules.maxBytes, budget, account, deadlineAt, shutdown: lifecycle.shutdown };
  const upload = await readBody(req, limits).catch((error: ServiceError) => {
    throw error.code === 'too_large' ? overLimit(rules) : error;
  });
  if (upload === null) {
    state.clientAborted = true;
    throw expectedObject();
  }
  res.once('close', upload.release);
  // One iteration of the event loop parses at most one body.
  await nextIteration();
  try {
    return JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(Buffer.concat(upload.blocks)));
  } catch {
    // The error of the parser contains the body.
    throw expectedObject();
  }
}

function requireObject(body: unknown): Readonly<Record<string, unknown>> {
  const isPlain = typeof body === 'object' && body !== null && !Array.isArray(body);
  if (!isPlain || Object.hasOwn(body, '__proto__')) throw expectedObject();
  return body as Readonly<Record<string, unknown>>;
}

function checkSize(input: Readonly<Record<string, unknown>>, { reasonOf }: BodyRules): void {
  const fields = Object.keys(input);
  if (fields.length > maxFields) throw invalid([unknownField(reasonOf)]);
  for (const field of fields) {
    const value = input[field];
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

function overLimit({ maxBytes, reasonOf }: BodyRules): ServiceError {
  return tooLarge(maxBytes, 'body', reasonOf('too_large'));
}

/** The message omits the received value, which may be a password. */
function toProblem(
  issue: z.core.$ZodIssue,
  input: Readonly<Record<string, unknown>>,
  { reasonOf }: BodyRules,
): Problem {
  if (issue.code === 'unrecognized_keys') return unknownField(reasonOf);
  const field = String(issue.path[0]);
  if (input[field] === undefined) return problem(field, 'missing', 'field required');
  return problem(field, reasonOf(field), `Expected ${issue.message} for \`${field}\`, got something else`);
}

function unknownField(reasonOf: BodyRules['reasonOf']): Problem {
  return problem('body', reasonOf('unknown'), 'Expected known fields alone for `body`, got others');
}
