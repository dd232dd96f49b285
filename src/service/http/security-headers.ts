/** Helmet's security headers, computed once: they are the same for every response. */
import type { Context, Middleware, Next } from 'koa';
import helmet from 'koa-helmet';

/** @param https adds Strict-Transport-Security, which would lock browsers out of a plain HTTP service */
export function securityHeaders(https: boolean): Middleware {
  const headers = computeHeaders(https);
  return async function security(context: Context, next: Next) {
    for (const [name, value] of headers) context.res.setHeader(name, value);
    return next();
  };
}

/** Helmet sets all headers synchronously. */
function computeHeaders(https: boolean): readonly (readonly [name: string, value: string])[] {
  const headers: [string, string][] = [];
  const setHeaders = helmet({
    strictTransportSecurity: https,
    contentSecurityPolicy: { directives: { upgradeInsecureRequests: https ? [] : null } },
  });
  const setHeader = (name: string, value: string) => headers.push([name, value]);
  const res = { setHeader, removeHeader: () => {} };
  void setHeaders({ req: {}, res } as unknown as Context, async () => {});
  return headers;
}
