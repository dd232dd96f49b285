/** The bytes of a body in blocks that each own their buffer, so that they can be transferred to another thread. */

export type Blocks = {
  add(chunk: Buffer): void;
  /** Removes and returns the blocks that are full. */
  takeFull(): readonly Uint8Array[];
  /** Removes and returns all of them; the last one may be short. */
  takeAll(): readonly Uint8Array[];
};

/** Chunks of at least this length are kept as they came; shorter ones are gathered, since each block has a cost of its own. */
const wholeBytes = 16_384;
const gatherBytes = 65_536;

/** Only what is gathered is copied, and memory follows the bytes that came, not the length that a header claims. */
export function createBlocks(): Blocks {
  let full: Uint8Array[] = [];
  let open: Buffer | null = null;
  let filled = 0;

  function close(): void {
    if (open !== null) full.push(open.subarray(0, filled));
    open = null;
    filled = 0;
  }

  function gather(chunk: Buffer): void {
    open ??= Buffer.allocUnsafeSlow(gatherBytes);
    const copied = chunk.copy(open, filled);
    filled += copied;
    if (filled === gatherBytes) close();
    if (copied < chunk.length) gather(chunk.subarray(copied));
  }

  function takeFull(): readonly Uint8Array[] {
    const taken = full;
    full = [];
    return taken;
  }

  return {
    add(chunk) {
      const whole = chunk.length >= wholeBytes && chunk.length === chunk.buffer.byteLength;
      if (!whole) return gather(chunk);
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
