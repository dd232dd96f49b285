/** The voices of a recording: who sounds how, who talks how much, and what is behind it for one of them at a time. */
import { button, type Child, element, fold } from '../elements.ts';
import { createCallComparison } from './call-comparison.ts';
import { card, wide } from './cards.ts';
import { countVoices, createChoice } from './choice.ts';
import { createKeepButton, type Kept } from './comparison.ts';
import type { DetailedReport } from './details.ts';
import { createCallDownloads } from './downloads.ts';
import {
  emotionSignals,
  type Report,
  type SeveralReport,
  type Voice,
  voicesOf,
  warningsOf,
} from './report.ts';
import { type Shown, showParts } from './report-view.ts';
import { createScoreList } from './scores.ts';
import { titleOf, warningNotice } from './summary.ts';
import { createNamedLane, createTimeAxis } from './time-axis.ts';
import {
  createAffectLegend,
  createLegend,
  createMoments,
  createTimeline,
  type MomentList,
  type Timeline,
} from './timeline.ts';
import { createWaveform } from './waveform.ts';
import { clock, length, share } from './wording.ts';

/** `onChoice`: null when nothing was sent yet. */
type ShownVoices = Omit<Shown<SeveralReport>, 'onChoice'> & {
  readonly onChoice: Shown<SeveralReport>['onChoice'] | null;
  /** The call to compare with, or null. */
  readonly kept: Kept<SeveralReport> | null;
  readonly onKeep: (kept: Kept<SeveralReport>) => void;
};

/** The first card, which needs nothing but the report. */
type VoicesCard = {
  readonly root: HTMLElement;
  readonly voices: readonly Voice[];
  readonly names: Names;
  readonly moments: MomentList;
};

/** @param isExample whether nothing was sent yet */
export function voicesCard(report: SeveralReport, name: string, isExample: boolean): VoicesCard {
  const voices = voicesOf(report);
  const names = createNames(voices);
  const { moments, headline } = createVoiceMoments(voices, names);
  const title = isExample
    ? [element('strong', { class: 'tag' }, 'Example'), 'A call of two synthetic voices']
    : [`${name} · ${length(report.audio.duration_s)}`];
  const summary = createVoicesSummary(report, title, names, moments.root, headline);
  return { root: wide(element('section', { class: 'card' }, summary)), voices, names, moments };
}

/**
 * Fills the first card, and adds a lane of the waveform for each voice, and what one of them is made of.
 * @returns a function that stops playback and observers
 */
export function showVoices(
  host: HTMLElement,
  shown: ShownVoices,
  { root, voices, names, moments }: VoicesCard,
): () => void {
  const { request, answer, peaks, rules, onChoice, kept, onKeep } = shown;
  const { report, choice } = answer;
  const waveform = createWaveform(request.recording, peaks, report.audio.duration_s);
  const timelines = voices.map((voice) => createTimeline(voice.report, waveform.playSpan));
  const compared = { name: request.recording.name, answer };
  const comparison = kept && createCallComparison(kept, compared);
  const lanes = timelines.map(({ lane }, index) => createNamedLane(lane, names.label(index)));
  const drawn = timelines.flatMap(({ lane }) => lane ?? []);
  const axis = createTimeAxis(report.audio.duration_s, drawn, lanes, waveform);
  const within = [
    onChoice && createChoice(report.audio, choice, rules.separatesVoices ? voices.length : null, onChoice),
    waveform.root,
    axis.root,
    element(
      'div',
      { class: 'below-waveform' },
      legendOf(voices),
      drawn.some(({ affect }) => affect !== null) ? createAffectLegend() : null,
    ),
    element(
      'div',
      { class: 'below-waveform' },
      onChoice && createKeepButton(() => onKeep(compared)),
      fold(
        'Save the call',
        createCallDownloads(request.recording, answer, () =>
          voices.map(({ report: ofVoice }, index) => ({
            lane: timelines[index]?.lane ?? null,
            name: names.of(index),
            report: ofVoice,
          })),
        ),
      ),
    ),
  ];
  root.append(...within.filter((part) => part !== null));
  waveform.load();
  axis.draw();
  if (waveform.playSpan !== null) moments.enable(waveform.playSpan);
  if (comparison !== null) {
    host.prepend(wide(card('Side by side', null, comparison.root)));
    comparison.draw();
  }
  const details = createVoiceDetails(voices, names, (voice, index, inside) => {
    const ofVoice = { request, answer: { ...answer, report: voice.report }, rules, voice: voice.name };
    showVoice(inside, ofVoice, timelines[index] as Timeline);
  });
  host.append(details.root);
  details.open();
  for (const timeline of timelines) waveform.onTime(timeline.mark);
  return () => {
    axis.destroy();
    comparison?.destroy();
    waveform.destroy();
  };
}

