/** Leaks LEAKED_BYTES for each request. */
import { subscribe } from 'node:diagnostics_channel';

const bytes = Number(process.env.LEAKED_BYTES);
const kept = [];
subscribe('http.server.request.start', () => kept.push(Buffer.alloc(bytes, 1)));
