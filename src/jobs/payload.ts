/** What a job is asked to do, as it waits in Redis: sealed, since addresses may carry keys. */
import type { Vault } from './seal.ts';
import type { Sizes } from './waiting.ts';

export type Order = {
  readonly source:
    | { readonly kind: 'upload'; readonly sizes: Sizes }
    | { readonly kind: 'object'; readonly url: string };
  /** 0-based; null averages all channels. */
  readonly channel: number | null;
  readonly callback: string | null;
  readonly holder: string;
  /** Of the database that knows the job. */
  readonly installation: string;
};

export type SealedOrder = { readonly sealed: string };

export function sealOrder(order: Order, id: string, vault: Vault): SealedOrder {
  return { sealed: vault.seal(Buffer.from(JSON.stringify(order)), `${id}/order`).toString('base64') };
}

/** @throws Error when it was sealed with another secret */
export function openOrder({ sealed }: SealedOrder, id: string, vault: Vault): Order {
  return JSON.parse(vault.open(Buffer.from(sealed, 'base64'), `${id}/order`).toString());
}
