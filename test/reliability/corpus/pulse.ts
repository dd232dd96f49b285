/** Whether the service goes on answering GET /health. */
import { get } from 'node:http';

export type Pulse = { stop(): { readonly asked: number; readonly failed: number } };

const everyMs = 100;
/** How quickly it answers is another case's figure. */
const patienceMs = 60_000;

export function watchHealth(port: number): Pulse {
  let [asked, failed] = [0, 0];
  const timer = setInterval(() => {
    asked++;
    const fail = () => {
      failed++;
    };
    const sent = get(
      { port, host: '127.0.0.1', path: '/health', timeout: patienceMs, agent: false },
      (response) => {
        response.resume();
        if (response.statusCode !== 200) fail();
      },
    );
    sent.on('timeout', () => sent.destroy(new Error('no answer')));
    sent.on('error', fail);
  }, everyMs);
  return {
    stop: () => {
      clearInterval(timer);
      return { asked, failed };
    },
  };
}
