/** `undertone token` and `undertone user`. */
import type { Command } from 'commander';
import {
  allScopes,
  type Credentials,
  createAccount,
  email as emailSchema,
  type ListedToken,
  newPassword,
  setPassword as setAccountPassword,
  TokenError,
  type TokenRecord,
  type Tokens,
  UserError,
  withTokens as withStoredTokens,
} from '../service/admin.ts';
import { parseConfig } from '../service/config.ts';
import { type CliContext, expected, formatTable, UsageError } from './context.ts';
import { readPassword } from './passwords.ts';

const tokenExamples = `
The token alone goes to standard output, and is not shown again.

Examples:
  undertone token create --name ci --scopes analyze:emotion,analyze:cognitive
  TOKEN=$(undertone token create --name laptop --scopes analyze:emotion --expires 90d)
  undertone token create --name archive --scopes analyze:emotion --purpose "search in a film archive"`;
const listExamples = `
OWNER is the account that made it, or - for the command line; USED is up to a minute late.

Examples:
  undertone token list`;
const revokeExamples = `
A name selects tokens of the command line only; select tokens of accounts by id. A running server refuses the token within 2 seconds.

Examples:
  undertone token revoke ci
  undertone token revoke tok_3kP0aZ81QxYw`;

const unitMs = {
  s: 1000,
  m: 60_000,
  h: 3_600_000,
  d: 86_400_000,
  w: 604_800_000,
  y: 31_536_000_000,
} as const;
const headings = ['ID', 'NAME', 'OWNER', 'TOKEN', 'SCOPES', 'CREATED', 'EXPIRES', 'USED', 'STATE', 'PURPOSE'];

export function registerToken(program: Command, terminal: CliContext): void {
  const token = program.command('token').description('make, list and revoke API tokens');
  token
    .command('create')
    .description('make a token')
    .requiredOption('--name <name>', 'what to call it; unique among live tokens')
    .requiredOption('--scopes <scopes>', `${allScopes.join(', ')}, or several with commas between`)
    .option('--purpose <text>', 'what the scores are for; shown with usage and in receipts')
    .option('--expires <duration>', 'such as 30m, 12h, 90d, 2w or 1y; never when left out')
    .addHelpText('after', tokenExamples)
    .action((options: TokenOptions) =>
      withTokens(terminal, (tokens, databaseUrl) => createToken(tokens, databaseUrl, options, terminal)),
    );
  token
    .command('list')
    .description('list every token that was made')
    .addHelpText('after', listExamples)
    .action(() => withTokens(terminal, (tokens) => list(tokens, terminal)));
  token
    .command('revoke')
    .description('refuse a token from now on')
    .argument('<token>', 'its id or name')
    .addHelpText('after', revokeExamples)
    .action((which: string) => withTokens(terminal, (tokens) => revoke(tokens, which, terminal)));
}

type TokenOptions = {
  readonly name: string;
  readonly scopes: string;
  readonly expires?: string;
  readonly purpose?: string;
};

async function withTokens(
  terminal: CliContext,
  run: (tokens: Tokens, databaseUrl: string) => Promise<void>,
): Promise<void> {
  try {
    const { databaseUrl } = parseConfig(terminal.env);
    await withStoredTokens(databaseUrl, (tokens) => run(tokens, databaseUrl));
  } catch (error) {
    throw error instanceof TokenError ? new UsageError(error.message) : error;
  }
}

async function createToken(
  tokens: Tokens,
  databaseUrl: string,
  options: TokenOptions,
  { stdout, stderr }: CliContext,
): Promise<void> {
  const expiresAt =
    options.expires === undefined ? null : new Date(Date.now() + parseDuration(options.expires));
  const scopes = options.scopes.split(',').map((scope) => scope.trim());
  const { token, record } = await tokens.create({
    name: options.name,
    scopes,
    expiresAt,
    purpose: options.purpose ?? null,
  });
  const end = record.expiresAt === null ? 'never expires' : `expires ${record.expiresAt.toISOString()}`;
  stdout.write(`${token}\n`);
  stderr.write(`${record.id} "${record.name}" for ${record.scopes.join(' and ')}, ${end}; not shown again\n`);
  // A URL of PostgreSQL may hold a password.
  if (databaseUrl.startsWith('file:')) stderr.write(`stored in ${databaseUrl.slice('file:'.length)}\n`);
}

