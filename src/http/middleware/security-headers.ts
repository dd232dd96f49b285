/** The headers that make browsers careful: the same for every answer, so that they are made once. */
import type { Context, Middleware, Next } from 'koa';
import helmet from 'koa-helmet';

/** A browser that was told to insist on https would never reach a service without it. */
export function securityHeaders(https: boolean): Middleware {
  const headers = makeHeaders(https);
  return async function security(context: Context, next: Next) {
    for (const [name, value] of headers) context.res.setHeader(name, value);
    return next();
  };
}

/** Helmet writes them in one go, before it waits for anything. */
function makeHeaders(https: boolean): readonly (readonly [name: string, value: string])[] {
  const made: [string, string][] = [];
  const write = helmet({
    strictTransportSecurity: https,
    contentSecurityPolicy: { directives: { upgradeInsecureRequests: https ? [] : null } },
  });
  const setHeader = (name: string, value: string) => made.push([name, value]);
  const res = { setHeader, removeHeader: () => {} };
  void write({ req: {}, res } as unknown as Context, async () => {});
  return made;
}
