/** The service exits on the first 503. */
import { ServerResponse } from 'node:http';

const { writeHead } = ServerResponse.prototype;
ServerResponse.prototype.writeHead = function (status, ...rest) {
  if (status === 503) process.exit(1);
  return writeHead.call(this, status, ...rest);
};
