/** Last use of tokens to the minute, written in batches every few seconds. */

import { createDelayedWrite, type WriteFailures } from '../background-writes.ts';
import { type Database, runQuery } from '../database.ts';

const minuteMs = 60_000;
/** A later use than this is of a clock that was ahead. */
const maxAheadMs = 60 * minuteMs;
const rowsPerStatement = 500;

/** @param now ms since 1970 */
export function createLastUsed(database: Database, now: () => number, failures?: WriteFailures) {
  let unwritten = new Map<string, number>();
  let minute = 0;
  const seenThisMinute = new Set<string>();

  function mark(id: string): void {
    const time = now();
    if (time - (time % minuteMs) !== minute) {
      minute = time - (time % minuteMs);
      seenThisMinute.clear();
    }
    if (seenThisMinute.has(id)) return;
    seenThisMinute.add(id);
    unwritten.set(id, minute);
    delayed.schedule();
  }

  async function writeAll(): Promise<void> {
    const marks = unwritten;
    unwritten = new Map();
    try {
      for (const time of new Set(marks.values())) {
        const ids = [...marks.keys()].filter((id) => marks.get(id) === time).sort();
        for (let from = 0; from < ids.length; from += rowsPerStatement) {
          await write(ids.slice(from, from + rowsPerStatement), time);
        }
      }
    } catch (error) {
      for (const [id, time] of marks) if (!unwritten.has(id)) unwritten.set(id, time);
      throw error;
    }
  }

  /** Keeps a later minute that another process has written, unless its clock was ahead. */
  async function write(ids: readonly string[], time: number): Promise<void> {
    const update = database
      .updateTable('tokens')
      .set({ last_used_at: time })
      .where('id', 'in', ids)
      .where((row) =>
        row.or([
          row('last_used_at', 'is', null),
          row('last_used_at', '<', time),
          row('last_used_at', '>', now() + maxAheadMs),
        ]),
      );
    await runQuery(update.execute());
  }

  const delayed = createDelayedWrite(
    writeAll,
    failures && ((attempt) => failures.observe('last_used', attempt)),
  );
  /** `flush` keeps what could not be written. @throws ServiceError `storage_unavailable` */
  return { mark, flush: delayed.flush };
}
