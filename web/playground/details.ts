/** Every number of a report and its files, on demand: measures, sound, downloads, the command that requests it, and its JSON. */
import { copyButton, element, fold } from '../elements.ts';
import type { AnalysisRequest, Answer, Recording } from './analyze.ts';
import { term } from './cards.ts';
import { isOfOne, partsOf } from './choice.ts';
import { createDownloads, save } from './downloads.ts';
import type { AudioBlock, Cognitive, Report, Rules } from './report.ts';
import { fixed, length, measureMeaning, measureName, quantity } from './wording.ts';

/** `voice`: its name, of several. */
export type DetailedReport = {
  readonly request: AnalysisRequest;
  readonly answer: Answer<Report>;
  readonly rules: Rules;
  readonly voice?: string | null;
};

/**
 * @param utterances null without scores
 * @param plane drawn in the page; null without valence and arousal
 */
export function createDetails(
  { request, answer, rules, voice = null }: DetailedReport,
  utterances: HTMLElement | null,
  plane: SVGElement | null,
): HTMLElement {
  const { report, json } = answer;
  const { measures } = report.cognitive;
  return element(
    'section',
    { class: 'card folds', 'aria-label': 'Details' },
    utterances,
    Object.keys(measures).length === 0
      ? null
      : fold('Measures: what was timed', createMeasuresTable(measures, rules.reference)),
    fold(
      'Sound: what the microphone, the room and the format did',
      createSoundTable(report.audio, isVoice(report)),
    ),
    fold('Save the report', createDownloads(request.recording, answer, voice, plane)),
    fold(
      'The same from a terminal',
      element(
        'p',
        { class: 'muted small' },
        'Put a token of yours in UNDERTONE_TOKEN; the answer is the same but for its request_id.',
      ),
      createCurlView(request),
    ),
    fold('The response as JSON', createJsonView(json)),
  );
}

function isVoice({ status, emotion }: Report): boolean {
  return status === 'ok' && !emotion.warnings.includes('music_or_noise');
}

// Measures and properties as tables: a name with its explanation, and a value.

function createMeasuresTable(measures: Cognitive['measures'], reference: Rules['reference']): HTMLElement {
  const rows = Object.entries(measures).map(([name, { value, unit, validated }]) => {
    const usual = reference[name];
    const median = usual === undefined ? '' : ` Usual is ${quantity(usual.median, usual.unit)}.`;
    return row(
      `${measureName(name)}${validated === false ? ' (not checked)' : ''}`,
      quantity(value, unit),
      `${measureMeaning(name)}${median}`,
    );
  });
  return createTable(rows);
}

/**
 * Properties of the recording, with a rating where one is possible.
 * @param judged whether the sound is a voice, of which words such as quiet can be said
 */
function createSoundTable(audio: AudioBlock, judged: boolean): HTMLElement {
  const word = (text: string) => (judged ? `, ${text}` : '');
  return createTable([
    row('Length', length(audio.duration_s)),
    row('Speech', length(audio.speech_s), 'Without pauses of 0.25 s or more.'),
    row('Format', `${audio.container}, ${audio.codec}`),
    row(
      'Sample rate',
      `${audio.sample_rate_hz / 1000} kHz`,
      'How finely the sound was recorded: 8 kHz is a telephone. The analysis uses 16 kHz.',
    ),
    row('Channels', String(audio.channels)),
    row(
      'Speech over noise',
      noise(audio.snr_db),
      'Level of the speech above the noise in pauses, 0 to 60 dB: under 10 is noisy, from 20 clean.',
    ),
    row(
      judged ? 'Level of the speech' : 'Level',
      `${fixed(audio.level_dbfs, 1)} dBFS${word(level(audio.level_dbfs))}`,
      '0 dBFS is the loudest that the format holds: under −30 is quiet, under −40 very quiet.',
    ),
    row(
      'Cut off (clipped)',
      clipped(audio.clipped_ratio),
      'Share of the sound that is too loud and cut off: more than 0.1 % is a warning.',
    ),
    row(
      'Highest tone (bandwidth)',
      `${(audio.bandwidth_hz / 1000).toFixed(1)} kHz${word(band(audio.bandwidth_hz))}`,
      'The highest tone with speech in it, at most 8 kHz: under 4.5 is like a telephone.',
    ),
  ]);
}

/** Long values break. */
function createTable(rows: readonly HTMLElement[]): HTMLElement {
  return element('table', { class: 'facts' }, element('tbody', {}, ...rows));
}

function row(name: string, value: string, explanation: string | null = null): HTMLElement {
  const title = explanation === null ? name : term(explanation, name);
  return element('tr', {}, element('th', { scope: 'row' }, title), element('td', { class: 'number' }, value));
}

function noise(snr: number | null): string {
  if (snr === null) return 'not measurable';
  return `${fixed(snr, 1)} dB, ${snr < 10 ? 'noisy' : snr < 20 ? 'fair' : 'clean'}`;
}

function level(dbfs: number): string {
  return dbfs < -40 ? 'very quiet' : dbfs < -30 ? 'quiet' : 'good';
}

function clipped(ratio: number): string {
  if (ratio === 0) return 'nothing';
  return ratio < 0.001 ? 'hardly anything' : `${fixed(100 * ratio, 1)} %`;
}

function band(hz: number): string {
  return hz < 4500 ? 'like a telephone' : 'wide';
}

// The command and the JSON.

function createCurlView(request: AnalysisRequest): HTMLElement {
  const line = curlLine(request, location.origin);
  const downloads = [request.recording, request.baseline].flatMap((one) =>
    one === null ? [] : [download(one)],
  );
  return element(
    'div',
    { class: 'stack' },
    code(line, 'code wrap', 'Command'),
    element('div', { class: 'row' }, copyButton('Copy the command', line), ...downloads),
  );
}

function createJsonView(json: string): HTMLElement {
  const pretty = JSON.stringify(JSON.parse(json), null, 2);
  return element(
    'div',
    { class: 'stack' },
    code(pretty, 'code', 'JSON'),
    element('div', { class: 'row' }, copyButton('Copy the JSON', pretty)),
  );
}

function code(text: string, kind: string, label: string): HTMLElement {
  return element(
    'pre',
    { class: kind, tabindex: '0', role: 'region', 'aria-label': label },
    element('code', {}, text),
  );
}

function download({ name, blob }: Recording): HTMLElement {
  const link = element('a', { href: '#', class: 'small' }, `Save ${name}`);
  link.addEventListener('click', (event) => {
    event.preventDefault();
    save(name, blob);
  });
  return link;
}

function curlLine({ recording, baseline, choice }: AnalysisRequest, origin: string): string {
  const parts = [
    'curl -H "Authorization: Bearer $UNDERTONE_TOKEN"',
    `-F ${file('audio', recording.name)}`,
    ...(baseline === null || !isOfOne(choice) ? [] : [`-F ${file('baseline', baseline.name)}`]),
    ...Object.entries(partsOf(choice)).map(([name, value]) => `-F ${name}=${value}`),
    `${origin}/v1/analyze`,
  ];
  return parts.join(' \\\n  ');
}

/** Backslashes escape a quoted name for curl; single quotes escape it for the shell. */
function file(part: string, name: string): string {
  if (/^[A-Za-z0-9._-]+$/.test(name)) return `${part}=@${name}`;
  const quoted = name.replaceAll('\\', '\\\\').replaceAll('"', '\\"');
  return `'${`${part}=@"${quoted}"`.replaceAll("'", "'\\''")}'`;
}
