/** JSON that is sent to us: bounded like an upload, and checked against a schema. */
import type { Context } from 'koa';
import type { z } from 'zod';
import type { Config } from '../config.ts';
import { Failure, type ValidationItem } from '../errors.ts';
import type { ByteBudget } from './byte-budget.ts';
import type { Lifecycle } from './lifecycle.ts';
import { askForBody, collect } from './upload.ts';

export type BodyRules = {
  readonly most: number;
  /** The type of a validation error. @param kind the field; or `too_large`, `unknown` */
  typeOf(kind: string): string;
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

export function createJsonReader(options: Options): ReadJson {
  return async (context, schema, rules) => {
    const given = parse(await read(context, options, rules));
    const parsed = schema.safeParse(given);
    if (parsed.success) return parsed.data;
    const items = parsed.error.issues.map((issue) => toItem(issue, given, rules));
    throw new Failure('invalid', 'The body is not what it should be', items);
  };
}

/** The bytes are held until the answer is out: what is made of them is not smaller. */
async function read(context: Context, { config, budget, lifecycle, ...options }: Options, rules: BodyRules) {
  if (!context.is('application/json')) {
    const got = context.get('Content-Type') || 'nothing';
    throw new Failure('bad_request', `Expected application/json for \`Content-Type\`, got ${got}`);
  }
  const account = await options.account(context);
  askForBody(context.req, context.res);
  const upload = await collect(context.req, {
    maxBytes: rules.most,
    budget,
    account,
    deadlineAt: context.state.startedAt + 1000 * config.deadlineSeconds,
    cut: lifecycle.cut,
  }).catch((error: unknown) => {
    throw error instanceof Failure && error.code === 'too_large' ? tooLarge(rules) : error;
  });
  if (upload === null) {
    context.state.gone = true;
    throw noObject();
  }
  context.res.once('close', upload.release);
  return Buffer.concat(upload.blocks);
}

function parse(bytes: Buffer): Readonly<Record<string, unknown>> {
  const body = parseText(bytes);
  if (typeof body !== 'object' || body === null || Array.isArray(body)) throw noObject();
  return body as Readonly<Record<string, unknown>>;
}

function parseText(bytes: Buffer): unknown {
  try {
    return JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes));
  } catch {
    throw noObject();
  }
}

function noObject(): Failure {
  return new Failure('bad_request', 'Expected a JSON object for `body`, got something else');
}

function tooLarge({ most, typeOf }: BodyRules): Failure {
  const msg = `Expected at most ${most} bytes for \`body\`, got more`;
  return new Failure('too_large', msg, [{ loc: ['body', 'body'], msg, type: typeOf('too_large') }]);
}

/** Says what was expected and never what was given: it may be a password. */
function toItem(
  issue: z.core.$ZodIssue,
  given: Readonly<Record<string, unknown>>,
  { typeOf }: BodyRules,
): ValidationItem {
  if (issue.code === 'unrecognized_keys') {
    const msg = 'Expected known fields alone for `body`, got others';
    return { loc: ['body', 'body'], msg, type: typeOf('unknown') };
  }
  const field = String(issue.path[0]);
  if (given[field] === undefined) {
    return { loc: ['body', field], msg: 'field required', type: 'value_error.missing' };
  }
  const msg = `Expected ${issue.message} for \`${field}\`, got something else`;
  return { loc: ['body', field], msg, type: typeOf(field) };
}
