/** A report as cards. */

import { button } from '../button.ts';
import { element } from '../dom.ts';
import { createAffectChart } from './affect-chart.ts';
import type { AnalysisRequest, Answer } from './analyze.ts';
import { createAudioQuality } from './audio-quality.ts';
import { card, wide } from './card.ts';
import { createChannelChoice } from './channel-choice.ts';
import { cognitiveCards } from './cognitive-cards.ts';
import { createComparison, type Kept } from './comparison.ts';
import { createDownloads } from './downloads.ts';
import { emotionCards } from './emotion-cards.ts';
import { createCurlView, createJsonView } from './json-view.ts';
import type { Peaks } from './peaks.ts';
import { type CognitiveSignals, cognitiveSignals, emotionSignals } from './report.ts';
import type { Rules } from './rules.ts';
import { createSummary } from './summary.ts';
import { createTimeline } from './timeline.ts';
import { createWaveform } from './waveform.ts';

type Shown = {
  readonly request: AnalysisRequest;
  readonly answer: Answer;
  /** Scores of the same recording without its baseline, if known. */
  readonly before: CognitiveSignals | null;
  readonly peaks: Peaks | null;
  readonly rules: Rules;
  /** The recording to compare with, or null. */
  readonly kept: Kept | null;
  readonly onKeep: (kept: Kept) => void;
  readonly onChannel: (channel: number | null) => void;
};

/** Fills `host`. @returns a function that stops playback and observers */
export function showReport(
  host: HTMLElement,
  { request, answer, before, peaks, rules, kept, onKeep, onChannel }: Shown,
): () => void {
  const { report, json } = answer;
  const waveform = createWaveform(request.recording, peaks, report.audio.duration_s);
  const timeline = createTimeline(report, waveform.playSpan);
  const chart = createAffectChart(report);
  const emotion = emotionSignals(report);
  const cognitive = cognitiveSignals(report);
  const own = { name: request.recording.name, answer };
  const cards = emotion === null ? [] : emotionCards(report, emotion, chart.root, rules);
  const plane = cards[0]?.querySelector<SVGElement>('.plane') ?? null;
  const keep = button('', () => keepForComparison(), 'Compare with the next recording');
  const keepForComparison = () => {
    onKeep(own);
    keep.replaceChildren('The next recording is compared with this one');
    keep.disabled = true;
  };
  const actions = element('div', { class: 'row' }, createDownloads(request, answer, plane), keep);
  const channels = createChannelChoice(report.audio.channels, request.channel, onChannel);
  const summary = createSummary(report, request.recording.name);
  host.replaceChildren(
    wide(card('The recording', null, summary, channels, waveform.root, timeline.root, actions)),
    ...(kept === null ? [] : [wide(card('Side by side', null, createComparison(kept, own, rules)))]),
    ...cards,
    ...(cognitive === null ? [] : cognitiveCards(report, cognitive, before, rules)),
    card(
      'The sound',
      'What the microphone, the room and the format did. A poor recording widens the intervals.',
      createAudioQuality(
        report.audio,
        report.status === 'ok' && !report.emotion.warnings.includes('music_or_noise'),
      ),
    ),
    wide(
      card(
        'The same from a terminal',
        'Put a token of yours in UNDERTONE_TOKEN; the answer is the same but for its request_id.',
        createCurlView(request),
        createJsonView(json),
      ),
    ),
  );
  waveform.load();
  if (chart.root.isConnected) chart.draw();
  waveform.onTime(timeline.mark);
  waveform.onTime(chart.mark);
  return () => {
    waveform.destroy();
    chart.destroy();
  };
}
