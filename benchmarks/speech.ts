/** Speech of any length: the sample that the project ships, over and over. */
import { readFileSync, renameSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { decode } from '../src/tools/index.ts';
import { root, runProgram } from './case.ts';
import { wavFile } from './upload-body.ts';

const sample = join(root, 'examples/sample.wav');

/** Encodes a file over and over; an interrupted run leaves no file at `path`. @param options of FFmpeg, with the length */
export function encodeLooped(path: string, options: readonly string[], source = sample): void {
  const unfinished = join(dirname(path), `unfinished-${basename(path)}`);
  const input = ['-nostdin', '-v', 'error', '-y', '-stream_loop', '-1', '-i', source];
  runProgram('ffmpeg', [...input, ...options, unfinished]);
  renameSync(unfinished, path);
}

/** A 16 kHz WAV file. `from`: where in the sample it begins, s. */
export function speechFile(seconds: number, from = 0): Buffer {
  const { samples } = decode(readFileSync(sample));
  const first = Math.round(from * 16_000);
  const at = (index: number) => samples[(first + index) % samples.length] as number;
  return wavFile(Float32Array.from({ length: Math.round(seconds * 16_000) }, (_, index) => at(index)));
}
