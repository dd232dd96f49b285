/** The form part `segments`: who speaks when, as JSON or RTTM. */
import { z } from 'zod';
import type { SpeakerSegment } from '../engine/index.ts';
import { invalidPart, type ServiceError } from './errors.ts';
import { parseJson } from './json.ts';

const maxSegments = 1000;
const maxSpeakers = 20;
/** Letters, marks, numbers, punctuation, symbols, spaces and the joiners of Persian and Indic names; `u` counts code points. */
const speakerName = /^[\p{L}\p{M}\p{N}\p{P}\p{S}\p{Zs}\u200c\u200d]{1,64}$/u;

const time = (name: string) =>
  z.number({ error: `seconds for ${name}` }).min(0, { error: `0 or more for ${name}` });
const nameError = '1 to 64 printable characters for speaker';

const segmentSchema = z
  .object(
    {
      start: time('start'),
      end: time('end'),
      speaker: z.string({ error: nameError }).regex(speakerName, { error: nameError }),
    },
    { error: 'an object with start, end and speaker' },
  )
  .refine(({ start, end }) => end > start, { error: 'an end after the start' });

/** @throws ServiceError that names the first invalid segment by its index, or its line in RTTM */
export function parseSegments(text: string): readonly SpeakerSegment[] {
  const segments = /^\s*[[{"]/.test(text) ? parseList(text) : parseRttm(text);
  const speakers = new Set(segments.map(({ speaker }) => speaker));
  if (segments.length === 0 || segments.length > maxSegments) {
    throw wrong(`1 to ${maxSegments} segments`, '`segments`', String(segments.length));
  }
  if (speakers.size > maxSpeakers) {
    throw wrong(`at most ${maxSpeakers} speakers`, '`segments`', String(speakers.size));
  }
  return segments.toSorted((one, other) => one.start - other.start);
}

function parseList(text: string): readonly SpeakerSegment[] {
  let json: unknown;
  try {
    json = parseJson(text);
  } catch {
    throw wrong('a JSON array or RTTM', '`segments`', 'broken JSON');
  }
  if (!Array.isArray(json)) throw wrong('a JSON array or RTTM', '`segments`', 'other JSON');
  return json.slice(0, maxSegments + 1).map((value, index) => parseSegment(value, `\`segments[${index}]\``));
}

/** NIST RT-09: type, file, channel, start, duration, two unused fields, speaker, confidence, lookahead. */
function parseRttm(text: string): readonly SpeakerSegment[] {
  return text.split(/\r?\n/).flatMap((line, index) => {
    const fields = line.trim().split(/\s+/);
    const place = `line ${index + 1} of \`segments\``;
    if (line.trim() === '' || line.startsWith(';;') || fields[0] === 'SPKR-INFO') return [];
    const [type, , , start, duration, , , speaker] = fields;
    if (type !== 'SPEAKER' || speaker === undefined) {
      throw wrong('SPEAKER FILE CHANNEL START DURATION <NA> <NA> NAME', place, 'something else');
    }
    const value = { start: Number(start), end: Number(start) + Number(duration), speaker };
    return [parseSegment(value, place)];
  });
}

function parseSegment(value: unknown, place: string): SpeakerSegment {
  const parsed = segmentSchema.safeParse(value);
  if (parsed.success) return parsed.data;
  throw wrong(parsed.error.issues[0]?.message ?? '', place, 'something else');
}

function wrong(expected: string, place: string, got: string): ServiceError {
  return invalidPart('segments', 'segments', `Expected ${expected}, in ${place}, got ${got}`);
}
