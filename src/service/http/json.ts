/** JSON bodies: read as bytes by koa-body, limited in size, time and memory like uploads, and validated by a schema. */
import type { Context, Middleware } from 'koa';
import { koaBody } from 'koa-body';
import type { z } from 'zod';
import type { Config } from '../config.ts';
import { type Problem, ServiceError, tooLarge } from '../errors.ts';
import type { FairBudget } from '../fair-share.ts';
import { decodeUtf8, expectKnownFields, parseJson } from '../json.ts';
import type { Lifecycle } from '../lifecycle.ts';
import { guardBody, overByteShare, sendContinue } from './body.ts';

type BodyRules = {
  readonly maxBytes: number;
  /** Returns the reason of a validation error. @param kind the field, `too_large` or `unknown` */
  reasonOf(kind: string): string;
  /** Sets `body` of the request, one character for each byte. */
  readonly receive: Middleware;
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

export function createBodyRules(maxBytes: number, reasonOf: BodyRules['reasonOf']): BodyRules {
  const receive = koaBody({
    textLimit: maxBytes,
    textTypes: ['application/json'],
    encoding: 'latin1',
    json: false,
    urlencoded: false,
  });
  return { maxBytes, reasonOf, receive };
}

export function createJsonReader(options: Options): ReadJson {
  return async (context, schema, rules) => {
    if (!context.is('application/json')) {
      const got = context.get('Content-Type') || 'nothing';
      throw new ServiceError('bad_request', `Expected application/json for \`Content-Type\`, got ${got}`);
    }
    const input = requireObject(await read(context, options, rules));
    const fields = Object.keys(input);
    const unknown = () =>
      problem('body', rules.reasonOf('unknown'), expectKnownFields('body', schema, fields));
    if (fields.length > maxFields) throw invalid([unknown()]);
    checkLengths(input, rules);
    const parsed = schema.safeParse(input);
    if (parsed.success) return parsed.data;
    const issues = parsed.error.issues.slice(0, maxProblems);
    throw invalid(
      issues.map((issue) =>
        issue.code === 'unrecognized_keys' ? unknown() : toProblem(issue, input, rules),
      ),
    );
  };
}

/** The bytes stay reserved until the response is sent, since the parsed value is not smaller. */
async function read(context: Context, options: Options, rules: BodyRules): Promise<unknown> {
  const { req, request, res, state } = context;
  const memory = options.budget.open([await options.account(context)]);
  res.once('close', () => memory.release());
  sendContinue(req, res);
  const { shutdown } = options.lifecycle;
  const limits = { deadlineAt: state.startedAt + 1000 * options.config.deadlineSeconds, shutdown };
  let detach = () => {};
  const refused = new Promise<never>((_, reject) => {
    const stopGuard = guardBody(req, limits, reject);
    const onData = ({ length }: Buffer) => {
      if (!memory.add(length)) reject(overByteShare());
    };
    req.on('data', onData);
    detach = () => {
      stopGuard();
      req.off('data', onData);
    };
    const reason = shutdown.reason();
    if (reason !== null) reject(reason);
  });
  const received = rules
    .receive(context, async () => {})
    .catch((error: unknown) => {
      state.clientAborted = req.readableAborted;
      throw bodyError(error, rules);
    });
  await Promise.race([refused, received]).finally(detach);
  try {
    return parseJson(decodeUtf8(Buffer.from(request.body as string, 'latin1')));
  } catch {
    // The error contains the body.
    throw expectedObject();
  }
}

/** Errors of raw-body have a type. */
function bodyError(error: unknown, rules: BodyRules): ServiceError {
  const type = error instanceof Error && 'type' in error ? error.type : null;
  return type === 'entity.too.large'
    ? tooLarge(rules.maxBytes, 'body', rules.reasonOf('too_large'))
    : expectedObject();
}

function requireObject(body: unknown): Readonly<Record<string, unknown>> {
  if (typeof body !== 'object' || body === null || Array.isArray(body)) throw expectedObject();
  return body as Readonly<Record<string, unknown>>;
}

function checkLengths(input: Readonly<Record<string, unknown>>, { reasonOf }: BodyRules): void {
  for (const [field, value] of Object.entries(input)) {
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

/** The message omits the received value, which may be a password. */
function toProblem(
  issue: z.core.$ZodIssue,
  input: Readonly<Record<string, unknown>>,
  { reasonOf }: BodyRules,
): Problem {
  const field = String(issue.path[0]);
  if (input[field] === undefined) return problem(field, 'missing', 'field required');
  return problem(field, reasonOf(field), `Expected ${issue.message} for \`${field}\`, got something else`);
}
