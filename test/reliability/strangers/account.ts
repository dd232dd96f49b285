/** One account, as its owner uses it: from the account page, and by a token. */

import { operationOf, password, type Visitor, visit } from '../contract/visitor.ts';
import { analysis, exchange } from '../load/exchange.ts';
import { speechUpload } from '../load/speech.ts';
import type { Server } from '../service.ts';

export type Account = {
  readonly email: string;
  readonly visitor: Visitor;
  /** With both scopes. */
  readonly token: string;
  /** The status of the last answer on the account page. */
  lastStatus(): number;
};

export const post = (path: string) => operationOf('POST', path);
export const credentials = (email: string) => ({ email, password });

/** Signs up and creates a token. */
export async function openAccount(server: Server, name: string): Promise<Account> {
  const email = `${name}@home.example`;
  let status = 0;
  const visitor = visit(server, (_operation, answered) => {
    status = answered;
  });
  await visitor.ask(post('sign-up'), credentials(email));
  const scopes = ['analyze:emotion', 'analyze:cognitive'];
  const created = await visitor.ask(post('tokens'), { name: 'ci', scopes });
  if (status !== 200) throw new Error(`Expected a token for ${name}, got ${status}`);
  return { email, visitor, token: String(created.token), lastStatus: () => status };
}

export type Answer = { readonly what: string; readonly ok: boolean; readonly ms: number };

const upload = speechUpload(1);

/** An analysis, a log-in and an upload of a job. */
export async function useService(server: Server, { token, email, visitor, lastStatus }: Account) {
  const asked = analysis({ port: server.port, token }, upload);
  const [analyzed, job] = [await exchange(asked), await exchange({ ...asked, path: '/v1/jobs' })];
  const started = performance.now();
  await visitor.ask(post('log-in'), credentials(email));
  const answers: Answer[] = [
    { what: 'analysis', ok: analyzed.status === 200, ms: analyzed.ms },
    { what: 'job', ok: [200, 202].includes(job.status), ms: job.ms },
    { what: 'log-in', ok: lastStatus() === 200, ms: performance.now() - started },
  ];
  return answers;
}
