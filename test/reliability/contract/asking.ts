/** Requests for the contract, and a record of what was answered. */
import { call, type Reply, wire } from '../../support/http.ts';
import { contentType, multipart, toneFile } from '../../support/upload.ts';

export type Asked = {
  /** METHOD /path as the document has it. */
  readonly operation: string;
  /** Where that is not the path of the operation. */
  readonly path?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: Uint8Array | string;
};

/** Told every answer. */
export type Witness = (operation: string, status: number, body: unknown) => void;

export const analysisOperations = ['emotion', 'cognitive'].map((signal) => `POST /v1/analyze/${signal}`);
analysisOperations.push('POST /v1/analyze');
export const isAccount = (operation: string): boolean => operation.includes(' /account/');

const sound = multipart([{ name: 'audio', bytes: toneFile(1) }]);

/** A request that is right, but for what `change` makes of it. */
export function upload(operation: string, token: string, change: Partial<Asked> = {}): Asked {
  const headers = { Authorization: `Bearer ${token}`, 'Content-Type': contentType, ...change.headers };
  return { operation, body: sound, ...change, headers };
}

export async function ask(port: number, witness: Witness, asked: Asked): Promise<Reply> {
  const [method = '', path = ''] = asked.operation.split(' ');
  const { headers = {}, body } = asked;
  const wanted = { method, path: asked.path ?? path, headers, ...(body === undefined ? {} : { body }) };
  const reply = await call(port, wanted);
  witness(asked.operation, reply.status, toJson(reply.body));
  return reply;
}

/** Bytes of which no client would make a request. */
export async function askRaw(port: number, witness: Witness, operation: string, lines: string) {
  const { socket, ended } = await wire(port);
  socket.write(`${operation} HTTP/1.1\r\n${lines}`);
  const answer = await ended();
  socket.destroy();
  const status = Number(/^HTTP\/1\.1 (\d{3}) /.exec(answer)?.[1]);
  witness(operation, status, toJson(answer.slice(answer.indexOf('\r\n\r\n') + 4)));
}

function toJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}
