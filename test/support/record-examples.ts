/**
 * Writes src/service/api/examples.json, the examples of the document, and the answer in docs/http-api.md, as the built service sends them;
 * failures.json and example.json of every folder of models; and the tables of documents that are made from the code.
 */
import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { describeDocuments } from '../../scripts/documents.ts';
import { runScript } from '../../scripts/run-script.ts';
import { composeReport, defaultOptions } from '../../src/engine/index.ts';
import { signals } from '../../src/engine/schema.ts';
import { createAnalyzer } from '../../src/node/models.ts';
import { modelSets } from '../../src/node/paths.ts';
import { parseConfig } from '../../src/service/config.ts';
import { analyzeFailure, readFailures } from '../../src/service/trust.ts';
import { sendExamples, shortened } from './example-requests.ts';
import { makeToken, requireBuild, startServer } from './server.ts';

const cleanups: (() => unknown)[] = [];

function format(value: object): string {
  const args = ['format', '--stdin-file-path=answers.json'];
  return execFileSync('node_modules/.bin/biome', args, { input: JSON.stringify(value), encoding: 'utf8' });
}

async function writeAnswers(modelsDir: string): Promise<void> {
  const analyzer = await createAnalyzer({ modelsDir, limits: parseConfig({}).limits });
  const answers: Record<string, object> = {};
  for (const failure of await readFailures()) answers[failure.file] = await analyzeFailure(analyzer, failure);
  writeFileSync(`${modelsDir}/failures.json`, format(answers));
  const audio = readFileSync('examples/call.ogg');
  const request = {
    ...defaultOptions,
    audio,
    channels: 'split',
    baselines: [],
    signals,
    cancel: null,
  } as const;
  const report = composeReport(request, await analyzer.analyze(request), 'example');
  writeFileSync(`${modelsDir}/example.json`, format(report));
}

await runScript(async () => {
  parseArgs();
  requireBuild();
  for (const [path, text] of Object.entries(await describeDocuments())) writeFileSync(path, text);
  for (const name of modelSets) await writeAnswers(`models/${name}`);

  try {
    const server = await startServer({ teardown: (clean) => cleanups.push(clean) });
    const narrow = makeToken(server, 'analyze:emotion');
    const answers = await sendExamples({ ...server, narrow });
    writeFileSync('src/service/api/examples.json', format(answers));
    const page = readFileSync('docs/http-api.md', 'utf8');
    const block = `\`\`\`json\n${format(shortened(answers.emotion?.body))}\`\`\`\n`;
    writeFileSync(
      'docs/http-api.md',
      page.replace(/^```json\n.*?^```\n/ms, () => block),
    );
  } finally {
    await Promise.all(cleanups.map((clean) => clean()));
  }
});
