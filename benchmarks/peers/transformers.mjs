/**
 * A service in JavaScript: node:http, the feature extractors of transformers.js, and ONNX Runtime.
 * transformers.mjs PORT PACKAGES MODELS PROCESSES
 */
import cluster from 'node:cluster';
import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { createRequire } from 'node:module';
import { join } from 'node:path';

const [port, packages, models, processes] = process.argv.slice(2);
const rate = 16_000;
const bins = 80;
const hop = 160;

if (cluster.isPrimary) for (let index = 0; index < Number(processes); index++) cluster.fork();
else await serve();

async function serve() {
  const require = createRequire(join(packages, 'package.json'));
  const { ASTFeatureExtractor, WhisperFeatureExtractor } = require('@huggingface/transformers');
  const { InferenceSession, Tensor } = require('onnxruntime-node');
  const options = { intraOpNumThreads: 1, interOpNumThreads: 1 };
  const open = (name) => InferenceSession.create(readFileSync(join(models, name, 'weights.onnx')), options);
  const [vad, trunk, emotion] = await Promise.all(['vad', 'trunk', 'emotion'].map(open));
  const { params } = JSON.parse(readFileSync(join(models, 'vad', 'manifest.json'), 'utf8'));
  const { stateSize } = params.stream;
  const state = new Tensor('float32', new Float32Array(stateSize), [1, stateSize]);

  async function analyze(samples) {
    const extract = new WhisperFeatureExtractor({
      feature_size: bins,
      hop_length: hop,
      n_fft: 400,
      n_samples: samples.length,
      nb_max_frames: 3000,
      sampling_rate: rate,
    });
    const { data, dims } = (await extract(samples)).input_features;
    const frames = dims[2];
    const rows = new Float32Array(frames * bins);
    for (let bin = 0; bin < bins; bin++) {
      for (let frame = 0; frame < frames; frame++) rows[frame * bins + bin] = data[bin * frames + frame];
    }
    const features = new Tensor('float32', rows, [1, frames, bins]);
    await vad.run({ features, state });
    const extractKaldi = new ASTFeatureExtractor({
      num_mel_bins: bins,
      sampling_rate: rate,
      max_length: frames,
      do_normalize: false,
    });
    const { input_values: banks } = await extractKaldi(samples);
    const filterbanks = new Tensor('float32', banks.data, [1, frames, bins]);
    const { tokens } = await trunk.run({ filterbanks });
    const count = tokens.dims[1];
    const weights = new Tensor('float32', new Float32Array(count).fill(1), [1, count]);
    const found = await emotion.run({ tokens, weights });
    return Object.fromEntries(Object.entries(found).map(([name, tensor]) => [name, [...tensor.data]]));
  }

  createServer(async (request, response) => {
    const chunks = [];
    for await (const chunk of request) chunks.push(chunk);
    if (request.method === 'POST') {
      response.end(JSON.stringify(await analyze(samplesOf(Buffer.concat(chunks)))));
    } else response.end();
  }).listen(Number(port), '127.0.0.1');
}

/** The 16-bit PCM of the only part of a form: a WAV file without chunks before `data`. */
function samplesOf(form) {
  const start = form.indexOf('\r\n\r\n') + 4;
  const end = form.lastIndexOf('\r\n--');
  const pcm = form.subarray(start + 44, end);
  return Float32Array.from({ length: pcm.length >> 1 }, (_, index) => pcm.readInt16LE(2 * index) / 32_768);
}
