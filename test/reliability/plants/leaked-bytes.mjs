/** PLANTED_BYTES of every request are never let go. */
import { subscribe } from 'node:diagnostics_channel';

const bytes = Number(process.env.PLANTED_BYTES);
const kept = [];
subscribe('http.server.request.start', () => kept.push(Buffer.alloc(bytes, 1)));
