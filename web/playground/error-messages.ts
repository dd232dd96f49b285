/** Error messages: a title and advice. */
import type { AnalysisError } from './analyze.ts';

export type Sentence = { readonly title: string; readonly advice: string };

type Item = { readonly loc: readonly string[]; readonly msg: string; readonly type: string };

/** By the last part of a validation error's type. */
const advices: Readonly<Record<string, Sentence>> = {
  empty: {
    title: 'There is no sound in this file',
    advice: 'It holds no bytes or no samples. Choose another one.',
  },
  content_type: { title: 'This is not a recording', advice: 'Choose an audio or video file.' },
  unsupported: {
    title: 'This format is not one that can be read',
    advice: 'WAV, MP3, M4A, FLAC, Ogg, WebM, AIFF, CAF and AMR are. Export the recording in one of them.',
  },
  malformed: {
    title: 'The file is damaged',
    advice: 'It looks like audio, but nothing in it decodes. Export or copy it again.',
  },
  too_complex: {
    title: 'The file takes too long to decode',
    advice: 'It is far more work than its length justifies. Export the recording again, best as WAV or FLAC.',
  },
  too_long: { title: 'The recording is too long', advice: 'Cut it into shorter pieces.' },
  too_large: {
    title: 'The file is too large',
    advice: 'Cut it, or save it in a compressed format such as M4A or Opus.',
  },
  too_many_channels: { title: 'There are too many channels', advice: 'Mix it down to stereo or mono.' },
  sample_rate: { title: 'The sample rate is out of range', advice: 'Export the recording at 16 to 48 kHz.' },
  channel: { title: 'There is no such channel', advice: 'Choose another channel, or the average of all.' },
  insufficient_speech: {
    title: 'There is too little speech in the baseline',
    advice: 'Use at least half a second of speech, better ten seconds.',
  },
};

const statuses: Readonly<Record<number, Sentence>> = {
  401: {
    title: 'The token was not accepted',
    advice: 'It is unknown, expired or revoked. Log in again, or paste another token.',
  },
  403: {
    title: 'The token may not do this',
    advice:
      'The playground needs both scopes, analyze:emotion and analyze:cognitive. Make a token that has them.',
  },
  408: { title: 'The upload took too long', advice: 'Try a shorter recording or a faster connection.' },
  429: { title: 'Too many requests', advice: 'Wait a moment, then try again.' },
  503: { title: 'The service is busy', advice: 'Wait a moment, then try again.' },
};

const unreachable: Sentence = {
  title: 'The service cannot be reached',
  advice: 'Check that it is running and that you are connected, then try again.',
};

export function explain(fault: AnalysisError): Sentence {
  if (fault.kind === 'unreachable') return unreachable;
  const item = firstItem(fault.body);
  if (item !== null) return explainItem(item);
  const known = statuses[fault.status];
  if (known !== undefined) return known;
  return {
    title: `The service answered with ${fault.status}`,
    advice: 'Something went wrong on its side. Try again; its log says more.',
  };
}

function explainItem({ loc, msg, type }: Item): Sentence {
  const known = advices[type.split('.').at(-1) ?? ''];
  if (known === undefined) return { title: 'The recording was refused', advice: msg };
  const where = loc.at(-1) === 'baseline' ? 'Baseline: ' : '';
  return { title: `${where}${known.title}`, advice: `${known.advice} (${msg})` };
}

function firstItem(body: unknown): Item | null {
  if (typeof body !== 'object' || body === null || !('detail' in body) || !Array.isArray(body.detail))
    return null;
  return (body.detail[0] as Item | undefined) ?? null;
}
