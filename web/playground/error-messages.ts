/** Error messages: a title and advice. */
import type { ValidationItem } from '../../src/service/errors.ts';
import type { AnalysisError } from './analyze.ts';

type Sentence = { readonly title: string; readonly advice: string };

/** By the last part of a validation error's type. */
const advices: Readonly<Record<string, Sentence>> = {
  empty: {
    title: 'The file is empty',
    advice: 'It has no bytes or no samples. Choose another file.',
  },
  content_type: { title: 'This is not a recording', advice: 'Choose an audio or video file.' },
  unsupported: {
    title: 'This format is not supported',
    advice: 'Export the recording as WAV, MP3, M4A, FLAC, Ogg, WebM, AIFF, CAF, AMR, AU or W64.',
  },
  malformed: {
    title: 'The file is damaged',
    advice: 'It has an audio format, but no frame decodes. Export or copy it again.',
  },
  too_complex: {
    title: 'Decoding the file needs too much time',
    advice:
      'Its complexity exceeds what its length justifies. Export the recording again, preferably as WAV or FLAC.',
  },
  too_long: {
    title: 'The recording is too long',
    advice: 'Cut it into shorter pieces. UNDERTONE_JOB_MAX_SECONDS sets the limit.',
  },
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
    title: 'The token lacks a scope',
    advice:
      'The playground needs both scopes, analyze:emotion and analyze:cognitive. Create a token with both.',
  },
  408: { title: 'The upload took too long', advice: 'Try a shorter recording or a faster connection.' },
  429: { title: 'Too many requests', advice: 'Wait a moment, then try again.' },
  503: { title: 'The service is busy', advice: 'Wait a moment, then try again.' },
};

const unreachable: Sentence = {
  title: 'The service cannot be reached',
  advice: 'Check that it is running and that you are connected, then try again.',
};

const lost: Sentence = {
  title: 'The live session was interrupted',
  advice: 'The service did not accept it, or the connection was lost. The recording is still in this page.',
};

/** By the reason of `session.ended`. */
const ends: Readonly<Record<string, Sentence>> = {
  tooLong: {
    title: 'The session reached its longest duration',
    advice: 'The report is of everything until then. Press Live again to continue.',
  },
  draining: {
    title: 'The service is being restarted',
    advice: 'The report is of everything until then. Press Live again in a minute.',
  },
};

const overloaded: Sentence = {
  title: 'The service has no memory for more audio',
  advice: 'The report is of everything until then. Wait a moment, then press Live again.',
};

/** Explains why the service ended a session, after its report. */
export function explainEnd(reason: string): Sentence {
  return ends[reason] ?? overloaded;
}

export function explain(fault: AnalysisError): Sentence {
  if (fault.kind === 'unreachable') return unreachable;
  if (fault.kind === 'lost') return lost;
  const item = firstItem(fault.body);
  if (item !== null) return explainItem(item);
  const known = statuses[fault.status];
  if (known !== undefined) return known;
  return {
    title: `The service returned ${fault.status}`,
    advice: 'Internal error of the service. Try again; its log has the cause.',
  };
}

function explainItem({ loc, msg, type }: ValidationItem): Sentence {
  const known = advices[type.split('.').at(-1) ?? ''];
  if (known === undefined) return { title: 'The recording was rejected', advice: msg };
  const where = loc.at(-1) === 'baseline' ? 'Baseline: ' : '';
  return { title: `${where}${known.title}`, advice: `${known.advice} (${msg})` };
}

function firstItem(body: unknown): ValidationItem | null {
  if (typeof body !== 'object' || body === null || !('detail' in body) || !Array.isArray(body.detail))
    return null;
  return (body.detail[0] as ValidationItem | undefined) ?? null;
}
