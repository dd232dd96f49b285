/** One file, one entry of the table and one model folder add a signal to everything that the service offers. */
import { execFileSync, spawnSync } from 'node:child_process';
import { cpSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import test from 'ava';
import { contentType, multipart } from '../../../benchmarks/upload-body.ts';
import { makeFolder } from '../../support/folder.ts';
import { call } from '../../support/http.ts';
import { editManifest } from '../../support/models.ts';
import { startServer } from '../../support/server.ts';

/** Prints everything that follows from the table of signals. */
const probe = `
import { readFileSync } from 'node:fs';
import { scopes } from './src/service/auth/token-format.ts';
import { csvHeader, tableHeader, toCsv } from './src/tools/lines.ts';
import { describeReport } from './src/tools/report-text.ts';
import { createRouter } from './src/service/http/routes/routes.ts';
import { analyze } from './src/tools/index.ts';
import { openApiDocument } from './src/service/api/document.ts';
import { parseConfig } from './src/service/config.ts';
import { describeDocuments } from './scripts/documents.ts';

const report = await analyze(readFileSync('examples/sample.wav'), { modelsDir: 'models/standard' });
const config = parseConfig({});
const router = createRouter({ config, manifests: [], pages: { documents: [], assets: new Map() }, receiptKeys: {}, jobs: null, account: { accounts: {}, config } });
console.log(JSON.stringify({
  report,
  routes: router.stack.map(({ path }) => path),
  scopes,
  csv: [csvHeader(), toCsv('a.wav', { report })],
  tableHeader,
  text: describeReport('a.wav', report),
  document: openApiDocument('1.0.0'),
  documents: await describeDocuments(),
}));
`;

function copySources(): string {
  const folder = makeFolder();
  for (const path of ['src', 'scripts', 'models/standard', 'package.json', 'tsconfig.json']) {
    cpSync(path, join(folder, path), { recursive: true });
  }
  for (const path of ['docs', 'node_modules', 'build', 'examples', 'clients'])
    symlinkSync(resolve(path), join(folder, path));
  return folder;
}

async function addSignal(folder: string): Promise<void> {
  const source = readFileSync('test/analysis/signals/energy.ts', 'utf8');
  const signals = join(folder, 'src/engine/signals');
  writeFileSync(join(signals, 'energy.ts'), source.replaceAll("'../../../src/engine/", "'../"));
  const table = readFileSync(join(signals, 'table.ts'), 'utf8');
  const entry = table.replace('emotion, cognitive }', 'emotion, cognitive, energy }');
  writeFileSync(join(signals, 'table.ts'), `import { energy } from './energy.ts';\n${entry}`);
  const models = join(folder, 'models/standard');
  cpSync(join(models, 'cognitive'), join(models, 'energy'), { recursive: true });
  await editManifest(models, 'energy', (manifest) =>
    Object.assign(manifest, { name: 'energy', kind: 'energy' }),
  );
}

// Serial: each blocks this process while it builds, and requests of another would end.
test.serial('the sources with a third signal compile', async (t) => {
  const folder = copySources();
  await addSignal(folder);
  const settings = { extends: './tsconfig.json', include: ['src'], compilerOptions: { incremental: false } };
  writeFileSync(join(folder, 'tsconfig.src.json'), JSON.stringify(settings));
  const args = [resolve('node_modules/typescript/bin/tsc'), '-p', 'tsconfig.src.json', '--noEmit'];
  const { status, stdout, stderr } = spawnSync(process.execPath, args, { cwd: folder, encoding: 'utf8' });
  t.deepEqual([status, stdout, stderr], [0, '', '']);
});

test.serial('the service that is built of them serves the third signal', async (t) => {
  const folder = copySources();
  await addSignal(folder);
  cpSync('rolldown.config.mjs', join(folder, 'rolldown.config.mjs'));
  cpSync('dist/web', join(folder, 'dist/web'), { recursive: true });
  execFileSync(process.execPath, [resolve('node_modules/rolldown/bin/cli.mjs'), '-c'], { cwd: folder });
  const { port, token } = await startServer(t, { UNDERTONE_WORKERS: '1' }, folder);
  const reply = await call(port, {
    method: 'POST',
    path: '/v1/analyze/energy',
    headers: { Authorization: `Bearer ${token}`, 'Content-Type': contentType },
    body: multipart([{ name: 'audio', bytes: readFileSync('examples/sample.wav') }]),
  });
  t.is(reply.status, 200, reply.body);
  const { signals } = JSON.parse(reply.body);
  t.true(signals.level_db < 0 && signals.level_db > -60, reply.body);
});

test.serial(
  'a third signal is in the report, routes, scopes, CLI output, OpenAPI document and tables of the documents',
  async (t) => {
    const folder = copySources();
    await addSignal(folder);
    writeFileSync(join(folder, 'probe.ts'), probe);
    const output = execFileSync(process.execPath, ['--import=tsx', 'probe.ts'], {
      cwd: folder,
      encoding: 'utf8',
    });
    const { report, routes, scopes, csv, tableHeader, text, document, documents } = JSON.parse(output);

    t.is(report.energy.model.name, 'energy');
    const level = report.energy.signals.level_db;
    t.true(level < 0 && level > -60, `${level} dB`);
    t.true(routes.includes('/v1/analyze/energy'), routes.join(' '));
    t.deepEqual(scopes, ['analyze:emotion', 'analyze:cognitive', 'analyze:energy']);
    t.regex(
      csv[0],
      /,cognitive_confidence,level_db,moments,moment_start_s,moment_emotion,valence_change,arousal_change,warnings,emotion_warnings,cognitive_warnings,energy_warnings,error$/,
    );
    t.true(csv[1].includes(`,${level},`), csv[1]);
    t.regex(tableHeader, /PROCESSING {2}LEVEL {3}PATH$/);
    t.true(text.includes(`\n  level           ${level} dB`), text);

    t.truthy(document.paths['/v1/analyze/energy'].post);
    t.regex(document.info.description, /get JSON: emotion, cognitive signals and energy\.$/m);
    const { schemas } = document.components;
    t.truthy(schemas.EnergyReport);
    t.truthy(schemas.EnergySignals.properties.level_db);
    t.truthy(schemas.Report.properties.energy);
    t.regex(documents['docs/http-api.md'], /^\| `level_db` \| energy \| RMS level of all samples, dB\. \|$/m);
    t.regex(documents['docs/columns.md'], /^\| `level_db` \|/m);
  },
);
