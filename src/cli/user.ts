import type { Command } from 'commander';
import { parseConfig } from '../config.ts';
import { readPassword } from './password.ts';
import { expected, type Terminal, UsageError } from './terminal.ts';

const createExamples = `
The password, 10 to 128 characters, is asked for, or is the first line of standard input.
The very first account is an administrator in any case. Sign-up may be closed.

Examples:
  undertone user create --email ada@example.org --admin
  undertone user create --email bob@example.org < password.txt`;

export function addUser(program: Command, terminal: Terminal): void {
  const user = program.command('user').description('make accounts');
  user
    .command('create')
    .description('make an account')
    .requiredOption('--email <address>', 'what it logs in with; nothing is ever sent there')
    .option('--admin', 'let it see and revoke the tokens of the command line')
    .addHelpText('after', createExamples)
    .action((options: CreateOptions) => create(options, terminal));
}

type CreateOptions = { readonly email: string; readonly admin?: true };

async function create(options: CreateOptions, terminal: Terminal): Promise<void> {
  const { databaseUrl } = parseConfig(terminal.env);
  const { email, newPassword } = await import('../accounts/credentials.ts');
  if (!email.safeParse(options.email).success) {
    throw expected('an e-mail address', '--email', JSON.stringify(options.email));
  }
  const password = await readPassword(terminal, `password for ${options.email}: `);
  const checked = newPassword.safeParse(password);
  if (!checked.success) {
    throw expected(checked.error.issues[0]?.message ?? '', 'password', `${password.length}`);
  }
  const isAdministrator = await enrolIn(
    databaseUrl,
    { email: options.email, password },
    options.admin === true,
  );
  terminal.stderr.write(`made ${options.email}${isAdministrator ? ', administrator' : ''}\n`);
}

async function enrolIn(
  databaseUrl: string,
  credentials: { readonly email: string; readonly password: string },
  asAdministrator: boolean,
): Promise<boolean> {
  const { kindOf, openStorage } = await import('../accounts/storage.ts');
  const { createUsers } = await import('../accounts/users.ts');
  const { enrol } = await import('../accounts/enrol.ts');
  const { UserError } = await import('../accounts/refusal.ts');
  const { drawText } = await import('../accounts/token-format.ts');
  const database = await openStorage(databaseUrl);
  try {
    // No browser ever gets the cookie of this session.
    const secret = drawText(40);
    const users = createUsers({ database, kind: kindOf(databaseUrl), secret, secure: false });
    return await enrol({ database, users }, credentials, asAdministrator);
  } catch (error) {
    throw error instanceof UserError ? new UsageError(error.message) : error;
  } finally {
    await database.destroy();
  }
}
