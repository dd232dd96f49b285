/** What `npm start` prints below the listening line: a first token, and a link that opens the playground signed in. */

import { join } from 'node:path';
import type { TokenRecord, Tokens } from '../service/admin.ts';
import type { Config } from '../service/config.ts';
import { isLoopback } from '../service/network.ts';
import type { Welcome } from '../service/serve.ts';

type StartedService = {
  readonly url: string;
  readonly config: {
    readonly token: string | null;
    readonly dataDir: string;
    readonly databaseUrl: string;
  };
  readonly tokens: Tokens;
};

const firstName = 'first';

/** Creates a first token if none exists. Returns lines with it, or with how to create another. */
export async function welcomeToken({ url, config, tokens }: StartedService): Promise<string> {
  const { scopes } = await import('../service/admin.ts');
  const create = () => createFirstToken(tokens, scopes);
  const first = config.token === null && !(await tokens.hasAny()) ? await create() : null;
  return first === null ? describeAnother(config, scopes) : describeFirstToken(url, first.token);
}

/** Returns null if another process created one meanwhile. */
async function createFirstToken(
  tokens: Tokens,
  scopes: readonly string[],
): Promise<{ token: string; record: TokenRecord } | null> {
  try {
    return await tokens.create({ name: firstName, scopes, expiresAt: null, purpose: null });
  } catch (error) {
    if (await tokens.hasAny()) return null;
    throw error;
  }
}

function describeFirstToken(url: string, token: string): string {
  return `your first token, shown this once: ${token}
curl -H "Authorization: Bearer ${token}" -F audio=@examples/sample.wav ${url}/v1/analyze
`;
}

/** The command with the data of this service. The URL of a database may contain a password, and is not printed. */
function describeAnother(
  { dataDir, databaseUrl }: StartedService['config'],
  scopes: readonly string[],
): string {
  const command = `npx undertone token create --name NAME --scopes ${scopes.join(',')}`;
  const isInDataDir = databaseUrl === `file:${join(dataDir, 'undertone.db')}`;
  if (!isInDataDir) return `another token: ${command} (with the UNDERTONE_DATABASE_URL of this service)\n`;
  return `another token: UNDERTONE_DATA_DIR='${dataDir.replaceAll("'", "'\\''")}' ${command}\n`;
}

type LinkedService = {
  readonly url: string;
  readonly config: Pick<Config, 'host' | 'publicUrl' | 'trustedProxies'>;
  readonly playgroundCodes: Pick<Parameters<Welcome>[0]['playgroundCodes'], 'create'>;
};

/** Empty for a service that other machines reach, directly or through a proxy. */
export async function welcomeLink({ url, config, playgroundCodes }: LinkedService): Promise<string> {
  const { host, publicUrl, trustedProxies } = config;
  if (!isLoopback(host) || publicUrl !== null || trustedProxies > 0) return '';
  const code = await playgroundCodes.create();
  return `playground, signed in (once, within 10 minutes): ${url}/#code=${code}\n`;
}
