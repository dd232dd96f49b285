/**
 * npm run reliability pipecat, or livekit: types, tests and the output in the README of an example of the Python client,
 * with the real service.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { parseArgs } from 'node:util';
import { agentFolder, agents, agentVenv } from '../../scripts/client-venv.ts';
import { clients } from '../../scripts/clients.ts';
import { ExpectedError, requireNames, runScript } from '../../scripts/run-script.ts';
import { withServer } from '../reliability/support/service.ts';

const sample = 'examples/sample.wav';

/** @returns what it prints on standard output */
async function run(
  agent: string,
  program: string,
  args: readonly string[],
  env: Readonly<Record<string, string>> = {},
) {
  const sources = [clients.python, agentFolder(agent)].map((folder) => join(folder, 'src'));
  const child = spawn(join(agentVenv(agent), program), args, {
    env: {
      PATH: process.env.PATH,
      PYTHONPATH: [...sources, agentFolder(agent)].join(delimiter),
      MYPYPATH: sources.join(delimiter),
      ...env,
    },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let output = '';
  child.stdout.on('data', (chunk) => {
    output += chunk;
    process.stdout.write(chunk);
  });
  const [code] = await once(child, 'close');
  if (code !== 0) throw new ExpectedError(`${program} ${args.join(' ')} failed, see above`);
  return output;
}

await runScript(async () => {
  const { positionals } = parseArgs({ allowPositionals: true });
  const [agent = ''] = positionals;
  requireNames(agents, [agent]);
  const folder = agentFolder(agent);
  const example = join(folder, 'example.py');
  const config = ['--config-file', join(folder, 'pyproject.toml')];
  await run(agent, 'mypy', [...config, join(folder, 'src'), example]);

  await withServer({}, async ({ url, token }) => {
    await run(agent, 'python', [`test/clients/${agent}_test.py`], {
      UNDERTONE_URL: url,
      UNDERTONE_TOKEN: token,
      SAMPLE: sample,
      LOGURU_LEVEL: 'CRITICAL',
    });
    const output = await run(agent, 'python', [example, url, token, sample]);
    const readme = join(folder, 'README.md');
    const [, shown] = /^```text\n(.*?)^```$/ms.exec(readFileSync(readme, 'utf8')) ?? [];
    if (output !== shown)
      throw new ExpectedError(
        `Expected the output of ${example} as ${readme} shows it, got the output above:\n${shown ?? 'no block of text'}`,
      );
  });
});
