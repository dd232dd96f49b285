/** npm run reliability pipecat: types, tests and the output in the README of the Pipecat example, with the real service. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { parseArgs } from 'node:util';
import { pipecatExample, pipecatVenv } from '../../scripts/client-venv.ts';
import { clients } from '../../scripts/clients.ts';
import { ExpectedError, runScript } from '../../scripts/run-script.ts';
import { withServer } from '../reliability/support/service.ts';

const sample = 'examples/sample.wav';
const sources = [clients.python, pipecatExample].map((folder) => join(folder, 'src'));
const example = join(pipecatExample, 'example.py');

/** @returns what it prints on standard output */
async function run(program: string, args: readonly string[], env: Readonly<Record<string, string>> = {}) {
  const paths = sources.join(delimiter);
  const child = spawn(join(pipecatVenv(), program), args, {
    env: { PATH: process.env.PATH, PYTHONPATH: paths, MYPYPATH: paths, ...env },
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
  parseArgs();
  const config = ['--config-file', join(pipecatExample, 'pyproject.toml')];
  await run('mypy', [...config, join(pipecatExample, 'src'), example]);

  await withServer({}, async ({ url, token }) => {
    await run('python', ['test/clients/pipecat_test.py'], {
      UNDERTONE_URL: url,
      UNDERTONE_TOKEN: token,
      SAMPLE: sample,
      LOGURU_LEVEL: 'CRITICAL',
    });
    const output = await run('python', [example, url, token, sample]);
    const readme = readFileSync(join(pipecatExample, 'README.md'), 'utf8');
    if (!readme.includes(output))
      throw new ExpectedError(`Expected the output of ${example} in its README.md, see above`);
  });
});
