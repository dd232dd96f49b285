import { parentPort, workerData } from 'node:worker_threads';
import { type DecodeOptions, decode, extract, type FeatureSpec } from '../../src/audio.ts';

/** Decodes and extracts over and over, then posts the last features. */
const { bytes, options, spec } = workerData as {
  bytes: Uint8Array;
  options: DecodeOptions;
  spec: FeatureSpec;
};
const runs = Array.from({ length: 50 }, () => extract(decode(bytes, options).samples, spec));
const last = runs.at(-1);
parentPort?.postMessage(last, last ? [last.data.buffer as ArrayBuffer] : []);
