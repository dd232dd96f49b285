/** The progress of a command over files, and its bar on a terminal. */
import { escapeControls } from '../node/controls.ts';
import { type CliContext, writeLine } from './context.ts';

type Progress = {
  /** Counts a finished file. Writes `line` to standard output, above the bar. */
  step(line?: string | Uint8Array, path?: string): Promise<void>;
  /** Shows how far a long file is. @param part of it that is done, 0 to 1 */
  advance(path: string, part: number): void;
  /** Writes a line to standard error, above the bar; `path` stays on the line. */
  note(text: string, path?: string): void;
  end(summary: string): void;
};

const clearLine = Buffer.from('\r\x1b[K');
const barWidth = 30;
const defaultColumns = 80;

/**
 * Shows a bar on standard error if that is a terminal. The bar is cleared before each line and shorter than the terminal,
 * so that it needs neither a saved cursor nor a change of the terminal's modes.
 */
export function showProgress(total: number, { stdout, stderr }: CliContext): Progress {
  let shown = stderr.isTTY === true && total > 1;
  const started = performance.now();
  let done = 0;
  /** Of long files that are running. */
  const parts = new Map<string, number>();
  const clear = () => {
    if (shown) stderr.write(clearLine);
  };
  const draw = () => {
    const all = [...parts.values()].reduce((sum, part) => sum + part, done);
    const bar = describeProgress(all, total, (performance.now() - started) / 1000);
    clear();
    if (shown) stderr.write(bar.slice(0, (stderr.columns || defaultColumns) - 1));
  };
  draw();
  return {
    async step(line, path) {
      if (path !== undefined) parts.delete(path);
      if (line !== undefined) {
        if (stdout.isTTY) clear();
        await writeLine(stdout, line);
      }
      done++;
      draw();
    },
    advance(path, part) {
      shown = stderr.isTTY === true;
      parts.set(path, part);
      draw();
    },
    note(text, path) {
      clear();
      stderr.write(`${path === undefined ? '' : `${escapeControls(path)}: `}${text}\n`);
      draw();
    },
    end(summary) {
      clear();
      stderr.write(`${summary}\n`);
    },
  };
}

function describeProgress(done: number, total: number, seconds: number): string {
  const filled = Math.round((barWidth * done) / total);
  const bar = '█'.repeat(filled) + '░'.repeat(barWidth - filled);
  const rest = done === 0 ? '' : `, ${formatSeconds((seconds / done) * (total - done))} to go`;
  return `${bar} ${Math.floor(done)}/${countFiles(total)}${rest}`;
}

function formatSeconds(seconds: number): string {
  const whole = Math.ceil(seconds);
  if (whole < 60) return `${whole} s`;
  return `${Math.floor(whole / 60)} min ${whole % 60} s`;
}

export function countFiles(count: number): string {
  return `${count} ${count === 1 ? 'file' : 'files'}`;
}
