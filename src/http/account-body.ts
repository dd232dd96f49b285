/** The JSON that the account page sends: read, bounded and checked against a schema. */
import type { Context } from 'koa';
import type { KoaBodyMiddlewareOptions } from 'koa-body';
import { z } from 'zod';
import { email, givenPassword, newPassword } from '../accounts/credentials.ts';
import { scopes } from '../accounts/tokens.ts';
import { Failure, type ValidationItem } from '../errors.ts';

const maxBytes = 16_384;
const mostDays = 3650;

const wholeDays = `whole days from 1 to ${mostDays}, or null`;
const days = z.int({ error: wholeDays }).min(1, { error: wholeDays }).max(mostDays, { error: wholeDays });

export const signUpBody = z.object({ email, password: newPassword });
export const logInBody = z.object({ email, password: givenPassword });
export const passwordBody = z.object({ current_password: givenPassword, new_password: newPassword });
export const removeBody = z.object({ password: givenPassword });
const oneScope = { error: `scopes of ${scopes.join(', ')}` };
const scopeList = { error: `a list of ${scopes.join(', ')}` };

export const tokenBody = z.object({
  name: z.string({ error: 'a name' }),
  scopes: z.array(z.enum(scopes, oneScope), scopeList).min(1, oneScope),
  expires_in_days: days.nullable().default(null),
});

export type BodyRules = {
  readonly most: number;
  /** The type of a validation error. @param kind the field; or `too_large`, `unknown` */
  typeOf(kind: string): string;
};

const accountRules: BodyRules = { most: maxBytes, typeOf: (kind) => `value_error.${kind}` };

/** @throws Failure `bad_request`, `too_large` or `invalid` */
export async function readBody<Schema extends z.ZodType>(
  context: Context,
  schema: Schema,
  rules = accountRules,
): Promise<z.output<Schema>> {
  const given = await readJson(context, rules);
  const parsed = schema.safeParse(given);
  if (parsed.success) return parsed.data;
  const items = parsed.error.issues.map((issue) => toItem(issue, given, rules));
  throw new Failure('invalid', 'The body is not what it should be', items);
}

/** @param kind further tells what is wrong with the field */
export function invalidField(field: string, msg: string, kind?: 'taken'): Failure {
  const type = kind === undefined ? `value_error.${field}` : `value_error.${field}.${kind}`;
  return new Failure('invalid', msg, [{ loc: ['body', field], msg, type }]);
}

const options = (rules: BodyRules): Partial<KoaBodyMiddlewareOptions> => ({
  json: true,
  jsonLimit: rules.most,
  multipart: false,
  urlencoded: false,
  text: false,
  onError: (error) => {
    throw unreadable(error, rules);
  },
});

/** The reader is loaded when the first body comes: an analysis needs none. */
async function readJson(context: Context, rules: BodyRules): Promise<Readonly<Record<string, unknown>>> {
  if (!context.is('application/json')) {
    const got = context.get('Content-Type') || 'nothing';
    throw new Failure('bad_request', `Expected application/json for \`Content-Type\`, got ${got}`);
  }
  const { koaBody } = await import('koa-body');
  await koaBody(options(rules))(context, async () => {});
  const body: unknown = context.request.body;
  if (typeof body === 'object' && body !== null && !Array.isArray(body)) {
    return body as Readonly<Record<string, unknown>>;
  }
  throw unreadable(null, rules);
}

function unreadable(error: unknown, { most, typeOf }: BodyRules): Failure {
  if (error instanceof Error && 'status' in error && error.status === 413) {
    const msg = `Expected at most ${most} bytes for \`body\`, got more`;
    return new Failure('too_large', msg, [{ loc: ['body', 'body'], msg, type: typeOf('too_large') }]);
  }
  return new Failure('bad_request', 'Expected a JSON object for `body`, got something else');
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
