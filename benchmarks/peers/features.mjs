/**
 * Times the feature extractor of transformers.js, installed in PACKAGES: features.mjs SAMPLES.f32 OUTPUT_FOLDER PACKAGES. Prints
 * what features.py prints, and leaves what transformers.js computes in OUTPUT_FOLDER/transformers.f32.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';

const [samplesFile, folder, packages] = process.argv.slice(2);
const require = createRequire(join(packages, 'package.json'));
const rate = 16_000;
const hop = 160;
const bins = 80;
const bytes = readFileSync(samplesFile).subarray(0, 4 * 10 * rate);
const samples = new Float32Array(bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.length));

async function measure(name, frames, rounds, run) {
  const ns = [];
  for (let round = -3; round < rounds; round++) {
    const before = process.cpuUsage();
    await run();
    const { user, system } = process.cpuUsage(before);
    if (round >= 0) ns.push((1000 * (user + system)) / frames);
  }
  console.log(JSON.stringify({ name, ns }));
}

/** As Whisper's preprocessor_config.json has it, but for 10 s instead of 30. */
async function transformers() {
  const { WhisperFeatureExtractor } = require('@huggingface/transformers');
  const extract = new WhisperFeatureExtractor({
    feature_size: bins,
    hop_length: hop,
    n_fft: 400,
    n_samples: samples.length,
    nb_max_frames: 3000,
    sampling_rate: rate,
  });
  let features;
  await measure('transformers', samples.length / hop, 15, async () => {
    features = (await extract(samples)).input_features;
  });
  const [, , frames] = features.dims;
  const rows = new Float32Array(features.data.length);
  for (let bin = 0; bin < bins; bin++) {
    for (let frame = 0; frame < frames; frame++)
      rows[frame * bins + bin] = features.data[bin * frames + frame];
  }
  writeFileSync(join(folder, 'transformers.f32'), rows);
}

await transformers();
