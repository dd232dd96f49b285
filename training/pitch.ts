/**
 * Writes the pitch of recordings as the shipped code hears it.
 * node --import tsx training/pitch.ts LIST OUT: LIST has one path a line; OUT gets, for each, the samples and the pitch
 * in Hz as float32, each behind its length as uint32.
 */
import { closeSync, openSync, readFileSync, writeSync } from 'node:fs';
import { argv } from 'node:process';
import { decode, trackVoice } from '../src/audio.ts';

const limits = { seconds: 900, channels: 8, minSampleRate: 4000, maxSampleRate: 384_000, deadlineSeconds: 0 };
const options = { sampleRate: 16_000, channel: null, limits, cancel: null };

function main([list, out]: string[]): void {
  if (list === undefined || out === undefined) throw new Error('Expected LIST OUT for `arguments`');
  const file = openSync(out, 'w');
  let milliseconds = 0;
  let seconds = 0;
  for (const path of readFileSync(list, 'utf8').split('\n').filter(Boolean)) {
    const audio = decode(readFileSync(path), options);
    const started = process.cpuUsage();
    const { pitchHz } = trackVoice(audio.samples, audio.sampleRate);
    milliseconds += process.cpuUsage(started).user / 1000;
    seconds += audio.seconds;
    for (const values of [audio.samples, pitchHz]) {
      writeSync(file, Uint32Array.of(values.length));
      writeSync(file, values);
    }
  }
  closeSync(file);
  process.stdout.write(`${((10 * milliseconds) / seconds).toFixed(2)} ms CPU for 10 s\n`);
}

main(argv.slice(2));