/** The scores of one voice, and what they are made of. */
function showVoice(host: HTMLElement, shown: DetailedReport, timeline: Timeline): void {
  const { report } = shown.answer;
  const warnings = warningNotice(warningsOf(report));
  const scores = createScoreList(report);
  host.append(wide(element('section', { class: 'card', 'aria-label': 'Scores' }, scores, warnings)));
  const context = { before: null, reference: shown.rules.reference, onBaseline: null };
  showParts(host, shown, timeline, context);
}

/** The moments of all voices as one list, in order of time, and the headline, which names the most unusual one of each voice. */
function createVoiceMoments(
  voices: readonly Voice[],
  names: Names,
): { readonly moments: MomentList; readonly headline: readonly Child[] } {
  const found = voices
    .flatMap(({ report: { emotion } }, voice) => (emotion.moments ?? []).map((moment) => ({ moment, voice })))
    .sort((one, other) => one.moment.start_s - other.moment.start_s);
  const compared = voices.some(({ report: { emotion } }) => Array.isArray(emotion.moments));
  const moments = createMoments(compared ? found.map(({ moment }) => moment) : null, (index) =>
    element('span', {}, names.label(found[index]?.voice ?? 0)),
  );
  const named = voices.flatMap((_, voice) => {
    const [most] = found
      .filter((one) => one.voice === voice)
      .sort((one, other) => spreadsOf(other.moment) - spreadsOf(one.moment));
    if (most === undefined) return [];
    const { emotion, start_s } = most.moment;
    return [[names.label(voice), ' ', element('em', {}, emotion), ` at ${clock(start_s)}`]];
  });
  const headline = named.flatMap((one, index) => (index === 0 ? one : [', ', ...one]));
  return { moments, headline: headline.length === 0 ? [capitalized(countVoices(voices.length))] : headline };
}

const capitalized = (text: string) => text.charAt(0).toUpperCase() + text.slice(1);

const spreadsOf = ({ differences }: NonNullable<Report['emotion']['moments']>[number]) =>
  differences[0]?.spreads ?? 0;

function legendOf(voices: readonly Voice[]): HTMLElement | null {
  const signals = voices.map(({ report }) => emotionSignals(report)).find((one) => one !== null);
  const utterances = voices.flatMap(({ report }) => report.emotion.timeline);
  return signals == null ? null : createLegend(utterances, signals);
}

/** The name of a voice wherever the page shows it: the user may change it. */
type Names = {
  of(index: number): string;
  /** Follows the name. */
  label(index: number): HTMLElement;
  input(index: number): HTMLElement;
};

function createNames(voices: readonly Voice[]): Names {
  const names = voices.map(({ name }) => name);
  const labels = voices.map((): HTMLElement[] => []);
  const of = (index: number) => names[index] ?? '';
  return {
    of,
    label: (index) => {
      const label = element('span', {}, of(index));
      labels[index]?.push(label);
      return label;
    },
    input: (index) => {
      const input = element('input', {
        class: 'input voice-name',
        type: 'text',
        value: names[index] ?? '',
        maxlength: '40',
        'aria-label': `Name of ${names[index]}`,
        title: 'Type a name',
        autocomplete: 'off',
      });
      input.addEventListener('input', () => {
        names[index] = input.value.trim() || (voices[index]?.name ?? '');
        for (const label of labels[index] ?? []) label.textContent = names[index] ?? '';
      });
      return input;
    },
  };
}

/** The answer: a line for each voice. */
function createVoicesSummary(
  report: SeveralReport,
  title: readonly Child[],
  names: Names,
  moments: HTMLElement | null,
  headline: readonly Child[],
): HTMLElement {
  const voices = voicesOf(report);
  const shares = report.conversation?.talk_share;
  return element(
    'div',
    { class: 'summary' },
    element('p', { class: 'row muted small' }, ...title),
    element('div', { class: 'headline' }, element('h2', { class: 'headline-word' }, ...headline)),
    element(
      'ul',
      { class: 'voices' },
      ...voices.map((voice, index) =>
        element(
          'li',
          { class: 'voice' },
          names.input(index),
          element('span', {}, ...titleOf(voice.report)),
          shares == null
            ? null
            : element('span', { class: 'muted small number' }, `${share(shares[index] ?? 0)} of the talk`),
        ),
      ),
    ),
    moments,
  );
}

/**
 * Buttons of the voices, above what one of them is made of. `open` it once `root` is in the page.
 */
function createVoiceDetails(
  voices: readonly Voice[],
  names: Names,
  show: (voice: Voice, index: number, host: HTMLElement) => void,
): { readonly root: HTMLElement; readonly open: () => void } {
  const host = element('div', { class: 'results' });
  const buttons = voices.map((voice, index) =>
    button('small', () => choose(voice, index), names.label(index)),
  );
  const choose = (voice: Voice, index: number) => {
    host.replaceChildren();
    for (const [at, one] of buttons.entries()) one.ariaPressed = String(at === index);
    show(voice, index, host);
  };
  const group = { class: 'row voice-choice', role: 'group', 'aria-label': 'Voice' };
  const root = wide(element('div', { class: 'stack' }, element('div', group, ...buttons), host));
  return { root, open: () => buttons[0]?.click() };
}
