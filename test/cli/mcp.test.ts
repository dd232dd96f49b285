/** `undertone mcp`, by the client of the official SDK over standard input and output. */
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import test, { type ExecutionContext } from 'ava';
import { commandLine, runCli } from '../support/cli.ts';

const path = 'examples/sample.wav';

async function connect(t: ExecutionContext) {
  const [command, ...args] = commandLine(['mcp']) as [string, ...string[]];
  const client = new Client({ name: 'test', version: '1' });
  const transport = new StdioClientTransport({ command, args, stderr: 'pipe' });
  await client.connect(transport);
  t.teardown(() => client.close());
  const call = async (name: string, input: Record<string, unknown>) => {
    const { content, isError = false } = await client.callTool({ name, arguments: input });
    const [{ text }] = content as [{ readonly text: string }];
    return { text, isError };
  };
  return { client, call };
}

test.serial('analyze returns the report of the command line, and explain its reasons', async (t) => {
  const { client, call } = await connect(t);
  const { tools } = await client.listTools();
  t.deepEqual(
    tools.map(({ name }) => name),
    ['analyze', 'explain'],
  );
  const { stdout } = await runCli(['analyze', '--jsonl', path]);
  const { path: _, ...direct } = JSON.parse(stdout);
  const { timeline: __, segments: ___, ...emotion } = direct.emotion;
  const short = JSON.parse((await call('analyze', { path })).text);
  t.deepEqual(short.emotion, emotion);
  t.is(short.segments, undefined);
  const full = JSON.parse((await call('analyze', { path, timeline: true })).text);
  t.deepEqual(full.emotion, direct.emotion);
  t.deepEqual(full.cognitive, direct.cognitive);
  const { text } = await call('explain', { path });
  t.regex(text, /valence +0\.\d\d/i);
  for (const warning of [...direct.emotion.warnings, ...direct.cognitive.warnings]) {
    t.regex(text, new RegExp(`Warning ${warning}: \\w+`));
  }
  t.regex(text, /no diagnosis/);
  const page = await call('explain', { page: 'evidence' });
  t.regex(page.text, /^# Evidence/);
});

test.serial('explain names the measures that contributed, and their studies', async (t) => {
  const { call } = await connect(t);
  const { text } = await call('explain', { path });
  const { cognitive } = JSON.parse((await call('analyze', { path })).text);
  t.true(cognitive.contributions.cognitive_load.length > 0);
  for (const { measure, effect, source } of cognitive.contributions.cognitive_load) {
    t.true(text.includes(`${effect < 0 ? '' : '+'}${effect} (${source})`), measure);
  }
});

test.serial('errors of a tool are results, and the server goes on', async (t) => {
  const { client, call } = await connect(t);
  const missing = await call('analyze', { path: 'nowhere.wav' });
  t.true(missing.isError);
  t.regex(missing.text, /No such file: nowhere\.wav/);
  const noAudio = await call('analyze', { path: 'package.json' });
  t.true(noAudio.isError);
  t.regex(noAudio.text, /audio/);
  t.true((await call('analyze', { path, channel: 7 })).isError);
  t.true((await call('explain', {})).isError);
  t.true((await call('explain', { page: '../package' })).isError);
  t.is((await client.listTools()).tools.length, 2);
});

test.serial('the command ends with its standard input', async (t) => {
  const { code, stdout } = await runCli(['mcp'], { input: '' });
  t.deepEqual([code, stdout], [0, '']);
});
