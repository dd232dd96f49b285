/**
 * Writes the features of recordings with the shipped decoder and extractor.
 * node --import tsx training/features/extract.ts LIST ROOT SPEC OUT: LIST has one path below ROOT per line, SPEC is a feature
 * spec as JSON; OUT.f32 receives rows of float32 end to end, OUT.json the number of frames of each recording.
 */
import { closeSync, openSync, readFileSync, writeFileSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { argv, stderr } from 'node:process';
import { decode, extract } from '../../src/node/addon.ts';
import type { FeatureSpec } from '../../src/engine/platform.ts';

const limits = {
  seconds: 3600,
  channels: 8,
  minSampleRate: 4000,
  maxSampleRate: 384000,
  deadlineSeconds: 0,
};

function main([list, root, specJson, out]: string[]): void {
  if (list === undefined || root === undefined || specJson === undefined || out === undefined)
    throw new Error('Expected LIST ROOT SPEC OUT for `arguments`');
  const spec = JSON.parse(specJson) as FeatureSpec;
  const paths = readFileSync(list, 'utf8').split('\n').filter(Boolean);
  const frames: number[] = [];
  const file = openSync(`${out}.f32`, 'w');
  paths.forEach((path, index) => {
    const { samples } = decode(readFileSync(join(root, path)), {
      sampleRate: spec.sampleRate,
      channel: null, track: null,
      limits,
      cancel: null,
    });
    const features = extract(samples, spec);
    writeSync(file, new Uint8Array(features.data.buffer, features.data.byteOffset, features.data.byteLength));
    frames.push(features.frames);
    if (index % 1000 === 0) stderr.write(`${index} of ${paths.length} recordings\n`);
  });
  closeSync(file);
  writeFileSync(`${out}.json`, JSON.stringify({ frames }));
}

main(argv.slice(2));
