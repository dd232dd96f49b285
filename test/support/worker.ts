/** `undertone worker` as its own process, beside a server of the tests. */
import { follow, type Running, startCli } from './cli.ts';

/** Resolves when it accepts jobs. */
export async function startWorker(
  t: { teardown(clean: () => unknown): void },
  env: Readonly<Record<string, string>>,
): Promise<Running> {
  const worker = follow(t, startCli(['worker'], { env }));
  await worker.printed(/^working/m);
  return worker;
}
