/** Files without audio, whatever their name. */

import { readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { createPrng } from '../support/prng.ts';
import { ffmpeg, generateFiles, type Recipe } from './encodings.ts';
import { ascii, element, number, webm } from './malformed.ts';

export type NonAudio = { readonly name: string; readonly bytes: Buffer };

const texts: Readonly<Record<string, string>> = {
  text: 'Once upon a time there was no sound at all.\n'.repeat(40),
  'one letter': 'x',
  json: '{"status": "ok", "signals": {"valence": 0.5}}',
  csv: 'start,end,label\n0.0,1.5,speech\n',
  html: '<!doctype html><html><body><audio src="a.mp3"></audio></body></html>',
  xml: '<?xml version="1.0"?><note><to>You</to></note>',
  svg: '<svg xmlns="http://www.w3.org/2000/svg" width="8" height="8"><rect width="8" height="8"/></svg>',
  'm3u8 playlist of a file':
    '#EXTM3U\n#EXT-X-TARGETDURATION:10\n#EXTINF:10,\nfile:///etc/passwd\n#EXT-X-ENDLIST\n',
  'm3u8 playlist of an address': '#EXTM3U\n#EXTINF:10,\nhttp://127.0.0.1:1/a.ts\n#EXT-X-ENDLIST\n',
  'pls playlist': '[playlist]\nFile1=http://127.0.0.1:1/\nNumberOfEntries=1\n',
  'concat script': "ffconcat version 1.0\nfile '/etc/passwd'\n",
  'cue sheet': 'FILE "a.wav" WAVE\n  TRACK 01 AUDIO\n    INDEX 01 00:00:00\n',
  subtitles: '1\n00:00:00,000 --> 00:00:02,000\nHello\n',
  webvtt: 'WEBVTT\n\n00:00.000 --> 00:02.000\nHello\n',
  'dash manifest': '<?xml version="1.0"?><MPD><Period><BaseURL>file:///etc/passwd</BaseURL></Period></MPD>',
  'sdp session': 'v=0\no=- 0 0 IN IP4 127.0.0.1\ns=x\nm=audio 9 RTP/AVP 0\n',
  script: '#!/bin/sh\necho hello\n',
  'words that start as audio': 'RIFF raff is a word; WAVE is another.\n',
  'other AMR': '#!AMRX is no header\n',
  pdf: '%PDF-1.7\n1 0 obj\n<< /Type /Catalog >>\nendobj\ntrailer << /Root 1 0 R >>\n%%EOF\n',
};

/** Encrypted audio. */
const encryptedWebm = () => {
  const key = element('5035', element('47e1', number(5, 1)), element('47e2', Buffer.alloc(16, 7)));
  return webm({ track: element('6d80', element('6240', element('5033', number(1, 1)), key)) });
};

function made(): readonly NonAudio[] {
  const prng = createPrng(1);
  const headers: Readonly<Record<string, Buffer>> = {
    midi: ascii('MThd\0\0\0\x06\0\0\0\x01\0\x60MTrk\0\0\0\x04\0\xff\x2f\0'),
    'java class': ascii('\xca\xfe\xba\xbe\0\0\0\x34'),
    webassembly: ascii('\0asm\x01\0\0\0'),
    sqlite: ascii('SQLite format 3\0'.padEnd(512, '\0')),
    font: ascii('\0\x01\0\0\0\x0c\0\x80\0\x03\0\x40'),
    icon: ascii('\0\0\x01\0\x01\0\x10\x10\0\0\x01\0\x20\0'),
    'asf movie': ascii('\x30\x26\xb2\x75\x8e\x66\xcf\x11\xa6\xd9\0\xaa\0\x62\xce\x6c'),
    'xz data': ascii('\xfd7zXZ\0\0\x04'),
    '7z archive': ascii('7z\xbc\xaf\x27\x1c\0\x04'),
    'rar archive': ascii('Rar!\x1a\x07\x01\0'),
    zip: ascii('PK\x03\x04\x14\0\0\0\x08\0'),
    tar: ascii(`${'audio.wav\0'.padEnd(257, '0')}ustar`),
    program: ascii('\x7fELF\x02\x01\x01'),
  };
  return [
    ...Object.entries(headers).map(([name, bytes]) => ({
      name,
      bytes: Buffer.concat([bytes, prng.bytes(3000)]),
    })),
    { name: 'encrypted WebM', bytes: encryptedWebm() },
    { name: 'gzip', bytes: gzipSync(Buffer.alloc(5000, 'x')) },
    ...[1, 2, 100, 10_000, 300_000].map((length) => ({
      name: `${length} random bytes`,
      bytes: prng.bytes(length),
    })),
    ...[1, 16, 100_000].map((length) => ({ name: `${length} zeros`, bytes: Buffer.alloc(length) })),
    { name: '100,000 ones', bytes: Buffer.alloc(100_000, 0xff) },
  ];
}

const picture = ['-f', 'lavfi', '-i', 'testsrc=s=64x64:d=1:r=5'];
const stills = ['png', 'jpg', 'gif', 'bmp', 'tiff', 'webp', 'ppm', 'tga'];
/** Films without a sound. */
const films: Readonly<Record<string, readonly string[]>> = {
  'film.mp4': ['-c:v', 'mpeg4'],
  'film.mov': ['-c:v', 'mjpeg'],
  'film.mkv': ['-c:v', 'mpeg4'],
  'film.webm': ['-c:v', 'libvpx', '-b:v', '100k'],
  'film.ogv': ['-c:v', 'libtheora'],
  'film.avi': ['-c:v', 'mpeg4'],
  'film.flv': ['-c:v', 'flv'],
  'film.ts': ['-c:v', 'mpeg2video'],
  'film.mpg': ['-c:v', 'mpeg2video'],
  'fragmented-film.mp4': ['-c:v', 'mpeg4', '-movflags', 'frag_keyframe+empty_moov'],
};

export async function nonAudioFiles(folder: string): Promise<readonly NonAudio[]> {
  const recipes: Recipe[] = [
    ...stills.map((ending) => ffmpeg(join(folder, `still.${ending}`), ...picture, '-frames:v', '1')),
    ...Object.entries(films).map(([file, options]) => ffmpeg(join(folder, file), ...picture, ...options)),
  ];
  await generateFiles('pictures', recipes);
  return [
    ...Object.entries(texts).map(([name, text]) => ({ name, bytes: Buffer.from(text) })),
    ...made(),
    ...recipes.map(({ file }) => ({ name: basename(file), bytes: readFileSync(file) })),
  ];
}
