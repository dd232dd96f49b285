/** From a thrown failure to the answer that the client gets. */
import type { Context, Middleware, Next } from 'koa';
import type { Logger } from 'pino';
import { errorJson, httpStatus } from '../../openapi/errors.ts';
import { ServiceError } from '../../runtime/errors.ts';
import { lingerAfter } from '../linger.ts';
import type { State } from '../state.ts';

const internalMessage = 'Something went wrong on our side';

/** The JSON of a failure; `invalid` and `too_large` list what is wrong with the body. */
export function errorBody(failure: ServiceError, requestId: string): string {
  return JSON.stringify({ ...errorJson(failure), request_id: requestId });
}

/** Headers that belong to a failure, whoever sends it. */
export function errorHeaders(failure: ServiceError): Record<string, string> {
  const status = httpStatus(failure.code);
  return {
    ...(status === 401 ? { 'WWW-Authenticate': 'Bearer' } : {}),
    ...(status === 503 || status === 429 ? { 'Retry-After': String(failure.retryAfterSeconds) } : {}),
  };
}

export function unknownPath(): ServiceError {
  return new ServiceError('not_found', 'Expected a path that /openapi.json lists for `path`, got another');
}

/**
 * Turns whatever is thrown below it into JSON; the cause of a 500 goes to the log and nowhere else. No answer, good or
 * bad, waits for a body that nobody read.
 */
export function handleErrors(logger: Logger): Middleware<State> {
  return async function failures(context: Context, next: Next) {
    try {
      await next();
    } catch (error) {
      const failure = error instanceof ServiceError ? error : new ServiceError('internal', internalMessage);
      const cause = failure === error ? failure.cause : error;
      if (cause !== undefined)
        logger.error({ err: cause, request_id: context.state.requestId }, failure.code);
      context.status = httpStatus(failure.code);
      context.set(errorHeaders(failure));
      context.set('Content-Type', 'application/json');
      context.body = errorBody(failure, context.state.requestId);
    }
    lingerAfter(context.req, context.res);
  };
}
