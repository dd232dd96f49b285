/** npm run fleet: starts the fleet, prints its address and a token, and stops it on Ctrl-C. */
import { parseArgs } from 'node:util';
import { buildService } from '../../benchmarks/service.ts';
import { runScript } from '../../scripts/run-script.ts';
import { startFleet } from './fleet.ts';
import { createToken } from './tokens.ts';

await runScript(async () => {
  parseArgs();
  buildService();
  const fleet = await startFleet();
  const token = createToken(fleet, 'fleet');
  for (const { name, url } of fleet.hosts) console.log(`${name}  ${url}`);
  console.log(`load balancer  ${fleet.url}`);
  console.log(
    `curl -H "Authorization: Bearer ${token}" -F audio=@examples/sample.wav ${fleet.url}/v1/analyze`,
  );
});
