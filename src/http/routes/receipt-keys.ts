/** GET /.well-known/undertone-keys.json: the public keys of receipts. */
import type { Router } from '@koa/router';
import type { ReceiptKeys } from '../../receipts/keys.ts';
import { sendJson } from '../respond.ts';
import type { State } from '../state.ts';

export const receiptKeysPath = '/.well-known/undertone-keys.json';

export function addReceiptKeyRoutes(router: Router<State>, { published }: ReceiptKeys): void {
  const json = JSON.stringify({ keys: published });
  router.get(receiptKeysPath, async function receiptKeys(context) {
    sendJson(context, json);
  });
}