function parseDuration(text: string): number {
  const match = /^([1-9]\d{0,5})([smhdwy])$/.exec(text);
  if (match === null) throw expected('a duration such as 12h or 90d', '--expires', JSON.stringify(text));
  return Number(match[1]) * unitMs[match[2] as keyof typeof unitMs];
}

async function list(tokens: Tokens, { stdout }: CliContext): Promise<void> {
  stdout.write(formatTable([headings, ...(await tokens.list()).map(toRow)]));
}

function toRow(record: ListedToken): string[] {
  const { id, name, ownerEmail, prefix, scopes, purpose, createdAt, expiresAt, lastUsedAt } = record;
  const minute = (date: Date | null) => (date === null ? 'never' : `${date.toISOString().slice(0, 16)}Z`);
  const times = [createdAt, expiresAt, lastUsedAt].map(minute);
  return [
    id,
    name,
    ownerEmail ?? '-',
    `${prefix}...`,
    scopes.join(','),
    ...times,
    stateOf(record),
    purpose ?? '-',
  ];
}

function stateOf({ revokedAt, expiresAt }: TokenRecord): string {
  if (revokedAt !== null) return 'revoked';
  return expiresAt !== null && expiresAt.getTime() <= Date.now() ? 'expired' : 'live';
}

async function revoke(tokens: Tokens, which: string, { stderr, fail }: CliContext): Promise<void> {
  const record = await tokens.revoke(which);
  if (record !== null) {
    stderr.write(`revoked ${record.id} "${record.name}"\n`);
    return;
  }
  stderr.write(`${expected('the id or name of a live token', 'token', JSON.stringify(which)).message}\n`);
  fail();
}

const userExamples = `
The password, 10 to 128 characters, is asked for, or is the first line of standard input.
The very first account is an administrator in any case. Sign-up may be closed.

Examples:
  undertone user create --email ada@example.org --admin
  undertone user create --email bob@example.org < password.txt`;
const passwordExamples = `
The new password, 10 to 128 characters, is asked for, or is the first line of standard input. Every log-in of the account
ends. A running server refuses revoked tokens within 2 seconds.

Examples:
  undertone user password --email ada@example.org
  undertone user password --email bob@example.org --revoke-tokens < password.txt`;

export function registerUser(program: Command, terminal: CliContext): void {
  const user = program.command('user').description('create accounts and set their passwords');
  user
    .command('create')
    .description('make an account')
    .requiredOption('--email <address>', 'what it logs in with; nothing is ever sent there')
    .option('--admin', 'let it see and revoke the tokens of the command line')
    .addHelpText('after', userExamples)
    .action((options: UserOptions) => createUser(options, terminal));
  user
    .command('password')
    .description('set the password of an account')
    .requiredOption('--email <address>', 'of the account')
    .option('--revoke-tokens', 'revoke every token that the account made')
    .addHelpText('after', passwordExamples)
    .action((options: PasswordOptions) => setPassword(options, terminal));
}

type UserOptions = { readonly email: string; readonly admin?: boolean };
type PasswordOptions = { readonly email: string; readonly revokeTokens?: boolean };

async function createUser({ email, admin = false }: UserOptions, terminal: CliContext): Promise<void> {
  const { databaseUrl } = parseConfig(terminal.env);
  const credentials = await readCredentials(email, terminal);
  const isAdministrator = await createAccount(databaseUrl, credentials, admin).catch((error: unknown) => {
    throw error instanceof UserError ? new UsageError(error.message) : error;
  });
  terminal.stderr.write(`made ${email}${isAdministrator ? ', administrator' : ''}\n`);
}

async function setPassword(
  { email, revokeTokens = false }: PasswordOptions,
  terminal: CliContext,
): Promise<void> {
  const { databaseUrl } = parseConfig(terminal.env);
  const credentials = await readCredentials(email, terminal);
  if (!(await setAccountPassword(databaseUrl, credentials, revokeTokens)))
    throw expected('the address of an account', '--email', JSON.stringify(email));
  terminal.stderr.write(`set the password of ${email}${revokeTokens ? ', revoked its tokens' : ''}\n`);
}

async function readCredentials(address: string, terminal: CliContext): Promise<Credentials> {
  if (!emailSchema.safeParse(address).success) {
    throw expected('an e-mail address', '--email', JSON.stringify(address));
  }
  const password = await readPassword(terminal, `password for ${address}: `);
  const checked = newPassword.safeParse(password);
  if (checked.success) return { email: address, password };
  throw expected(checked.error.issues[0]?.message ?? '', 'password', `${password.length}`);
}
