/** Malformed forms, sent to the service. */
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { negativeControl, none, type Options, type Row } from '../case.ts';
import { attack, rowsOf } from '../corpus/campaign.ts';
import { formOf } from '../corpus/forms.ts';
import { createPrng } from '../support/prng.ts';
import { buildService, type Server, withServer } from '../support/service.ts';

const shortCount = 3000;
const longCount = 20_000;
const path = '/v1/analyze';

export async function run({ long, seed, count }: Options): Promise<readonly Row[]> {
  buildService();
  const total = count ?? (long ? longCount : shortCount);
  const TMPDIR = mkdtempSync(join(tmpdir(), 'undertone-forms-'));
  const settings = { UNDERTONE_WORKERS: '2', UNDERTONE_QUEUE: '64', UNDERTONE_DEADLINE_S: '250', TMPDIR };
  try {
    return await withServer(settings, async (server) => {
      const rows = [...(await formRows(server, total, seed)), remainingRow(server, TMPDIR)];
      writeFileSync(join(TMPDIR, 'remaining'), '');
      return [...rows, negativeControl('a remaining file', [remainingRow(server, TMPDIR)])];
    });
  } finally {
    rmSync(TMPDIR, { recursive: true, force: true });
  }
}

async function formRows(server: Server, total: number, seed: number): Promise<Row[]> {
  const campaign = await attack(server, total, async (client, number) => {
    const { contentType, body } = formOf(createPrng(seed, number));
    const type = contentType === null ? {} : { 'Content-Type': contentType };
    const headers = { Authorization: `Bearer ${server.token}`, ...type };
    return { path, answer: await client.send('POST', path, body, headers) };
  });
  for (const { number, fault } of campaign.findings)
    console.error(`--seed ${seed}, number ${number}: ${fault}`);
  return rowsOf(campaign, server);
}

function remainingRow({ dataDir }: Server, temporary: string): Row {
  const uploads = readdirSync(dataDir).filter((name) => !/^undertone|secret|receipt-keys|\.db/.test(name));
  return none('files that remain', [...readdirSync(temporary), ...uploads], 'all');
}
