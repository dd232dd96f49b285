/** Uploads of speech, made once for each length. */
import { speechFile } from '../../benchmarks/speech.ts';
import { multipart } from '../../test/support/upload.ts';

/** A form with a 16 kHz recording in the part `audio`. */
export function speechUpload(seconds: number, seed = 1): Buffer {
  const bytes = speechFile(seconds, seed);
  return multipart([{ name: 'audio', bytes, type: 'audio/wav', filename: 'x.wav' }]);
}
