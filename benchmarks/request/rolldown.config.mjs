/** The servers of `npm run bench -- latency`, `peers` and `counts`, built as the service is. */
import service from '../../rolldown.config.mjs';

export default {
  ...service,
  input: ['server', 'scan-thread', 'graph-thread', 'models-thread'].map(
    (name) => `benchmarks/request/${name}.ts`,
  ),
  output: { ...service.output, dir: '.cache/request' },
};
