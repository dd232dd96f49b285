/** The token that `npm start` prints below the listening line. */
import { scopes } from '../auth/token-input.ts';
import type { TokenRecord, Tokens } from '../auth/tokens.ts';

type StartedService = {
  readonly url: string;
  readonly config: { readonly token: string | null };
  readonly tokens: Tokens;
};

const firstName = 'first';
const another = `another token: npx undertone token create --name NAME --scopes ${scopes.join(',')}\n`;

/** Creates and prints the first token if none exists, else prints how to create one. */
export async function printFirstToken(
  { url, config, tokens }: StartedService,
  stdout: { write(text: string): void },
): Promise<void> {
  const first = config.token === null && !(await tokens.hasAny()) ? await createFirstToken(tokens) : null;
  stdout.write(first === null ? another : describeFirstToken(url, first.token));
}

/** Returns null if another process created one meanwhile. */
async function createFirstToken(tokens: Tokens): Promise<{ token: string; record: TokenRecord } | null> {
  try {
    return await tokens.create({ name: firstName, scopes, expiresAt: null });
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
