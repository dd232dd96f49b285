/** The playground: takes a recording, sends it, shows the answer. */
import sampleUrl from '../../examples/sample.wav?url';
import { part } from '../dom.ts';
import { createAccess } from './access.ts';
import { createAccessPanel } from './access-panel.ts';
import { type Answer, analyze, type Fault } from './analyze.ts';
import { createBaselinePanel } from './baseline-panel.ts';
import { explain } from './faults.ts';
import { createIntake } from './intake.ts';
import { createNotice } from './notice.ts';
import { createProgress } from './progress.ts';
import type { Recording } from './recording.ts';
import { type CognitiveSignals, cognitiveSignals } from './report.ts';
import { showReport } from './report-view.ts';

const results = part('results', HTMLElement);
const announcement = part('announcement', HTMLElement);
const announce = (sentence: string) => {
  announcement.textContent = sentence;
};

let recording: Recording | null = null;
let baseline: Recording | null = null;
let channel: number | null = null;
/** The recording's own scores, for the difference that a baseline makes. */
let absolute: {
  readonly of: Recording;
  readonly channel: number | null;
  readonly signals: CognitiveSignals;
} | null = null;
let running = new AbortController();
let endShown = () => {};

const access = createAccess();
const accessPanel = createAccessPanel(part('access', HTMLElement), access, () => void send());
const progress = createProgress(part('progress', HTMLElement), announce);

createIntake(part('intake', HTMLElement), {
  title: 'Drop a recording here',
  note: 'Or choose one: WAV, MP3, M4A, FLAC, Ogg, WebM and more, up to 15 minutes. It is analysed on this server, in memory, and not kept.',
  stem: 'recording',
  stopLabel: 'Stop and analyse',
  sampleUrl,
  main: true,
  onRecording: (taken) => {
    recording = taken;
    channel = null;
    void send();
  },
});

createBaselinePanel(part('baseline', HTMLElement), (taken) => {
  baseline = taken;
  void send();
});

void accessPanel.show();

async function send(): Promise<void> {
  if (recording === null) return;
  running.abort();
  const mine = new AbortController();
  running = mine;
  const question = { recording, baseline, channel };
  const token = await access.token();
  if (mine.signal.aborted) return;
  if (token === null)
    return accessPanel.ask(
      `${recording.name} is ready. It is sent as soon as you are logged in or have pasted a token.`,
    );
  progress.start(recording.name, () => mine.abort());
  const outcome = await analyze(question, token, { onProgress: progress.show, signal: mine.signal });
  if (running === mine) progress.end();
  if (outcome === null) return;
  if ('kind' in outcome) fail(outcome);
  else show(question, outcome);
}

function fail(fault: Fault): void {
  const { title, advice } = explain(fault);
  endShown();
  endShown = () => {};
  results.replaceChildren(createNotice('bad', title, advice));
  reveal(`${title}. ${advice}`);
  if (fault.kind === 'refused' && fault.status === 401) {
    access.forget();
    accessPanel.ask(`${title}. ${advice}`);
  }
}

function show(
  question: { recording: Recording; baseline: Recording | null; channel: number | null },
  answer: Answer,
): void {
  const { relative } = answer.report.cognitive;
  const signals = cognitiveSignals(answer.report);
  if (signals !== null && !relative)
    absolute = { of: question.recording, channel: question.channel, signals };
  const known = absolute?.of === question.recording && absolute.channel === question.channel;
  endShown();
  results.hidden = false;
  endShown = showReport(results, {
    question,
    answer,
    before: relative && known ? (absolute?.signals ?? null) : null,
    onChannel: (chosen) => {
      channel = chosen;
      void send();
    },
  });
  reveal(`Results for ${question.recording.name}: ${results.querySelector('h2')?.textContent ?? ''}`);
}

function reveal(sentence: string): void {
  results.hidden = false;
  results.focus({ preventScroll: true });
  results.scrollIntoView({ block: 'start' });
  announce(sentence);
}
