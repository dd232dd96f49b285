/** The servers of `npm run bench -- http`, built as the service is. */
import service from '../../rolldown.config.mjs';

export default {
  ...service,
  input: { server: 'benchmarks/request/server.ts', thread: 'benchmarks/request/thread.ts' },
  output: { ...service.output, dir: '.cache/request' },
};
