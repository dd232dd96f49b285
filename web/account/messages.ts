/** Messages for error responses and times. */
import type { Refusal, Token } from './api.ts';

/** By the type of a validation error. */
const items: Readonly<Record<string, string>> = {
  'value_error.missing': 'This field is required.',
  'value_error.email': 'Enter an e-mail address, such as name@example.org.',
  'value_error.email.taken': 'This address has an account: log in instead.',
  'value_error.password': 'Use 10 to 128 characters.',
  'value_error.new_password': 'Use 10 to 128 characters.',
  'value_error.name':
    'Use 1 to 64 letters, digits, spaces or . _ @ -, with a letter or digit at both ends and without tok_ at the start.',
  'value_error.name.taken':
    'Another of your tokens has this name: choose a different one, or revoke that token.',
  'value_error.scopes': 'Select at least one.',
};

export function messageOf(item: { readonly type: string; readonly msg: string }): string {
  return items[item.type] ?? item.msg;
}

export function titleOf({ status, message, retryAfterSeconds }: Refusal): string {
  if (status === 0) return 'The service is unreachable. Check your connection and try again.';
  if (status === 401) return 'Your session has ended. Log in again.';
  if (status === 422) return 'Some fields are invalid.';
  if (status === 429) return `Too many attempts. Try again in ${minutes(retryAfterSeconds)}.`;
  if (status === 503) return 'The service cannot reach its database. Try again in a moment.';
  return status >= 500 ? 'Internal error of the service. Try again in a moment.' : message;
}

function minutes(seconds: number): string {
  const count = Math.max(1, Math.ceil(seconds / 60));
  return count === 1 ? 'a minute' : `${count} minutes`;
}

const day = new Intl.DateTimeFormat('en', { dateStyle: 'medium' });
const minute = new Intl.DateTimeFormat('en', { dateStyle: 'medium', timeStyle: 'short' });

/** One sentence with the dates of a token. */
export function historyOf(token: Token): string {
  const made = `Created ${day.format(new Date(token.created_at))}`;
  const used = token.last_used_at ? `last used ${minute.format(new Date(token.last_used_at))}` : 'never used';
  return `${made}, ${endOf(token)}, ${used}.`;
}

function endOf({ expires_at: end, revoked_at: revoked }: Token): string {
  if (revoked !== null) return `revoked ${minute.format(new Date(revoked))}`;
  if (end === null) return 'never expires';
  return `${Date.parse(end) <= Date.now() ? 'expired' : 'expires'} ${day.format(new Date(end))}`;
}

export function hasEnded({ expires_at: end, revoked_at: revoked }: Token): boolean {
  return revoked !== null || (end !== null && Date.parse(end) <= Date.now());
}
