export function joinBlocks(blocks: readonly Uint8Array[]): Uint8Array {
  return blocks.length === 1 ? (blocks[0] as Uint8Array) : Buffer.concat(blocks);
}
