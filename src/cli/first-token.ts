/** The token that `npm start` prints below the listening line. */
import { join } from 'node:path';
import { scopes } from '../auth/token-input.ts';
import type { TokenRecord, Tokens } from '../auth/tokens.ts';

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

/** Creates and prints the first token if none exists, else prints how to create one. */
export async function printFirstToken(
  { url, config, tokens }: StartedService,
  stdout: { write(text: string): void },
): Promise<void> {
  const first = config.token === null && !(await tokens.hasAny()) ? await createFirstToken(tokens) : null;
  stdout.write(first === null ? describeAnother(config) : describeFirstToken(url, first.token));
}

/** Returns null if another process created one meanwhile. */
async function createFirstToken(tokens: Tokens): Promise<{ token: string; record: TokenRecord } | null> {
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
function describeAnother({ dataDir, databaseUrl }: StartedService['config']): string {
  const command = `npx undertone token create --name NAME --scopes ${scopes.join(',')}`;
  const isInDataDir = databaseUrl === `file:${join(dataDir, 'undertone.db')}`;
  if (!isInDataDir) return `another token: ${command} (with the UNDERTONE_DATABASE_URL of this service)\n`;
  return `another token: UNDERTONE_DATA_DIR='${dataDir.replaceAll("'", "'\\''")}' ${command}\n`;
}
