/** An account used from the account page and by a token. */

import { type AccountClient, createAccountClient, operationOf, password } from '../contract/visitor.ts';
import { analysis, exchange } from '../support/exchange.ts';
import type { Server } from '../support/service.ts';
import { speechUpload } from '../support/speech.ts';

export type Account = {
  readonly email: string;
  readonly accountClient: AccountClient;
  /** With both scopes. */
  readonly token: string;
  /** The status of the last answer on the account page. */
  lastStatus(): number;
};

const post = (path: string) => operationOf('POST', path);
const credentials = (email: string) => ({ email, password });

/** Signs up and creates a token. */
export async function openAccount(server: Server, name: string): Promise<Account> {
  const email = `${name}@home.example`;
  let status = 0;
  const accountClient = createAccountClient(server, (_operation, answered) => {
    status = answered;
  });
  await accountClient.ask(post('sign-up'), credentials(email));
  const scopes = ['analyze:emotion', 'analyze:cognitive'];
  const created = await accountClient.ask(post('tokens'), { name: 'ci', scopes });
  if (status !== 200) throw new Error(`Expected a token for ${name}, got ${status}`);
  return { email, accountClient, token: String(created.token), lastStatus: () => status };
}

export type Answer = { readonly what: string; readonly ok: boolean; readonly ms: number };

const upload = speechUpload(1);

/** An analysis, a log-in and an upload of a job. */
export async function useService(server: Server, { token, email, accountClient, lastStatus }: Account) {
  const asked = analysis({ port: server.port, token }, upload);
  const [analyzed, job] = [await exchange(asked), await exchange({ ...asked, path: '/v1/jobs' })];
  const started = performance.now();
  await accountClient.ask(post('log-in'), credentials(email));
  const answers: Answer[] = [
    { what: 'analysis', ok: analyzed.status === 200, ms: analyzed.ms },
    { what: 'job', ok: [200, 202].includes(job.status), ms: job.ms },
    { what: 'log-in', ok: lastStatus() === 200, ms: performance.now() - started },
  ];
  return answers;
}
