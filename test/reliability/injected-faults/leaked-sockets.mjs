/** A closed connection keeps its descriptor. */
import { subscribe } from 'node:diagnostics_channel';
import { openSync } from 'node:fs';

const kept = [];
subscribe('net.server.socket', ({ socket }) => {
  socket.once('close', () => {
    for (let count = 0; count < 2; count++) kept.push(openSync('/dev/null'));
  });
});
