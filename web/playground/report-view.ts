/** A report: its answer, what it is made of, and on demand every number behind it. */

import { button } from '../button.ts';
import { element } from '../dom.ts';
import { createAffectChart } from './affect-chart.ts';
import type { AnalysisRequest, Answer } from './analyze.ts';
import { card, fold, wide } from './card.ts';
import { createChannelChoice } from './channel-choice.ts';
import { effortCard } from './cognitive-cards.ts';
import { createComparison, type Kept } from './comparison.ts';
import { createDownloads } from './downloads.ts';
import { emotionCards } from './emotion-cards.ts';
import { createMeasuresTable, createSoundTable } from './facts.ts';
import { createCurlView, createJsonView } from './json-view.ts';
import { createMoments, type MomentList } from './moments.ts';
import type { Peaks } from './peaks.ts';
import { type CognitiveSignals, cognitiveSignals, emotionSignals, type Report } from './report.ts';
import type { Rules } from './rules.ts';
import { createSummary } from './summary.ts';
import { createTimeline } from './timeline.ts';
import { createWaveform } from './waveform.ts';

type Shown = {
  readonly request: AnalysisRequest;
  readonly answer: Answer;
  /** The first card, in the page, with the answer in it. */
  readonly first: FirstCard;
  /** Whether nothing was sent yet. */
  readonly isExample: boolean;
  /** Scores of the same recording without its baseline, if known. */
  readonly before: CognitiveSignals | null;
  readonly peaks: Peaks | null;
  readonly rules: Rules;
  /** The recording to compare with, or null. */
  readonly kept: Kept | null;
  readonly onKeep: (kept: Kept) => void;
  readonly onBaseline: () => void;
  readonly onChannel: (channel: number | null) => void;
};

export type FirstCard = { readonly root: HTMLElement; readonly moments: MomentList };

/** The first card, which needs nothing but the report. */
export function answerCard(report: Report, name: string, isExample: boolean): FirstCard {
  const moments = createMoments(report.emotion.moments);
  const summary = createSummary(report, name, isExample, moments.root);
  return { root: wide(element('section', { class: 'card' }, summary)), moments };
}

/** Fills the first card, and adds the others to `host`. @returns a function that stops playback and observers */
export function showReport(host: HTMLElement, shown: Shown): () => void {
  const { request, answer, first, isExample, before, peaks, rules, kept, onKeep, onBaseline, onChannel } =
    shown;
  const { report } = answer;
  const waveform = createWaveform(request.recording, peaks, report.audio.duration_s);
  const timeline = createTimeline(report, waveform.playSpan);
  const chart = createAffectChart(report);
  const emotion = emotionSignals(report);
  const cognitive = cognitiveSignals(report);
  const own = { name: request.recording.name, answer };
  const affect = emotion === null ? null : wide(emotionCards(report, emotion, chart.root, rules));
  const keep = button('plain flush small', () => keepForComparison(), 'Compare with the next recording');
  const keepForComparison = () => {
    onKeep(own);
    keep.replaceChildren('The next recording is compared with this one');
    keep.disabled = true;
  };
  const context = { before, reference: rules.reference, onBaseline: isExample ? null : onBaseline };
  const within = [
    createChannelChoice(report.audio.channels, request.channel, onChannel),
    waveform.root,
    timeline.columns,
    element('div', { class: 'below-waveform' }, timeline.legend, keep),
  ];
  const cards = [
    kept && wide(card('Side by side', null, createComparison(kept, own))),
    affect,
    cognitive && wide(effortCard(report.cognitive, cognitive, context)),
    wide(details(shown, timeline.details, affect)),
  ];
  first.root.append(...within.filter((part) => part !== null));
  host.append(...cards.filter((part) => part !== null));
  waveform.load();
  if (waveform.playSpan !== null) first.moments.enable(waveform.playSpan);
  if (chart.root.isConnected) chart.draw();
  waveform.onTime(timeline.mark);
  waveform.onTime(chart.mark);
  return () => {
    waveform.destroy();
    chart.destroy();
  };
}

/** Every number and file, on demand. */
function details(
  { request, answer, rules }: Shown,
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
    fold('Save the report', createDownloads(request, answer, affect?.querySelector('svg.plane') ?? null)),
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
