/** Limits and errors of the JSON bodies of the account page. */
import { ServiceError } from '../../runtime/errors.ts';
import type { BodyRules } from './json.ts';

const maxBytes = 16_384;
export const accountRules: BodyRules = { maxBytes, reasonOf: (kind) => kind };

/** @param kind narrows the reason: `taken` for a value in use */
export function invalidField(field: string, message: string, kind?: 'taken'): ServiceError {
  const reason = kind === undefined ? field : `${field}.${kind}`;
  return new ServiceError('invalid', message, { problems: [{ where: 'body', field, reason, message }] });
}
