/** The answer: the emotion that listeners would name, the scores and the warnings. */
import { type Child, element } from '../elements.ts';
import { createExplained } from './cards.ts';
import {
  type AudioBlock,
  type Emotion,
  type EmotionSignals,
  emotionReason,
  emotionSignals,
  type Report,
  ranked,
  type Warning,
  warningsOf,
} from './report.ts';
import { createScoreList, probabilityScale } from './scores.ts';
import { clock, length, seconds, share, warningSentence } from './wording.ts';

export function createSummary(report: Report, name: string, moments: HTMLElement | null): HTMLElement {
  const { audio } = report;
  return element(
    'div',
    { class: 'summary' },
    element(
      'p',
      { class: 'muted small' },
      `${name} · ${length(audio.duration_s)}, ${length(audio.speech_s)} of it speech`,
    ),
    result(report),
    moments,
    createScoreList(report),
    warningNotice(warningsOf(report)),
  );
}

function result(report: Report): HTMLElement {
  const signals = emotionSignals(report);
  if (signals !== null) {
    const headline = createHeadline();
    headline.show(signals, report.emotion);
    return headline.root;
  }
  const reason = emotionReason(report);
  if (reason === null) return tooLittle(report.audio);
  return element('div', { class: 'headline' }, title('No emotion'), element('p', {}, reason));
}

type Verdict = {
  readonly title: readonly Child[];
  /** The probability of the emotion, or of the likeliest two. */
  readonly probable: string;
};

/** Names an emotion unless the signal warns of low confidence, and the most unusual moment. */
export function verdictOf(
  signals: EmotionSignals,
  {
    warnings,
    moments = null,
  }: { readonly warnings: readonly Warning[]; readonly moments?: Emotion['moments'] },
): Verdict {
  const { dominant_emotion, confidence } = signals;
  const unusual = unusualOf(moments ?? [], dominant_emotion);
  return warnings.includes('low_confidence')
    ? { title: ['No clear emotion', ...unusual], probable: `Likeliest: ${likeliest(signals)}.` }
    : {
        title: ['Sounds ', element('em', {}, dominant_emotion), ...unusual],
        probable: `${share(confidence)} probable.`,
      };
}

/** The verdict of a report, or why there is none. */
export function titleOf(report: Report): readonly Child[] {
  const signals = emotionSignals(report);
  if (signals !== null) return verdictOf(signals, report.emotion).title;
  return [emotionReason(report) === null ? 'Too little speech' : 'No emotion'];
}

/** ", angry at 0:42 and 2 more"; nothing without moments. */
function unusualOf([first, ...others]: NonNullable<Emotion['moments']>, dominant: string): Child[] {
  if (first === undefined) return [];
  const more = others.length === 0 ? '' : ` and ${others.length} more`;
  const label = first.emotion === dominant ? 'most' : element('em', {}, first.emotion);
  return [', ', label, ` at ${clock(first.start_s)}${more}`];
}

type Headline = {
  readonly root: HTMLElement;
  show(signals: EmotionSignals, report: Parameters<typeof verdictOf>[1]): void;
};

export function createHeadline(): Headline {
  const [probable, tone] = [createExplained('term'), createExplained('term')];
  probable.explain(probabilityScale);
  tone.explain(
    'One word for valence and arousal together, where it agrees with the emotion: calm, engaged, tense, distressed or subdued; otherwise neutral.',
  );
  const words = title();
  return {
    root: element(
      'div',
      { class: 'headline' },
      words,
      element('p', { class: 'headline-note' }, probable.root, ' ', tone.root),
    ),
    show: (signals, report) => {
      const verdict = verdictOf(signals, report);
      words.replaceChildren(...verdict.title.filter((part) => part !== null));
      probable.button.textContent = verdict.probable;
      tone.root.hidden = signals.tone === null;
      tone.button.textContent = `Tone of voice: ${signals.tone}.`;
    },
  };
}

function title(...content: readonly Child[]): HTMLElement {
  return element('h2', { class: 'headline-word' }, ...content);
}

/** The two most probable emotions. */
function likeliest({ emotions }: EmotionSignals): string {
  const named = ranked(emotions)
    .slice(0, 2)
    .map(([name, probability]) => `${name} ${share(probability)}`);
  return named.join(', ');
}

function tooLittle({ speech_s }: AudioBlock): HTMLElement {
  return element(
    'div',
    { class: 'headline' },
    title('Too little speech'),
    element(
      'p',
      { class: 'notice warn' },
      `Only ${seconds(speech_s)} of speech was detected; scores require 0.5 s. ` +
        'Record again: speak for five seconds or more, near the microphone.',
    ),
  );
}

/** Null without warnings. */
export function warningNotice(warnings: readonly Warning[]): HTMLElement | null {
  if (warnings.length === 0) return null;
  const sentences = [...new Set(warnings)].map((name) => element('li', {}, warningSentence(name)));
  return element('ul', { class: 'notice warn warnings', 'aria-label': 'Warnings' }, ...sentences);
}
