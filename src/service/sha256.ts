/** SHA-256 of bytes. */
import { createHash } from 'node:crypto';

/** Lower-case hexadecimal. */
export function sha256(bytes: Uint8Array): string {
  return createHash('sha256').update(bytes).digest('hex');
}
