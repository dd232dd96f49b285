/** The state of a live session between its steps: the main thread passes it on as bytes. */

import { deserialize, serialize } from 'node:v8';
import type { LiveState } from '../../engine/index.ts';

/** Serialized, in shared memory: a message to a thread copies nothing of it. */
export type SerializedState = Uint8Array<SharedArrayBuffer>;

/** Room for states that grow. */
const stateBlockBytes = 2 ** 17;

/** @param spare is used when the state fits and fills half of it: V8 does not count shared memory, and collects it late */
export function serializeState(state: LiveState, spare: SharedArrayBuffer | null): SerializedState {
  const bytes = serialize(state);
  const room = stateBlockBytes * Math.ceil(bytes.length / stateBlockBytes);
  const fits = spare !== null && spare.byteLength >= bytes.length && spare.byteLength <= 2 * room;
  const serialized = new Uint8Array(fits ? spare : new SharedArrayBuffer(room), 0, bytes.length);
  serialized.set(bytes);
  return serialized;
}

/** In memory of this thread alone. */
export function deserializeState(serialized: SerializedState): LiveState {
  return deserialize(Buffer.from(serialized)) as LiveState;
}
