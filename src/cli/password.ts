/** A password or token from whoever types the command, or from what is piped into it; never from its arguments, which others can see. */
import { createInterface } from 'node:readline/promises';
import { type Readable, Writable } from 'node:stream';
import type { ReadStream, WriteStream } from 'node:tty';
import type { CliContext } from './context.ts';

const longestBytes = 4096;

/** @param prompt what to ask when a person sits there */
export async function readPassword({ stdin, stderr }: CliContext, prompt: string): Promise<string> {
  return stdin.isTTY ? ask(stdin, stderr, prompt) : firstLine(stdin);
}

/** Without its line break; at most a few thousand characters. */
export async function firstLine(input: Readable): Promise<string> {
  let text = '';
  for await (const chunk of input.setEncoding('utf8')) {
    text += chunk;
    if (text.includes('\n') || text.length > longestBytes) break;
  }
  return text.split(/\r?\n/)[0] ?? '';
}

/** What is typed is not shown. */
async function ask(stdin: ReadStream, stderr: WriteStream, prompt: string): Promise<string> {
  stderr.write(prompt);
  const silent = new Writable({ write: (_chunk, _encoding, done) => done() });
  const lines = createInterface({ input: stdin, output: silent, terminal: true });
  const left = new Promise<string>((resolve) => lines.once('close', () => resolve('')));
  try {
    return await Promise.race([lines.question(''), left]);
  } finally {
    lines.close();
    stderr.write('\n');
  }
}
