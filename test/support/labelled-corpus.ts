/** Recordings with labels that can be learned: pieces of a voice at six speeds, bright or dull. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { wavFile } from '../../benchmarks/upload-body.ts';
import { createRandom } from '../../src/tools/evaluate/statistics.ts';
import { samplesOf } from './analysis.ts';
import { makeFolder } from './folder.ts';

const pieceSamples = 16_000 * 1.5;
const speakers = 6;

/** The first half of the speakers is `train.csv`, the other half `test.csv`; `shuffled.csv` has the first with other labels. */
export function makeCorpus(count: number) {
  const voice = samplesOf('speech.wav');
  const folder = makeFolder();
  const random = createRandom(2);
  mkdirSync(join(folder, 'audio'));
  const rows = Array.from({ length: count }, (_, index) => {
    const speaker = index % speakers;
    const label = random() < 0.5 ? 'bright' : 'dull';
    const speed = 0.8 + 0.08 * speaker;
    const start = Math.floor(random() * (voice.length - speed * pieceSamples - 1));
    const piece = Float32Array.from(
      { length: pieceSamples },
      (_, at) => voice[start + Math.floor(at * speed)] ?? 0,
    );
    const filtered = piece.map((sample, at) => {
      const last = piece[at - 1] ?? 0;
      return label === 'bright' ? sample - 0.9 * last : 0.5 * (sample + last);
    });
    writeFileSync(join(folder, 'audio', `${index}.wav`), wavFile(filtered));
    return { path: `audio/${index}.wav`, label, speaker: `s${speaker}` };
  });
  const write = (name: string, chosen: typeof rows) => {
    const file = join(folder, name);
    writeFileSync(
      file,
      ['path,label,speaker', ...chosen.map((row) => Object.values(row).join(',')), ''].join('\n'),
    );
    return file;
  };
  const train = rows.filter((_, index) => index % speakers < 4);
  const others = rows.filter((_, index) => index % speakers >= 4);
  const meaningless = train.map((row) => ({ ...row, label: random() < 0.5 ? 'bright' : 'dull' }));
  return {
    folder,
    train: write('train.csv', train),
    test: write('test.csv', others),
    shuffled: write('shuffled.csv', meaningless),
  };
}
