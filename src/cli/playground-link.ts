/** The link that `npm start` prints: it opens the playground signed in. */
import type { PlaygroundCodes } from '../auth/playground-codes.ts';
import type { Config } from '../runtime/config.ts';
import { isLoopback } from '../runtime/loopback.ts';

type StartedService = {
  readonly url: string;
  readonly config: Pick<Config, 'host' | 'playgroundLink' | 'publicUrl' | 'trustedProxies'>;
  readonly playgroundCodes: Pick<PlaygroundCodes, 'create'>;
};

/** Prints nothing for a service that other machines reach, directly or through a proxy. */
export async function printPlaygroundLink(
  { url, config, playgroundCodes }: StartedService,
  stdout: { write(text: string): void },
): Promise<void> {
  const { host, playgroundLink, publicUrl, trustedProxies } = config;
  if (!playgroundLink || !isLoopback(host) || publicUrl !== null || trustedProxies > 0) return;
  const code = await playgroundCodes.create();
  stdout.write(`playground, signed in (once, within 10 minutes): ${url}/#code=${code}\n`);
}
