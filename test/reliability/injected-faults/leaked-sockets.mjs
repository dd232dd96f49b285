/** Leaks every connection with LEAKED_BYTES. */
import { subscribe } from 'node:diagnostics_channel';

const bytes = Number(process.env.LEAKED_BYTES);
const kept = [];
subscribe('net.server.socket', ({ socket }) => kept.push(socket, Buffer.alloc(bytes, 1)));
