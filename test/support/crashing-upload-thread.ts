/** The upload thread, that ends when a block says so. */
import type { MessagePort } from 'node:worker_threads';
import type { UploadCommand } from '../../src/service/jobs/upload-protocol.ts';
import { run as runUploads } from '../../src/service/jobs/upload-thread.ts';

export function run(port: MessagePort): Promise<void> {
  port.on('message', (command: UploadCommand) => {
    if (command.kind === 'block' && Buffer.from(command.bytes).includes('END OF THE THREAD')) process.exit(3);
  });
  return runUploads(port);
}
