/** A shell command in a pseudo-terminal, and the screen that it leaves in a terminal emulator. */
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import xterm from '@xterm/headless';

/** A root without /dev/pts has no terminal. */
export const hasTerminal = spawnSync('script', ['-qec', 'true', '/dev/null']).status === 0;

export type Screen = {
  readonly code: number | null;
  readonly raw: string;
  /** Rows of the screen from its top, without the empty ones at its end. */
  readonly rows: readonly string[];
  /** Of the cursor at the end. */
  readonly column: number;
};

export async function runInTerminal(
  command: string,
  columns: number,
  { cwd, onData }: { cwd?: string; onData?: (raw: string, write: (keys: string) => void) => void } = {},
): Promise<Screen> {
  // exec: keys such as Ctrl-C reach the command alone, not a shell around it.
  const line = `stty cols ${columns} rows 50; exec ${command}`;
  const child = spawn('script', ['-qec', line, '/dev/null'], cwd === undefined ? {} : { cwd });
  // The command may end before it reads a key.
  child.stdin.on('error', () => {});
  let raw = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    raw += text;
    onData?.(raw, (keys) => child.stdin.write(keys));
  });
  const [code] = await once(child, 'close');
  const terminal = new xterm.Terminal({ cols: columns, rows: 50, allowProposedApi: true });
  await new Promise<void>((resolve) => terminal.write(raw, resolve));
  const { active } = terminal.buffer;
  const rows = Array.from(
    { length: active.length },
    (_, at) => active.getLine(at)?.translateToString(true) ?? '',
  );
  while (rows.at(-1) === '') rows.pop();
  return { code, raw, rows, column: active.cursorX };
}
