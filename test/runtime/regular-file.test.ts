import { execFileSync } from 'node:child_process';
import * as fs from 'node:fs';
import { join } from 'node:path';
import test from 'ava';
import { FileError, readRegularFile } from '../../src/node/files.ts';
import { makeFolder } from '../support/folder.ts';

const folder = fs.realpathSync(makeFolder());
const root = join(folder, 'base');
for (const name of ['base', 'base/deep', 'base-beside', 'other']) fs.mkdirSync(join(folder, name));
for (const name of ['base/deep/a', 'base-beside/a', 'other/a']) fs.writeFileSync(join(folder, name), name);
fs.symlinkSync('deep/a', join(root, 'within'));
fs.symlinkSync('../other/a', join(root, 'out'));
fs.symlinkSync('../other', join(root, 'outside'));
execFileSync('mkfifo', [join(root, 'pipe')]);

const read = async (path: string, roots: readonly string[]) =>
  (await readRegularFile(path, { maxBytes: 100, roots })).toString();

for (const path of ['base/deep/a', 'base/within', 'base/deep/../within', 'other/../base/deep/a'])
  test(`${path} is inside`, async (t) => {
    t.is(await read(join(folder, path), [root]), 'base/deep/a');
    t.is(await read(join(folder, path), ['/']), 'base/deep/a');
  });

for (const path of [
  'other/a',
  'base/../other/a',
  'base-beside/a',
  'base/out',
  'base/outside/a',
  'base',
  'absent',
])
  test(`${path} is not inside`, async (t) => {
    const error = await t.throwsAsync(read(join(folder, path), [root]), { instanceOf: FileError });
    t.is((error as FileError).got, 'none inside the allowed folders');
  });

test('one of several folders is enough', async (t) => {
  t.is(await read(join(folder, 'other/a'), [root, join(folder, 'other')]), 'other/a');
});

test('a pipe inside is not opened, and the size is checked before reading', async (t) => {
  await t.throwsAsync(read(join(root, 'pipe'), [root]), { message: /^a device, pipe or socket: / });
  await t.throwsAsync(readRegularFile(join(root, 'within'), { maxBytes: 3, setting: 'LIMIT' }), {
    message: /^11 bytes, more than 3 \(LIMIT\): /,
  });
});
