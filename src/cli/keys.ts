import { join } from 'node:path';
import type { Command } from 'commander';
import { addKey, type PublicKey, readPublicKeys, receiptKeysFile } from '../receipts/keys.ts';
import { parseConfig } from '../runtime/config.ts';
import { type CliContext, expected } from './context.ts';

const createExamples = `
The file is UNDERTONE_RECEIPT_KEYS, or ${receiptKeysFile} in the data folder. Restart the service, on every host that
shares the file, before the new key signs. Private parts of retired keys are removed; their public parts stay.

Examples:
  undertone keys create --signs-from 2027-01-01T00:00:00Z
  UNDERTONE_RECEIPT_KEYS=/etc/undertone/receipt-keys.json undertone keys create`;
const publicExamples = `
Examples:
  undertone keys public > keys.json`;

export function registerKeys(program: Command, terminal: CliContext): void {
  const keys = program.command('keys').description('make and publish keys of receipts');
  keys
    .command('create')
    .description('add a key that signs receipts')
    .option('--signs-from <time>', 'ISO 8601; until then the current key signs (now)')
    .addHelpText('after', createExamples)
    .action(async ({ signsFrom }: { readonly signsFrom?: string }) => {
      const start = signsFrom === undefined ? new Date() : new Date(signsFrom);
      if (Number.isNaN(start.getTime()))
        throw expected('a time such as 2027-01-01T00:00:00Z', '--signs-from', JSON.stringify(signsFrom));
      print(await addKey(pathOf(terminal), start), terminal);
    });
  keys
    .command('public')
    .description('print the public keys, as GET /.well-known/undertone-keys.json')
    .addHelpText('after', publicExamples)
    .action(async () => print(await readPublicKeys(pathOf(terminal)), terminal));
}

function pathOf({ env }: CliContext): string {
  const { dataDir, receiptKeys } = parseConfig(env);
  return receiptKeys ?? join(dataDir, receiptKeysFile);
}

function print(keys: readonly PublicKey[], { stdout }: CliContext): void {
  stdout.write(`${JSON.stringify({ keys }, null, 2)}\n`);
}
