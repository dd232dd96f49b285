/** Bytes of WebSocket handshakes and frames (RFC 6455), of invalid ones too. */

export const opcodes = { continuation: 0, text: 1, binary: 2, close: 8, ping: 9, pong: 10 } as const;

export function handshake(token: string): Buffer {
  const lines = ['GET /v1/stream HTTP/1.1', 'Host: x', 'Connection: Upgrade', 'Upgrade: websocket'];
  const key = ['Sec-WebSocket-Version: 13', 'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ=='];
  const protocol = ['Sec-WebSocket-Protocol: undertone.v1', `Authorization: Bearer ${token}`];
  return Buffer.from([...lines, ...key, ...protocol, '', ''].join('\r\n'));
}

type Options = { readonly first?: number; readonly masked?: boolean; readonly final?: boolean };

/** @param first the first byte, in place of the opcode with the final bit */
export function frame(
  opcode: number,
  payload: Uint8Array | string,
  { final = true, masked = true, first = (final ? 0x80 : 0) | opcode }: Options = {},
): Buffer {
  const bytes = Buffer.from(payload);
  const mask = masked ? 0x80 : 0;
  const head = Buffer.alloc(bytes.length < 126 ? 2 : bytes.length < 2 ** 16 ? 4 : 10);
  head[0] = first;
  if (head.length === 2) head[1] = mask | bytes.length;
  else if (head.length === 4) {
    head[1] = mask | 126;
    head.writeUInt16BE(bytes.length, 2);
  } else {
    head[1] = mask | 127;
    head.writeBigUInt64BE(BigInt(bytes.length), 2);
  }
  // A mask of zeros changes no byte.
  return Buffer.concat([head, Buffer.alloc(masked ? 4 : 0), bytes]);
}
