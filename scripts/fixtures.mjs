// Makes the recordings that tests read, in build/fixtures: one synthetic voice in every container
// that the service takes. Nothing is made when this script has not changed since.

import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import * as fs from 'node:fs';
import * as path from 'node:path';
import { fileURLToPath } from 'node:url';

const script = fileURLToPath(import.meta.url);
const folder = path.resolve(path.dirname(script), '..', 'build', 'fixtures');

const sentence =
  'The quick brown fox jumps over the lazy dog, and then it rests for a while. ' +
  'On Monday morning, the train to the coast was late again.';

/** File name -> FFmpeg's output options; the input is 48 kHz mono. */
const encodings = {
  'speech-16k.wav': '-ar 16000 -c:a pcm_s16le',
  'speech-8k.wav': '-ar 8000 -c:a pcm_s16le',
  'speech-44k-stereo.wav': '-ar 44100 -ac 2 -c:a pcm_s16le',
  'speech-u8.wav': '-ar 16000 -c:a pcm_u8',
  'speech-s24.wav': '-c:a pcm_s24le',
  'speech-s32.wav': '-c:a pcm_s32le',
  'speech-f32.wav': '-c:a pcm_f32le',
  'speech-alaw.wav': '-ar 8000 -c:a pcm_alaw',
  'speech-mulaw.wav': '-ar 8000 -c:a pcm_mulaw',
  'speech-adpcm.wav': '-ar 16000 -c:a adpcm_ima_wav',
  'speech.mp3': '-ar 44100 -c:a libmp3lame -b:a 128k',
  'speech.flac': '-c:a flac',
  'speech.m4a': '-c:a aac -b:a 96k',
  'speech-alac.m4a': '-c:a alac',
  'speech.aac': '-c:a aac -b:a 96k -f adts',
  'speech-vorbis.ogg': '-c:a libvorbis',
  'speech-opus.ogg': '-c:a libopus -b:a 48k',
  'speech-flac.ogg': '-c:a flac -f ogg',
  'speech.webm': '-ac 2 -c:a libopus -b:a 64k',
  'speech.mka': '-c:a libvorbis',
  'speech.aiff': '-c:a pcm_s16be',
  'speech.caf': '-c:a pcm_s16le',
};

function run(command, args) {
  const result = spawnSync(command, args, { cwd: folder, stdio: ['ignore', 'inherit', 'inherit'] });
  if (result.status === 0) return;
  throw new Error(
    `\`${[command, ...args].join(' ')}\` failed${result.error ? `: ${result.error.message}` : ''}`,
  );
}

function ffmpeg(inputs, options, output) {
  run('ffmpeg', [
    '-v',
    'error',
    '-nostdin',
    '-y',
    ...inputs,
    '-fflags',
    '+bitexact',
    '-map_metadata',
    '-1',
    ...options,
    output,
  ]);
}

function make() {
  fs.rmSync(folder, { recursive: true, force: true });
  fs.mkdirSync(folder, { recursive: true });
  run('espeak-ng', ['-v', 'en-us', '-s', '150', '-w', 'voice.wav', sentence]);
  ffmpeg(['-i', 'voice.wav'], ['-ar', '48000', '-ac', '1', '-c:a', 'pcm_s16le'], 'speech.wav');
  for (const [name, options] of Object.entries(encodings)) {
    ffmpeg(['-i', 'speech.wav'], options.split(' '), name);
  }
  // Debian's FFmpeg has no AMR encoder; its SoX has.
  run('sox', ['speech.wav', '-r', '8000', '-c', '1', '-t', 'amr-nb', 'speech.amr']);
  ffmpeg(['-i', 'speech.amr'], ['-c:a', 'copy'], 'speech.3gp');
  const video = ['-f', 'lavfi', '-i', 'color=black:s=64x64:r=5', '-i', 'speech.wav'];
  ffmpeg(video, ['-shortest', '-c:v', 'mpeg4', '-c:a', 'aac'], 'speech-video.mp4');
  const lavfi = (source) => ['-f', 'lavfi', '-i', source];
  ffmpeg(lavfi('anullsrc=r=16000:cl=mono'), ['-t', '3', '-c:a', 'pcm_s16le'], 'silence.wav');
  ffmpeg(lavfi('sine=frequency=440:sample_rate=16000'), ['-t', '3', '-c:a', 'pcm_s16le'], 'tone.wav');
  ffmpeg(lavfi('anoisesrc=r=16000:seed=1:amplitude=0.3'), ['-t', '3', '-c:a', 'pcm_s16le'], 'noise.wav');
  fs.rmSync(path.join(folder, 'voice.wav'));
}

const stamp = path.join(folder, 'made-by');
const digest = createHash('sha256').update(fs.readFileSync(script)).digest('hex');
if (!fs.existsSync(stamp) || fs.readFileSync(stamp, 'utf8') !== digest) {
  make();
  fs.writeFileSync(stamp, digest);
}
