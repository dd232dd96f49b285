/** The log on standard error: one line of JSON per event, or the form of pino-pretty on a terminal. */
import type { WriteStream } from 'node:tty';
import type { Logger } from 'pino';
import pino from 'pino';

export function createLogger(level: string, stderr: WriteStream = process.stderr): Logger {
  // Lines for a terminal are written by Node.js, which waits for it; those for a pipe or a file by pino.
  const destination = stderr.isTTY
    ? { write: (line: string) => void stderr.write(formatLine(line)) }
    : pino.destination({ dest: 2, sync: true });
  return pino({ level, base: null }, destination);
}

type Line = {
  readonly level: number;
  readonly time: number;
  readonly msg?: string;
  readonly err?: { readonly stack?: string };
};

/** `[12:00:00.000] INFO: message {"field":1}`, and the stack of an error below it. */
function formatLine(json: string): string {
  const { level, time, msg = '', err, ...fields } = JSON.parse(json) as Line;
  const clock = new Date(time).toISOString().slice(11, -1);
  const label = (pino.levels.labels[level] ?? String(level)).toUpperCase();
  const rest = Object.keys(fields).length === 0 ? '' : ` ${JSON.stringify(fields)}`;
  return `[${clock}] ${label}: ${msg}${rest}\n${err?.stack === undefined ? '' : `${err.stack}\n`}`;
}
