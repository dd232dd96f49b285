import type { WriteStream } from 'node:tty';
import test from 'ava';
import { createLogger } from '../../src/service/log.ts';

test('lines for a terminal have the time, the level, the message, the fields and the stack', (t) => {
  let text = '';
  const terminal = {
    isTTY: true,
    write: (more: string) => {
      text += more;
    },
  };
  const logger = createLogger('info', terminal as unknown as WriteStream);
  logger.debug('hidden');
  logger.info({ route: '/v1/analyze', status: 200 }, 'request');
  logger.error({ err: new Error('lost') }, 'worker lost');
  const [request = '', lost = '', stack = ''] = text.split('\n');
  t.regex(request, /^\[\d\d:\d\d:\d\d\.\d{3}\] INFO: request \{"route":"\/v1\/analyze","status":200\}$/);
  t.regex(lost, /^\[[\d:.]+\] ERROR: worker lost$/);
  t.is(stack, 'Error: lost');
});
