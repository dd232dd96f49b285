import test from 'ava';
import { areCoresIdle, threadsPerTask } from '../../src/service/workers/protocol.ts';

test('a task uses idle cores, at most four, and one core each when all are busy', (t) => {
  t.deepEqual(
    [1, 2, 4, 64].map((cores) => threadsPerTask(cores)),
    [1, 2, 4, 4],
  );
  const allowed = (cores: number) => [1, 2, 3, 16, 17].filter((running) => areCoresIdle(running, cores));
  t.deepEqual(allowed(1), [1]);
  t.deepEqual(allowed(2), [1]);
  t.deepEqual(allowed(8), [1, 2]);
  t.deepEqual(allowed(64), [1, 2, 3, 16]);
});
