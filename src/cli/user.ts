import type { Command } from 'commander';
import type { Credentials, Users } from '../auth/users.ts';
import type { Database } from '../db/database.ts';
import { parseConfig } from '../runtime/config.ts';
import { type CliContext, expected, UsageError } from './context.ts';
import { readPassword } from './password.ts';

const createExamples = `
The password, 10 to 128 characters, is asked for, or is the first line of standard input.
The very first account is an administrator in any case. Sign-up may be closed.

Examples:
  undertone user create --email ada@example.org --admin
  undertone user create --email bob@example.org < password.txt`;
const passwordExamples = `
The new password, 10 to 128 characters, is asked for, or is the first line of standard input. Every log-in of the account
ends. A running server refuses revoked tokens within 5 seconds.

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
    .addHelpText('after', createExamples)
    .action((options: CreateOptions) => create(options, terminal));
  user
    .command('password')
    .description('set the password of an account')
    .requiredOption('--email <address>', 'of the account')
    .option('--revoke-tokens', 'revoke every token that the account made')
    .addHelpText('after', passwordExamples)
    .action((options: PasswordOptions) => setPassword(options, terminal));
}

type CreateOptions = { readonly email: string; readonly admin?: true };
type PasswordOptions = { readonly email: string; readonly revokeTokens?: true };

async function create(options: CreateOptions, terminal: CliContext): Promise<void> {
  const { UserError } = await import('../auth/user-errors.ts');
  const { createAccount } = await import('../auth/create-account.ts');
  await withUsers(options.email, terminal, async ({ database, users }, credentials) => {
    const isAdministrator = await createAccount(
      { database, users },
      credentials,
      options.admin === true,
    ).catch((error: unknown) => {
      throw error instanceof UserError ? new UsageError(error.message) : error;
    });
    terminal.stderr.write(`made ${options.email}${isAdministrator ? ', administrator' : ''}\n`);
  });
}

async function setPassword({ email, revokeTokens }: PasswordOptions, terminal: CliContext): Promise<void> {
  const { createTokens } = await import('../auth/tokens.ts');
  await withUsers(email, terminal, async ({ database, users }, credentials) => {
    const owner = await users.setPassword(credentials);
    if (owner === null) throw expected('the address of an account', '--email', JSON.stringify(email));
    if (revokeTokens) await createTokens({ database, staticToken: null }).revokeAllOf(owner);
    terminal.stderr.write(`set the password of ${email}${revokeTokens ? ', revoked its tokens' : ''}\n`);
  });
}

type Opened = { readonly database: Database; readonly users: Users };

/** Reads the password before it opens the database. @throws UsageError */
async function withUsers(
  address: string,
  terminal: CliContext,
  run: (opened: Opened, credentials: Credentials) => Promise<void>,
): Promise<void> {
  const { databaseUrl } = parseConfig(terminal.env);
  const credentials = await readCredentials(address, terminal);
  const { databaseKind, openDatabase } = await import('../db/database.ts');
  const { createUsers } = await import('../auth/users.ts');
  const { randomBase62 } = await import('../auth/token-format.ts');
  const database = await openDatabase(databaseUrl);
  try {
    // Sessions created here never reach a browser, so the secret is not kept.
    const secret = randomBase62(40);
    const users = createUsers({ database, kind: databaseKind(databaseUrl), secret, secure: false });
    await run({ database, users }, credentials);
  } finally {
    await database.destroy();
  }
}

async function readCredentials(address: string, terminal: CliContext): Promise<Credentials> {
  const { email, newPassword } = await import('../auth/credentials.ts');
  if (!email.safeParse(address).success) {
    throw expected('an e-mail address', '--email', JSON.stringify(address));
  }
  const password = await readPassword(terminal, `password for ${address}: `);
  const checked = newPassword.safeParse(password);
  if (checked.success) return { email: address, password };
  throw expected(checked.error.issues[0]?.message ?? '', 'password', `${password.length}`);
}
