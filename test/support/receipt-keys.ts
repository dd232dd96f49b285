/** The settings of hosts that share a Redis or a PostgreSQL. */
import { join } from 'node:path';
import { addKey } from '../../src/service/receipt-keys.ts';
import { makeFolder } from './folder.ts';

export async function sharedReceiptKeys(): Promise<{ readonly UNDERTONE_RECEIPT_KEYS: string }> {
  const path = join(makeFolder(), 'receipt-keys.json');
  await addKey(path, new Date());
  return { UNDERTONE_RECEIPT_KEYS: path };
}
