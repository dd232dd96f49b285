/** Browsers that keep cookies, on the account page. */
import { type Call, call, type Reply } from './http.ts';

export type Browser = {
  /** A POST with a body, a GET without, to a path below /account/api. */
  ask(path: string, body?: object, change?: Partial<Call>): Promise<Answer>;
  signUp(email: string, password?: string): Promise<Answer>;
  cookies(): ReadonlyMap<string, string>;
  setCookie(name: string, value: string): void;
};

export type Answer = Reply & { readonly json: Readonly<Record<string, unknown>> };

export const password = 'correct horse battery';
let visitors = 0;

/** The header line of a browser's cookies. */
export function cookieOf(browser: Browser): string {
  return [...browser.cookies()].map(([name, value]) => `${name}=${value}`).join('; ');
}

export function openBrowser(port: number, origin: string): Browser {
  const jar = new Map<string, string>();
  const address = `10.0.${Math.floor(++visitors / 250)}.${visitors % 250}`;
  async function ask(path: string, body?: object, change: Partial<Call> = {}): Promise<Answer> {
    const cookie = cookieOf(browser);
    const headers: Record<string, string> = {
      'X-Forwarded-For': address,
      ...(cookie ? { Cookie: cookie } : {}),
    };
    if (body !== undefined) Object.assign(headers, { Origin: origin, 'Content-Type': 'application/json' });
    const reply = await call(port, {
      method: body === undefined ? 'GET' : 'POST',
      path: `/account/api/${path}`,
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      ...change,
      headers: { ...headers, ...change.headers },
    });
    keep(jar, reply);
    return { ...reply, json: JSON.parse(reply.body) };
  }
  const browser: Browser = {
    ask,
    signUp: (email, secret = password) => ask('sign-up', { email, password: secret }),
    cookies: () => jar,
    setCookie: (name, value) => jar.set(name, value),
  };
  return browser;
}

function keep(jar: Map<string, string>, { headers }: Reply): void {
  for (const line of headers['set-cookie'] ?? []) {
    const [name = '', value = ''] = (line.split(';')[0] ?? '').split(/=(.*)/s);
    if (value === '' || /max-age=0/i.test(line)) jar.delete(name);
    else jar.set(name, value);
  }
}
