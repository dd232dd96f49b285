/** One request in twenty leaks a descriptor. */
import { subscribe } from 'node:diagnostics_channel';
import { openSync } from 'node:fs';

let requests = 0;
subscribe('http.server.request.start', () => {
  if (requests++ % 20 === 0) openSync('/dev/null');
});
