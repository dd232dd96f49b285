/** A report: its answer, what it is made of, and on demand every number behind it. */
import { button, element, fold } from '../elements.ts';

import { createAffectChart } from './affect-chart.ts';
import type { AnalysisRequest, Answer } from './analyze.ts';
import { card, wide } from './card.ts';
import { type Choice, createChoice } from './choice.ts';
import { effortCard } from './cognitive-cards.ts';
import { createComparison, type Kept } from './comparison.ts';
import { createDownloads } from './downloads.ts';
import { emotionCards } from './emotion-cards.ts';
import { createMeasuresTable, createSoundTable } from './facts.ts';
import { clock } from './format.ts';
import { createCurlView, createJsonView } from './json-view.ts';
import { createMoments, type MomentList } from './moments.ts';
import type { Peaks } from './peaks.ts';
import {
  type CognitiveSignals,
  cognitiveSignals,
  emotionSignals,
  type Report,
  type SeveralReport,
} from './report.ts';
import type { Rules } from './rules.ts';
import { createScores, scoresOf } from './scores.ts';
import { createSummary, warningNotice } from './summary.ts';
import { createLegend, createTimeline, type Timeline } from './timeline.ts';
import { createNames, createVoiceDetails, createVoicesSummary, type Voice, voicesOf } from './voices.ts';
import { createWaveform } from './waveform.ts';

type Shown<Kind> = {
  readonly request: AnalysisRequest;
  readonly answer: Answer<Kind>;
  readonly peaks: Peaks | null;
  readonly rules: Rules;
  readonly onChoice: (choice: Choice) => void;
};

type ShownOne = Shown<Report> & {
  /** The first card, in the page, with the answer in it. */
  readonly first: FirstCard;
  /** Whether nothing was sent yet. */
  readonly isExample: boolean;
  /** Scores of the same recording without its baseline, if known. */
  readonly before: CognitiveSignals | null;
  /** The recording to compare with, or null. */
  readonly kept: Kept | null;
  readonly onKeep: (kept: Kept) => void;
  readonly onBaseline: () => void;
};

export type FirstCard = { readonly root: HTMLElement; readonly moments: MomentList };

/** The first card, which needs nothing but the report. */
export function answerCard(report: Report, name: string, isExample: boolean): FirstCard {
  const moments = createMoments(report.emotion.moments);
  const summary = createSummary(report, name, isExample, moments.root);
  return { root: wide(element('section', { class: 'card' }, summary)), moments };
}

/** Fills the first card, and adds the others to `host`. @returns a function that stops playback and observers */
export function showReport(host: HTMLElement, shown: ShownOne): () => void {
  const { request, answer, first, isExample, before, peaks, rules, kept, onKeep, onBaseline, onChoice } =
    shown;
  const { report, choice } = answer;
  const waveform = createWaveform(request.recording, peaks, report.audio.duration_s);
  const timeline = createTimeline(report, waveform.playSpan);
  const own = { name: request.recording.name, answer };
  const keep = button('plain flush small', () => keepForComparison(), 'Compare with the next recording');
  const keepForComparison = () => {
    onKeep(own);
    keep.replaceChildren('The next recording is compared with this one');
    keep.disabled = true;
  };
  const within = [
    isExample ? null : createChoice(report.audio.channels, choice, onChoice),
    waveform.root,
    timeline.columns,
    element('div', { class: 'below-waveform' }, timeline.legend, keep),
  ];
  first.root.append(...within.filter((part) => part !== null));
  if (kept !== null) host.append(wide(card('Side by side', null, createComparison(kept, own))));
  const context = { before, reference: rules.reference, onBaseline: isExample ? null : onBaseline };
  const parts = showParts(host, { request, answer, rules }, timeline, context);
  waveform.load();
  if (waveform.playSpan !== null) first.moments.enable(waveform.playSpan);
  waveform.onTime(timeline.mark);
  waveform.onTime(parts.mark);
  return () => {
    waveform.destroy();
    parts.destroy();
  };
}

