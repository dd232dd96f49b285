/** Live sessions read without the limits of frames, which replace the method `push` of a socket. */
import { Socket } from 'node:net';

const { push } = Socket.prototype;
Object.defineProperty(Socket.prototype, 'push', { get: () => push, set: () => {} });
