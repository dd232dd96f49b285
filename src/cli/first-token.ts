/** What `npm start` says below the listening line. */
import { scopes } from '../auth/token-input.ts';
import type { TokenRecord, Tokens } from '../auth/tokens.ts';

type StartedService = {
  readonly url: string;
  readonly config: { readonly token: string | null };
  readonly tokens: Tokens;
};

const firstName = 'first';
const another = `another token: npx undertone token create --name NAME --scopes ${scopes.join(',')}\n`;

/** Makes the first token when there is none, and shows it this once; later says how to make another. */
export async function printFirstToken(
  { url, config, tokens }: StartedService,
  stdout: { write(text: string): void },
): Promise<void> {
  const first = config.token === null && !(await tokens.hasAny()) ? await createFirstToken(tokens) : null;
  stdout.write(first === null ? another : describeFirstToken(url, first.token));
}

/** Null when another process was faster. */
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
