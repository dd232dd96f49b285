/** Maps thrown errors to HTTP responses. */

import type { Context, Middleware, Next } from 'koa';
import type { Logger } from 'pino';
import { escapeControls } from '../../node/controls.ts';
import { errorJson, httpStatus, ServiceError } from '../errors.ts';
import { suggest } from '../suggest.ts';
import type { State } from './context.ts';
import { lingerAfter } from './lingering-close.ts';
import { sendJson } from './responses.ts';

const internalMessage = 'Internal error';

/** Serializes the response body of an error. */
export function errorBody(error: ServiceError, requestId: string): string {
  return JSON.stringify({ ...errorJson(error), request_id: requestId });
}

/** Response headers of an error. */
export function errorHeaders(error: ServiceError): Record<string, string> {
  const status = httpStatus(error.code);
  return {
    ...(status === 415 ? { 'Accept-Encoding': 'identity' } : {}),
    ...(status === 401 ? { 'WWW-Authenticate': 'Bearer' } : {}),
    ...(status === 503 || status === 429 ? { 'Retry-After': String(error.retryAfterSeconds) } : {}),
  };
}

const maxShownPath = 60;

/** @param known paths of this service, without parameters */
export function unknownPath({ path }: Pick<Context, 'path'>, known: readonly string[] = []): ServiceError {
  const got = escapeControls(path.length > maxShownPath ? `${path.slice(0, maxShownPath)}...` : path);
  const near = path.length > maxShownPath ? null : suggest(path, known);
  const likely = near === null ? '' : `; did you mean ${near}?`;
  const listed = known.filter((one) => one.startsWith('/v1/')).map((one) => `${one}, `);
  const expected = `${listed.join('')}${listed.length === 0 ? 'a' : 'or another'} path that /openapi.json lists`;
  return new ServiceError('not_found', `Expected ${expected} for \`path\`, got ${got}${likely}`);
}

/** Sends every error as JSON. The cause of an internal error is only logged. No response waits for an unread body. */
export function handleErrors(logger: Logger): Middleware<State> {
  return async function errors(context: Context, next: Next) {
    try {
      await next();
    } catch (thrown) {
      const { requestId } = context.state;
      const error = thrown instanceof ServiceError ? thrown : new ServiceError('internal', internalMessage);
      const cause = error === thrown ? error.cause : thrown;
      if (cause !== undefined) logger.error({ err: cause, request_id: requestId }, error.code);
      context.status = httpStatus(error.code);
      context.set(errorHeaders(error));
      sendJson(context, errorBody(error, requestId));
    }
    lingerAfter(context.req, context.res);
  };
}
