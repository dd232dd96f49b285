/** Writes src/openapi/examples.json, the examples of the document, and the answer in README.md: asked of the built service. */
import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { sendExamples, shortened } from './example-requests.ts';
import { makeToken, startServer } from './server.ts';

const cleanups: (() => unknown)[] = [];

function format(value: object): string {
  const args = ['format', '--stdin-file-path=answers.json'];
  return execFileSync('node_modules/.bin/biome', args, { input: JSON.stringify(value), encoding: 'utf8' });
}

try {
  const server = await startServer({ teardown: (clean) => cleanups.push(clean) });
  const narrow = makeToken(server, 'analyze:emotion');
  const answers = await sendExamples({ ...server, narrow });
  writeFileSync('src/openapi/examples.json', format(answers));
  const readme = readFileSync('README.md', 'utf8');
  const block = `\`\`\`json\n${format(shortened(answers.emotion?.body))}\`\`\`\n`;
  writeFileSync(
    'README.md',
    readme.replace(/^```json\n.*?^```\n/ms, () => block),
  );
} finally {
  await Promise.all(cleanups.map((clean) => clean()));
}
