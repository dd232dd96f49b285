/** A report: its answer, what it is made of, and on demand every number behind it. */
import { button, byId, element } from '../elements.ts';
import type { AnalysisRequest, Answer } from './analyze.ts';
import { card, wide } from './cards.ts';
import { type Choice, createChoice } from './choice.ts';
import { createComparison, createKeepButton, type Kept } from './comparison.ts';
import { createDetails, type DetailedReport } from './details.ts';
import { effortCard } from './effort-card.ts';
import { createEmotionCards } from './emotion-cards.ts';
import {
  type CognitiveSignals,
  cognitiveSignals,
  emotionSignals,
  type Report,
  type Rules,
} from './report.ts';
import { createSummary } from './summary.ts';
import { createTimeAxis, tracksOf } from './time-axis.ts';
import {
  createAffectLegend,
  createMoments,
  createTimeline,
  type MomentList,
  type Timeline,
} from './timeline.ts';
import { createWaveform, type Peaks } from './waveform.ts';

export type Shown<Kind> = {
  readonly request: AnalysisRequest;
  readonly answer: Answer<Kind>;
  readonly peaks: Peaks | null;
  readonly rules: Rules;
  readonly onChoice: (choice: Choice) => void;
};

type ShownOne = Shown<Report> & {
  /** The first card, in the page, with the answer in it. */
  readonly first: FirstCard;
  /** Scores of the same recording without its baseline, if known. */
  readonly before: CognitiveSignals | null;
  /** The recording to compare with, or null. */
  readonly kept: Kept | null;
  readonly onKeep: (kept: Kept) => void;
  /** Analyses the recording with the second set of models. @returns the answer, an error for people, or null after an abort */
  readonly onCompare: (signal: AbortSignal) => Promise<Answer<Report> | string | null>;
  readonly onBaseline: () => void;
};

export type FirstCard = { readonly root: HTMLElement; readonly moments: MomentList };

/** The first card, which needs nothing but the report. */
export function answerCard(report: Report, name: string): FirstCard {
  const inOrder = report.emotion.moments?.toSorted((one, other) => one.start_s - other.start_s);
  const moments = createMoments(inOrder ?? null);
  const summary = createSummary(report, name, moments.root);
  return { root: wide(element('section', { class: 'card' }, summary)), moments };
}

/** Fills the first card, and adds the others to `host`: a comparison above it. @returns a function that stops playback and observers */
export function showReport(host: HTMLElement, shown: ShownOne): () => void {
  const { request, answer, first, before, peaks, rules, kept, onKeep, onBaseline, onChoice } = shown;
  const { report, choice } = answer;
  const waveform = createWaveform(request.recording, peaks, report.audio.duration_s);
  const timeline = createTimeline(report, waveform.playSpan);
  const { lane } = timeline;
  const axis = lane && createTimeAxis(report.audio.duration_s, [lane], tracksOf(lane), waveform);
  const compared = { name: request.recording.name, answer };
  const keep = createKeepButton(() => onKeep(compared));
  const ended = new AbortController();
  const compareSets = compareButton(shown, ended.signal);
  const within = [
    createChoice(report.audio, choice, rules.separatesVoices ? 1 : null, onChoice),
    waveform.root,
    axis?.root ?? null,
    element(
      'div',
      { class: 'below-waveform' },
      timeline.legend,
      timeline.lane?.affect.length ? createAffectLegend() : null,
    ),
    element('div', { class: 'below-waveform' }, keep, compareSets),
  ];
  first.root.append(...within.filter((part) => part !== null));
  if (kept !== null) host.prepend(wide(card('Side by side', null, createComparison(kept, compared))));
  const context = { before, reference: rules.reference, onBaseline };
  showParts(host, { request, answer, rules }, timeline, context);
  waveform.load();
  axis?.draw();
  if (waveform.playSpan !== null) first.moments.enable(waveform.playSpan);
  waveform.onTime(timeline.mark);
  return () => {
    ended.abort();
    axis?.destroy();
    waveform.destroy();
  };
}

/** Null where the service has one set of models. */
function compareButton(
  { answer, first: { root }, onCompare }: Pick<ShownOne, 'answer' | 'first' | 'onCompare'>,
  signal: AbortSignal,
): HTMLElement | null {
  const names = setNames();
  if (names === null) return null;
  const [first, second] = names;
  const label = `Compare with the models ${second}`;
  const failure = element('p', { class: 'small', role: 'alert' });
  const compare = async () => {
    made.disabled = true;
    made.replaceChildren(`Analysing with ${second}`);
    failure.replaceChildren();
    const outcome = await onCompare(signal);
    if (outcome === null) return;
    if (typeof outcome === 'string') {
      made.disabled = false;
      made.replaceChildren(label);
      failure.replaceChildren(outcome);
      return;
    }
    const compared = card(
      'Two sets of models',
      null,
      createComparison({ name: first, answer }, { name: second, answer: outcome }),
    );
    compared.tabIndex = -1;
    root.after(wide(compared));
    compared.focus();
    host.remove();
  };
  const made = button('plain flush small', () => void compare(), label);
  const host = element('div', {}, made, failure);
  return host;
}

function setNames(): readonly [string, string] | null {
  return JSON.parse(byId('sets', HTMLScriptElement).text) as [string, string] | null;
}

/** Adds what a report is made of to `host`, which is in the page. */
export function showParts(
  host: HTMLElement,
  shown: DetailedReport,
  timeline: Timeline,
  context: Parameters<typeof effortCard>[2],
): void {
  const { report } = shown.answer;
  const [emotion, cognitive] = [emotionSignals(report), cognitiveSignals(report)];
  const affect = emotion && createEmotionCards(report, emotion, shown.rules);
  const plane = affect?.querySelector<SVGElement>('svg.plane') ?? null;
  const cards = [
    affect && wide(affect),
    cognitive && wide(effortCard(report.cognitive, cognitive, context)),
    wide(createDetails(shown, timeline.details, plane)),
  ];
  host.append(...cards.filter((part) => part !== null));
}
