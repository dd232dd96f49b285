/** The token of `undertone bulk`: from the environment, a file or standard input, hidden from other users. */
import { type CliContext, expected } from './context.ts';
import { checkStandardInput, readNamedFile, standardInput } from './inputs.ts';
import { readPassword } from './password.ts';

export type TokenOptions = {
  readonly token?: string;
  /** `-` is standard input. */
  readonly tokenFile?: string;
  /** List of recordings; `-` is standard input. */
  readonly list?: string;
};

/** Other characters are invalid in a header, and the error of fetch would contain the token. */
const validToken = /^[\x21-\x7e]+$/;

/** @throws UsageError unless exactly one source has a token */
export async function readToken(options: TokenOptions, terminal: CliContext): Promise<string> {
  const { token, tokenFile, list = '' } = options;
  if (token !== undefined && tokenFile !== undefined)
    throw expected('one of both', '--token', '--token-file too');
  const [source, text] =
    tokenFile === undefined
      ? ['UNDERTONE_TOKEN or --token-file', token ?? terminal.env.UNDERTONE_TOKEN ?? '']
      : ['--token-file', await readLine(tokenFile, list, terminal)];
  const trimmed = text.trim();
  if (validToken.test(trimmed)) return trimmed;
  throw expected('a token', source, trimmed === '' ? 'none' : 'other characters');
}

async function readLine(file: string, list: string, terminal: CliContext): Promise<string> {
  checkStandardInput([file, list]);
  if (file === standardInput) return readPassword(terminal, 'token: ');
  const text = (await readNamedFile('--token-file', file)).toString();
  return text.split(/\r?\n/)[0] ?? '';
}
