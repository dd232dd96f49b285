/** What the page says: numbers, and the names and sentences of measures, warnings and errors. */
import { warnings } from '../../src/engine/warnings.ts';
import type { ValidationItem } from '../../src/service/errors.ts';
import type { AnalysisError } from './analyze.ts';
import type { Warning } from './report.ts';

export function score(value: number): string {
  return fixed(value, 2);
}

/** Without the sign of a value that rounds to zero. */
export function fixed(value: number, digits: number): string {
  return value.toFixed(digits).replace(/^-(0(?:\.0*)?)$/, '$1');
}

export function share(value: number): string {
  return `${Math.round(100 * value)} %`;
}

export function signed(value: number): string {
  const size = score(Math.abs(value));
  if (Number(size) === 0) return size;
  return `${value < 0 ? '−' : '+'}${size}`;
}

/** `75.4` as `1:15`. */
export function clock(seconds: number): string {
  const whole = Math.floor(seconds);
  return `${Math.floor(whole / 60)}:${String(whole % 60).padStart(2, '0')}`;
}

/** `75.4` as `1:15.4`, and `75` as `1:15`. */
export function tick(seconds: number): string {
  const tenths = Math.round(10 * seconds);
  const rest = tenths % 10;
  return clock(Math.floor(tenths / 10)) + (rest === 0 ? '' : `.${rest}`);
}

/** Seconds below a minute, otherwise minutes and seconds. */
export function length(value: number): string {
  return value < 59.95 ? seconds(value) : clock(Math.round(value));
}

export function seconds(value: number): string {
  return `${value.toFixed(1)} s`;
}

export function bytes(count: number): string {
  return count < 1_000_000
    ? `${Math.max(1, Math.round(count / 1000))} kB`
    : `${(count / 1_000_000).toFixed(1)} MB`;
}

export function quantity(value: number, unit: string): string {
  const lowest = /^semitones re ([\d.]+) Hz$/.exec(unit)?.[1];
  if (lowest !== undefined) return `${Math.round(Number(lowest) * 2 ** (value / 12))} Hz`;
  if (unit === 'ratio') return score(value);
  const digits = Math.abs(value) >= 100 ? 0 : Math.abs(value) >= 10 ? 1 : 2;
  return `${fixed(value, digits)} ${unit.replace('1/min', 'per minute').replace('/s', ' per s').replace('/octave', ' per octave')}`;
}

// Keys of the report.

export function warningSentence(name: Warning): string {
  // A report of a later release may have others.
  return warnings[name]?.pageText ?? warnings[name]?.text ?? spaced(name);
}

/** By the key of a measure: its name, and what its number is. */
const measures: Readonly<Record<string, readonly [name: string, meaning: string]>> = {
  pause_ratio: [
    'Share of time in pauses',
    'Pauses of 0.25 s or more, as a share of speech and pauses: 0 is none, 1 is all.',
  ],
  pause_rate: ['Pauses', 'Pauses of 0.25 s or more in a minute.'],
  long_pause_rate: ['Long pauses', 'Pauses of 1 s or more in a minute.'],
  mean_pause: ['Length of a pause', 'The average, in seconds.'],
  mean_run: ['Speech between pauses', 'The average length of speech from one pause to the next, in seconds.'],
  mean_run_syllables: [
    'Syllables between pauses',
    'The average number of syllables from one pause to the next, estimated.',
  ],
  articulation_rate: ['Rate while speaking', 'Syllables in a second of speech, pauses left out.'],
  speech_rate: ['Rate, pauses included', 'Syllables in a second of speech and pauses.'],
  rate_variability: [
    'Variation of the rate',
    'How much the rate changes from second to second, as a share of its average: 0 is even.',
  ],
  hesitation_rate: [
    'Hesitations',
    'Filled pauses such as “um” and long vowels in a minute. No recordings in which people marked them confirm it.',
  ],
  pitch_level: ['Pitch', 'The middle pitch of the voice, Hz: a larger number sounds higher.'],
  pitch_range: [
    'Pitch range',
    'From the lowest to the highest tenth of the pitch: an octave is 12 semitones.',
  ],
  level_range: ['Loudness range', 'From the quietest to the loudest tenth of the voice, dB.'],
  spectral_tilt: [
    'Sharpness of the voice',
    'How much weaker the voice is an octave higher, dB: nearer to 0 is sharper, lower is softer.',
  ],
};

export function measureName(key: string): string {
  return measures[key]?.[0] ?? spaced(key);
}

/** Empty for a measure of a later release. */
export function measureMeaning(key: string): string {
  return measures[key]?.[1] ?? '';
}

/** `some_key` as `Some key`. */
function spaced(name: string): string {
  const words = name.replaceAll('_', ' ');
  return words.charAt(0).toUpperCase() + words.slice(1);
}

// Errors: a title and advice.

type Sentence = { readonly title: string; readonly advice: string };

/** By the last part of a validation error's type. */
const advices: Readonly<Record<string, Sentence>> = {
  empty: {
    title: 'The file is empty',
    advice: 'There is no sound in it. Choose another file.',
  },
  content_type: { title: 'This is not a recording', advice: 'Choose an audio or video file.' },
  unsupported: {
    title: 'This format is not supported',
    advice: 'Export the recording as WAV, MP3, M4A, FLAC, Ogg, WebM, AIFF, CAF, AMR, AU or W64.',
  },
  malformed: {
    title: 'The file is damaged',
    advice: 'It looks like audio, but none of it can be read. Export or copy it again.',
  },
  too_complex: {
    title: 'Reading the file takes too long',
    advice:
      'It takes far more work than others of its length. Export the recording again, preferably as WAV or FLAC.',
  },
  too_long: {
    title: 'The recording is too long',
    advice:
      'Cut it into shorter pieces. Who runs the service can raise the limit (UNDERTONE_JOB_MAX_SECONDS).',
  },
  too_large: {
    title: 'The file is too large',
    advice: 'Cut it, or save it in a compressed format such as M4A or Opus.',
  },
  too_many_channels: { title: 'There are too many channels', advice: 'Mix it down to stereo or mono.' },
  sample_rate: { title: 'The sample rate is out of range', advice: 'Export the recording at 16 to 48 kHz.' },
  channel: { title: 'There is no such channel', advice: 'Choose another channel, or the average of all.' },
  track: { title: 'There is no such audio track', advice: 'Choose another track.' },
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
    title: 'The token does not allow this',
    advice:
      'The playground needs a token for emotion and cognitive signals, with the scopes analyze:emotion and analyze:cognitive.',
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
