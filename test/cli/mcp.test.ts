/** `undertone mcp`, by the client of the official SDK over standard input and output. */
import { execFileSync } from 'node:child_process';
import * as fs from 'node:fs';
import { join } from 'node:path';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import test, { type ExecutionContext } from 'ava';
import { commandLine, runCli } from '../support/cli.ts';
import { makeFolder } from '../support/folder.ts';

const path = 'examples/sample.wav';

async function connect(t: ExecutionContext, options: readonly string[] = []) {
  const [command, ...args] = commandLine(['mcp', ...options]) as [string, ...string[]];
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
    t.regex(text, new RegExp(`^  warning +\\w.* \\(${warning}\\)$`, 'm'));
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

test.serial('analyze and explain separate channels and voices', async (t) => {
  const { call } = await connect(t);
  const stereo = JSON.parse((await call('analyze', { path: 'examples/call.ogg', channels: 'split' })).text);
  t.is(stereo.channels.length, 2);
  t.is(stereo.channels[0].emotion.timeline, undefined);
  t.deepEqual(Object.keys(stereo.channels[0].emotion.moments[0]).slice(0, 2), ['start_s', 'end_s']);
  for (const speakers of ['2', 2]) {
    const mono = JSON.parse((await call('analyze', { path: 'examples/call.ogg', speakers })).text);
    t.deepEqual(
      mono.speakers.map(({ speaker }: { speaker: string }) => speaker),
      ['1', '2'],
    );
  }
  const { text } = await call('explain', { path: 'examples/call.ogg', channels: 'split' });
  t.regex(text, /call\.ogg \(channel 0\)[\s\S]*call\.ogg \(channel 1\)/);
  t.is(text.match(/no diagnosis/g)?.length, 1);
  t.regex(text, /conversation\n +talk share +\d+ %/);
  const unknown = await call('analyze', { path, segments: path });
  t.true(unknown.isError);
  t.regex(unknown.text, /segments/);
  t.deepEqual(await call('analyze', { path, channels: 'split', speakers: 'auto' }), {
    text: 'Expected no `speakers` with `channels`, got both',
    isError: true,
  });
});

test.serial('analyze and explain compare a recording with baselines', async (t) => {
  const { call } = await connect(t, ['--root', 'examples']);
  const { stdout } = await runCli(['analyze', '--jsonl', '--baseline', path, path]);
  const own = JSON.parse((await call('analyze', { path, timeline: true, baseline: [path] })).text);
  t.deepEqual({ path: JSON.parse(stdout).path, ...own }, JSON.parse(stdout));
  t.is(own.cognitive.reference, 0.5);
  t.regex((await call('explain', { path, baseline: [path] })).text, /from baseline +valence/);
  t.deepEqual(await call('analyze', { path, baseline: ['package.json'] }), {
    text: 'Expected a readable file for `baseline`, got none inside the allowed folders',
    isError: true,
  });
  for (const several of [{ channels: 'split' }, { speakers: 2 }])
    t.deepEqual(await call('analyze', { path, ...several, baseline: [path] }), {
      text: `Expected no \`baseline\` with \`${Object.keys(several)}\`, got both`,
      isError: true,
    });
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

test.serial('a pipe, a device and a large file are refused unread', async (t) => {
  const { call } = await connect(t);
  const folder = makeFolder();
  execFileSync('mkfifo', [join(folder, 'pipe')]);
  fs.writeFileSync(join(folder, 'large'), '');
  fs.truncateSync(join(folder, 'large'), 2 ** 31);
  for (const file of ['/dev/null', join(folder, 'pipe'), join(folder, 'large')]) {
    for (const tool of ['analyze', 'explain']) {
      const { text, isError } = await call(tool, { path: file });
      t.true(isError);
      t.regex(
        text,
        /^Expected a readable file for `audio`, got (a device, pipe or socket|2147483648 bytes, more)/,
      );
    }
  }
});

test.serial('with --root, files outside the folders are refused, whether they exist or not', async (t) => {
  const folder = makeFolder();
  fs.copyFileSync(path, join(folder, 'inside.wav'));
  fs.symlinkSync('/etc/passwd', join(folder, 'link.wav'));
  const { call } = await connect(t, ['--root', folder, '--root', 'docs']);
  t.false((await call('analyze', { path: join(folder, 'inside.wav') })).isError);
  for (const file of [path, join(folder, 'link.wav'), join(folder, '../absent.wav'), '/etc/shadow']) {
    t.deepEqual(await call('analyze', { path: file }), {
      text: 'Expected a readable file for `audio`, got none inside the allowed folders',
      isError: true,
    });
  }
  const { code, stderr } = await runCli(['mcp', '--root', path], { input: '' });
  t.deepEqual([code, stderr], [2, `Expected a folder for \`--root\`, got "${path}"\n`]);
});

test.serial('the command ends with its standard input', async (t) => {
  const { code, stdout } = await runCli(['mcp'], { input: '' });
  t.deepEqual([code, stdout], [0, '']);
});
