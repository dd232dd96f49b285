/** The bytes of a body in blocks that own their ArrayBuffer, so that they can be transferred to another thread. */

type Blocks = {
  add(chunk: Buffer): void;
  /** Removes and returns the full blocks. */
  takeFull(): readonly Uint8Array[];
  /** Removes and returns all blocks; the last one may be short. */
  takeAll(): readonly Uint8Array[];
};

/** Chunks of at least this length become blocks without a copy; shorter chunks share a block. */
const minOwnBlockBytes = 16_384;
const sharedBlockBytes = 65_536;

/** Allocates by the bytes that arrived, not by Content-Length. */
export function createBlocks(): Blocks {
  let full: Uint8Array[] = [];
  let open: Buffer | null = null;
  let filled = 0;

  function close(): void {
    if (open !== null) full.push(open.subarray(0, filled));
    open = null;
    filled = 0;
  }

  function append(chunk: Buffer): void {
    open ??= Buffer.allocUnsafeSlow(sharedBlockBytes);
    const copied = chunk.copy(open, filled);
    filled += copied;
    if (filled === sharedBlockBytes) close();
    if (copied < chunk.length) append(chunk.subarray(copied));
  }

  function takeFull(): readonly Uint8Array[] {
    const taken = full;
    full = [];
    return taken;
  }

  return {
    add(chunk) {
      const isOwnBlock = chunk.length >= minOwnBlockBytes && chunk.length === chunk.buffer.byteLength;
      if (!isOwnBlock) return append(chunk);
      close();
      full.push(chunk);
    },
    takeFull,
    takeAll() {
      close();
      return takeFull();
    },
  };
}
