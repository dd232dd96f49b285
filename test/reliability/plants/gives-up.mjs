/** The service ends when it has to refuse something. */
import { ServerResponse } from 'node:http';

const { writeHead } = ServerResponse.prototype;
ServerResponse.prototype.writeHead = function (status, ...rest) {
  if (status === 503) process.exit(1);
  return writeHead.call(this, status, ...rest);
};
