/** A report as cards. */
import { createAffectChart } from './affect-chart.ts';
import type { AnalysisRequest, Answer } from './analyze.ts';
import { createAudioQuality } from './audio-quality.ts';
import { card, wide } from './card.ts';
import { createChannelChoice } from './channel-choice.ts';
import { cognitiveCards } from './cognitive-cards.ts';
import { emotionCards } from './emotion-cards.ts';
import { createCurlView, createJsonView } from './json-view.ts';
import { type CognitiveSignals, cognitiveSignals, emotionSignals } from './report.ts';
import { createSummary } from './summary.ts';
import { createTimeline } from './timeline.ts';
import { createWaveform } from './waveform.ts';

type Shown = {
  readonly request: AnalysisRequest;
  readonly answer: Answer;
  /** Scores of the same recording without its baseline, if known. */
  readonly before: CognitiveSignals | null;
  readonly onChannel: (channel: number | null) => void;
};

/** Fills `host`. @returns a function that stops playback and observers */
export function showReport(host: HTMLElement, { request, answer, before, onChannel }: Shown): () => void {
  const { report, json } = answer;
  const waveform = createWaveform(request.recording, report.audio.duration_s);
  const timeline = createTimeline(report, waveform.seek);
  const chart = createAffectChart(report);
  const emotion = emotionSignals(report);
  const cognitive = cognitiveSignals(report);
  const summary = createSummary(report, request.recording.name);
  host.replaceChildren(
    wide(card('The recording', null, summary, waveform.root, timeline.root)),
    ...(emotion === null ? [] : emotionCards(report, emotion, chart.root)),
    ...(cognitive === null ? [] : cognitiveCards(report, cognitive, before)),
    card(
      'The sound',
      'What the microphone, the room and the format did. A poor recording widens the intervals.',
      createAudioQuality(report.audio),
      createChannelChoice(report.audio.channels, request.channel, onChannel),
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
