/** Containers of recordings, and raw data without one. */
import { extname } from 'node:path';

/** Containers that the decoder detects (native/core/decode/probe.cc), and the extensions of their files. */
export const containers: Readonly<Record<string, readonly string[]>> = {
  WAV: ['wav', 'wave', 'rf64'],
  MP3: ['mp3'],
  'MP4/M4A/3GP': ['mp4', 'm4a', 'm4b', 'm4v', 'mov', '3gp', '3g2'],
  AAC: ['aac'],
  FLAC: ['flac'],
  Ogg: ['ogg', 'oga', 'ogv', 'opus'],
  'WebM/Matroska': ['webm', 'mka', 'mkv'],
  AIFF: ['aif', 'aiff', 'aifc'],
  CAF: ['caf'],
  AMR: ['amr'],
  AU: ['au', 'snd'],
  W64: ['w64'],
};

/** Samples and frames without a header: what they are is in the content type or the extension alone. */
const rawFormats = [
  [
    'mu-law samples',
    ['basic', 'pcmu', 'mulaw', 'x-mulaw', 'x-ulaw'],
    ['ulaw', 'ul', 'mulaw', 'mu', 'pcmu'],
    'mulaw -ar 8000',
  ],
  ['A-law samples', ['pcma', 'alaw', 'x-alaw', 'x-alaw-basic'], ['alaw', 'al', 'pcma'], 'alaw -ar 8000'],
  ['PCM samples', ['l16', 'pcm', 'x-pcm', 'x-raw'], ['pcm', 'raw', 'sln', 's16le'], 's16le -ar 16000'],
  ['G.722', ['g722'], ['g722', '722'], 'g722'],
  ['G.726', ['g726', 'g726-32'], ['g726'], 'g726'],
  ['G.729', ['g729'], ['g729'], 'g729'],
  ['GSM', ['gsm', 'x-gsm'], ['gsm'], 'gsm'],
] as const;

/** What the content type of a recording, or else its name, says of raw data, and how to convert that; null: nothing. */
export function describeRaw(contentType: string | null, name: string): string | null {
  const subtype = /^audio\/(.+)$/.exec(contentType ?? '')?.[1] ?? '';
  const extension = extname(name).slice(1).toLowerCase();
  const has = (list: readonly string[], value: string) => list.includes(value);
  const found =
    rawFormats.find(([, types]) => has(types, subtype)) ??
    rawFormats.find(([, , extensions]) => has(extensions, extension));
  if (found === undefined) return null;
  return `raw ${found[0]}, which have no header: convert them, such as with ffmpeg -f ${found[3]} -i FILE recording.wav`;
}
