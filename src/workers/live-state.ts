/** The state of a live session between its steps: the main thread passes it on as bytes. */
import { deserialize, serialize } from 'node:v8';
import type { LiveState } from '../analysis/live.ts';

/** Serialized, in shared memory: a message to a thread copies nothing of it. */
export type SerializedState = Uint8Array<SharedArrayBuffer>;

export function serializeState(state: LiveState): SerializedState {
  const bytes = serialize(state);
  const serialized = new Uint8Array(new SharedArrayBuffer(bytes.length));
  serialized.set(bytes);
  return serialized;
}

/** In memory of this thread alone. */
export function deserializeState(serialized: SerializedState): LiveState {
  return deserialize(Buffer.from(serialized)) as LiveState;
}
