/** Every comma of a body costs the main thread 100 microseconds. */
import { subscribe } from 'node:diagnostics_channel';

const comma = 0x2c;
const costMs = 0.1;

subscribe('http.server.request.start', ({ request }) => {
  const { emit } = request;
  request.emit = function (event, ...rest) {
    if (event === 'data') {
      const until = performance.now() + costMs * rest[0].filter((byte) => byte === comma).length;
      while (performance.now() < until);
    }
    return emit.apply(this, [event, ...rest]);
  };
});
