/** The state of a live session between its steps: the main thread passes it on without a look inside. */
import { deserialize, serialize } from 'node:v8';
import type { LiveState } from '../analysis/live.ts';

/** Serialized, in shared memory: a message to a thread copies nothing of it. */
export type PackedState = Uint8Array<SharedArrayBuffer>;

export function packState(state: LiveState): PackedState {
  const bytes = serialize(state);
  const packed = new Uint8Array(new SharedArrayBuffer(bytes.length));
  packed.set(bytes);
  return packed;
}

/** In memory of this thread alone. */
export function unpackState(packed: PackedState): LiveState {
  return deserialize(Buffer.from(packed)) as LiveState;
}