/** Two voices: the answer of each, a lane of the waveform for each, and what one of them is made of. */
export function showVoices(host: HTMLElement, shown: Shown<SeveralReport>): () => void {
  const { request, answer, peaks, rules, onChoice } = shown;
  const { report, choice } = answer;
  const voices = voicesOf(report);
  const names = createNames(voices);
  const waveform = createWaveform(request.recording, peaks, report.audio.duration_s);
  const timelines = voices.map((voice) => createTimeline(voice.report, waveform.playSpan));
  const found = voices
    .flatMap(({ report: { emotion } }, voice) => emotion.moments.map((moment) => ({ moment, voice })))
    .sort((one, other) => spreadsOf(other.moment) - spreadsOf(one.moment));
  const moments = createMoments(
    found.map(({ moment }) => moment),
    (index) => element('span', {}, names.label(found[index]?.voice ?? 0)),
  );
  const [most, ...others] = found;
  const more = others.length === 0 ? '' : ` and ${others.length} more`;
  const headline =
    most === undefined
      ? [voices.length === 1 ? 'One voice' : 'Two voices']
      : [
          names.label(most.voice),
          ' sounds ',
          element('em', {}, most.moment.emotion),
          ` at ${clock(most.moment.start_s)}${more}`,
        ];
  const lanes = timelines.map(({ columns }, index) =>
    element(
      'div',
      { class: 'lane' },
      element('span', { class: 'small muted' }, names.label(index)),
      columns ?? element('div', { class: 'utterance-track' }),
    ),
  );
  const root = element(
    'section',
    { class: 'card' },
    createVoicesSummary(report, request.recording.name, names, moments.root, headline),
    createChoice(report.audio.channels, choice, onChoice),
    waveform.root,
    ...lanes,
    legendOf(voices),
  );
  host.append(wide(root));
  waveform.load();
  if (waveform.playSpan !== null) moments.enable(waveform.playSpan);
  let mark = (_: number) => {};
  const details = createVoiceDetails(voices, names, (voice, index, inside) => {
    const timeline = timelines[index] as Timeline;
    const scores = createScores();
    const { cognitive, emotion } = voice.report;
    scores.show(scoresOf(emotionSignals(voice.report), cognitiveSignals(voice.report), cognitive));
    const warnings = warningNotice([...emotion.warnings, ...cognitive.warnings]);
    inside.append(wide(element('section', { class: 'card', 'aria-label': 'Scores' }, scores.root, warnings)));
    const context = { before: null, reference: rules.reference, onBaseline: null };
    const own = { ...answer, report: voice.report };
    const parts = showParts(inside, { request, answer: own, rules, voice: voice.name }, timeline, context);
    mark = parts.mark;
    return parts.destroy;
  });
  host.append(details.root);
  details.open();
  for (const timeline of timelines) waveform.onTime(timeline.mark);
  waveform.onTime((seconds) => mark(seconds));
  return () => {
    waveform.destroy();
    details.destroy();
  };
}

const spreadsOf = ({ differences }: Report['emotion']['moments'][number]) => differences[0]?.spreads ?? 0;

function legendOf(voices: readonly Voice[]): HTMLElement | null {
  const signals = voices.map(({ report }) => emotionSignals(report)).find((one) => one !== null);
  const utterances = voices.flatMap(({ report }) => report.emotion.timeline);
  return signals == null ? null : createLegend(utterances, signals);
}

/** `voice`: its name, of several. */
type ShownParts = Pick<Shown<Report>, 'request' | 'answer' | 'rules'> & { readonly voice?: string | null };

type Parts = {
  readonly mark: (seconds: number) => void;
  readonly destroy: () => void;
};

/** Adds what a report is made of to `host`, which is in the page. */
function showParts(
  host: HTMLElement,
  shown: ShownParts,
  timeline: Timeline,
  context: Parameters<typeof effortCard>[2],
): Parts {
  const { report } = shown.answer;
  const chart = createAffectChart(report);
  const [emotion, cognitive] = [emotionSignals(report), cognitiveSignals(report)];
  const affect = emotion === null ? null : wide(emotionCards(report, emotion, chart.root, shown.rules));
  const cards = [
    affect,
    cognitive && wide(effortCard(report.cognitive, cognitive, context)),
    wide(details(shown, timeline.details, affect)),
  ];
  host.append(...cards.filter((part) => part !== null));
  if (chart.root.isConnected) chart.draw();
  return { mark: chart.mark, destroy: chart.destroy };
}

/** Every number and file, on demand. */
function details(
  { request, answer, rules, voice = null }: ShownParts,
  utterances: HTMLElement | null,
  affect: HTMLElement | null,
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
    fold(
      'Save the report',
      createDownloads(request, answer, voice, affect?.querySelector('svg.plane') ?? null),
    ),
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
