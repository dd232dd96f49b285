/** Uploads of speech. */
import { speechFile } from '../../../benchmarks/speech.ts';
import { multipart } from '../../../benchmarks/upload-body.ts';

/** A form with a 16 kHz recording in the part `audio`. */
export function speechUpload(seconds: number): Buffer {
  const bytes = speechFile(seconds, 1);
  return multipart([{ name: 'audio', bytes, type: 'audio/wav', filename: 'x.wav' }]);
}
