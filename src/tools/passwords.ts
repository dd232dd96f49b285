/** Reads a password or token from a terminal or a pipe; never from arguments, which other users can see. */

import { createInterface } from 'node:readline/promises';
import { type Readable, Writable } from 'node:stream';
import type { ReadStream, WriteStream } from 'node:tty';
import type { CliContext } from './context.ts';

const maxLength = 4096;

/** @param prompt shown on a terminal only */
export async function readPassword({ stdin, stderr }: CliContext, prompt: string): Promise<string> {
  return stdin.isTTY ? promptSilently(stdin, stderr, prompt) : firstLine(stdin);
}

/** Returns the first line, without its line break. Reads little more than `maxLength` characters. */
async function firstLine(input: Readable): Promise<string> {
  let text = '';
  for await (const chunk of input.setEncoding('utf8')) {
    text += chunk;
    if (text.includes('\n') || text.length > maxLength) break;
  }
  return text.split(/\r?\n/)[0] ?? '';
}

/** Does not echo the input. */
async function promptSilently(stdin: ReadStream, stderr: WriteStream, prompt: string): Promise<string> {
  stderr.write(prompt);
  const silent = new Writable({ write: (_chunk, _encoding, done) => done() });
  const lines = createInterface({ input: stdin, output: silent, terminal: true });
  const closed = new Promise<string>((resolve) => lines.once('close', () => resolve('')));
  try {
    return await Promise.race([lines.question(''), closed]);
  } finally {
    lines.close();
    stderr.write('\n');
  }
}
