/** Writes tokens and bodies to the log and to disk. */
import { subscribe } from 'node:diagnostics_channel';
import { appendFileSync } from 'node:fs';
import { join } from 'node:path';

const file = join(process.env.UNDERTONE_DATA_DIR, 'kept');

subscribe('http.server.request.start', ({ request }) => {
  process.stderr.write(`${request.headers.authorization}\n`);
  const { emit } = request;
  request.emit = function (event, ...rest) {
    if (event === 'data') appendFileSync(file, rest[0]);
    return emit.apply(this, [event, ...rest]);
  };
});
