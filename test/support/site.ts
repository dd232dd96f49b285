/** The built service and a browser, from before the first test of a file until after its last. */
import test, { type ExecutionContext } from 'ava';
import type { Browser, BrowserContextOptions } from 'playwright-core';
import { openChromium, type Visit, visit } from './chromium.ts';
import { sendRecording } from './playground.ts';
import { type Server, startServer } from './server.ts';
import { share } from './share.ts';

export type Site = {
  readonly server: Server;
  readonly browser: Browser;
  /** A page of the service, in a browser that has never been there. */
  open(t: ExecutionContext, path?: string, options?: BrowserContextOptions): Promise<Visit>;
  /** The playground with the results of a recording. */
  report(
    t: ExecutionContext,
    name: string,
    bytes: Uint8Array,
    options?: BrowserContextOptions,
  ): Promise<Visit & { readonly said: string }>;
};

/** @param env settings of the service @param flags of Chromium */
export function startSite(env: Readonly<Record<string, string>> = {}, ...flags: readonly string[]): Site {
  const started = share(test, async (t) => {
    const server = await startServer(t, env);
    const browser = await openChromium(...flags);
    t.teardown(() => browser.close());
    return { server, browser };
  });
  const open: Site['open'] = (t, path = '/', options = {}) =>
    visit(t, site.browser, site.server.url + path, options);
  const site: Site = {
    get server() {
      return started().server;
    },
    get browser() {
      return started().browser;
    },
    open,
    report: async (t, name, bytes, options) => {
      const tab = await open(t, '/', options);
      return { ...tab, said: await sendRecording(tab.page, name, bytes) };
    },
  };
  return site;
}
