/** Live sessions that one owner opens and sends nothing on. */
import { connectStream } from '../../support/stream-client.ts';
import { exactly, type Options, type Row, within } from '../case.ts';
import { openAccount } from '../strangers/account.ts';
import { eventually, heldResources } from '../support/footprint.ts';
import type { Server } from '../support/service.ts';

/** Of a service with two workers. */
const sessions = 64;
const maxClosedSeconds = 15;

/** Opens sessions until one is refused. @returns how many */
async function openAll({ port }: Server, token: string): Promise<number> {
  for (let count = 0; ; count++) {
    const session = await connectStream(port, { token }).catch(() => null);
    if (session === null) return count;
  }
}

/** @param server that nobody has used, with open sign-up */
export async function ownerRows(server: Server, options: Options): Promise<Row[]> {
  const isFree = async () => (await heldResources(server.port)) === 0;
  // Until the service has counted the owners.
  let alone = 0;
  await eventually(async () => {
    alone += await openAll(server, server.token);
    return alone >= sessions;
  });
  const opened = performance.now();
  const closed = await eventually(isFree);
  const seconds = (performance.now() - opened) / 1000;
  const other = await openAccount(server, 'other');
  let ofTwo = sessions;
  await eventually(async () => {
    ofTwo = await openAll(server, server.token);
    const isShared = ofTwo < sessions;
    if (!isShared) await eventually(isFree);
    return isShared;
  });
  const ofOther = await openAll(server, other.token);
  return [
    exactly(sessions, 'sessions of the only owner', 'sessions', alone),
    within(
      maxClosedSeconds,
      options,
      'sessions without session.configure: the last is closed after',
      's',
      closed ? seconds : null,
    ),
    exactly(sessions / 2, 'sessions of one owner when there is another', 'sessions', ofTwo),
    exactly(sessions / 2, 'sessions of the other owner', 'sessions', ofOther),
  ];
}
