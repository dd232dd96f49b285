/** Uploads of synthetic speech, made once for each length. */
import { syntheticSignal } from '../../src/models/golden.ts';
import { multipart } from '../../test/support/upload.ts';
import { wavFile } from '../../test/support/wav.ts';

/** A form with a 16 kHz recording in the part `audio`. */
export function speechUpload(seconds: number, seed = 1): Buffer {
  const bytes = wavFile(syntheticSignal(seed, seconds));
  return multipart([{ name: 'audio', bytes, type: 'audio/wav', filename: 'x.wav' }]);
}
