/** The playground: sends a recording and shows the report. */

import exampleUrl from '../../examples/call.ogg?url';
import { createAccess } from '../access.ts';
import { button, byId } from '../elements.ts';
import { keepPending, takePending } from '../pending.ts';
import {
  type AnalysisError,
  type AnalysisRequest,
  type Answer,
  analyze,
  analyzeCompared,
  isAboveLimit,
  type Recording,
} from './analyze.ts';
import { haveSameVoices } from './call-comparison.ts';
import { createNotice, openFoldsForPrint, wide } from './cards.ts';
import type { Choice } from './choice.ts';
import type { Kept } from './comparison.ts';
import { createBaselinePanel, createProgress, createRecordingInput, isRecording } from './desk.ts';
import { save as saveFile } from './downloads.ts';
import { startLive } from './live.ts';
import type { LiveOutcome } from './live-session.ts';
import type { RecorderPanel } from './recorder-panel.ts';
import {
  type CognitiveSignals,
  cognitiveSignals,
  isOfSeveral,
  loadRules,
  type Report,
  type Rules,
  type SeveralReport,
} from './report.ts';
import { answerCard, type FirstCard, showReport } from './report-view.ts';
import { showVoices, voicesCard } from './voices.ts';
import { decodePeaks, type Peaks } from './waveform.ts';
import { explain, explainEnd } from './wording.ts';

type Picture = { readonly rules: Rules; readonly peaks: Peaks | null };

const results = byId('results', HTMLElement);
const announcement = byId('announcement', HTMLElement);
const announce = (sentence: string) => {
  announcement.textContent = sentence;
};

let recording: Recording | null = null;
let baseline: Recording | null = null;
let choice: Choice = 'best';
/** Scores of the recording without a baseline. */
let absolute: {
  readonly of: Recording;
  readonly choice: Choice;
  readonly signals: CognitiveSignals;
} | null = null;
let kept: Kept | Kept<SeveralReport> | null = null;
let running = new AbortController();
let endShown = () => {};

const access = createAccess(byId('access', HTMLElement), {
  onToken: () => void send(),
  beforeLogIn: async () => {
    if (recording !== null) await keepPending({ recording, baseline, choice });
  },
});
const progress = createProgress(byId('progress', HTMLElement), announce);

createRecordingInput(byId('recording', HTMLElement), {
  title: matchMedia('(pointer: coarse)').matches ? 'Choose or record' : 'Drop a recording here',
  note: 'The recording is analysed in memory and never stored. Live: scores as you speak.',
  stem: 'recording',
  stopLabel: 'Stop and analyse',
  onRecording: (chosen) => {
    recording = chosen;
    choice = 'best';
    void send();
  },
  openLive,
});

const baselinePanel = createBaselinePanel(byId('baseline', HTMLElement), (chosen) => {
  baseline = chosen;
  void send();
});

openFoldsForPrint();
void showExample();
access.signInByLink();
void sendPending();

/** Shows the shipped recording with its recorded report until something is sent. */
async function showExample(): Promise<void> {
  const report = JSON.parse(byId('example', HTMLScriptElement).text) as SeveralReport | null;
  if (report === null) return;
  const name = 'call.ogg';
  results.ariaLabel = 'Example';
  results.hidden = false;
  const first = voicesCard(report, name, true);
  results.replaceChildren(first.root);
  const response = await fetch(exampleUrl).catch(() => null);
  if (!response?.ok) return;
  const example = { name, blob: await response.blob() };
  const picture = await preparePicture(example);
  if (!first.root.isConnected) return;
  const request = { recording: example, baseline: null, choice: 'split' } as const;
  const answer = { report, json: JSON.stringify(report), choice: 'split' } as const;
  endShown = showVoices(
    results,
    { request, answer, ...picture, onChoice: null, kept: null, onKeep: () => {} },
    first,
  );
}

/** Sends the recording that waited for log-in. */
async function sendPending(): Promise<void> {
  const pending = await takePending().catch(() => null);
  if (pending === null || recording !== null) return;
  ({ recording, baseline, choice } = pending);
  if (baseline !== null) baselinePanel.show(baseline);
  void send();
}

/** Ends what runs. */
function startNext(): AbortController {
  running.abort();
  running = new AbortController();
  return running;
}

async function send(): Promise<void> {
  if (recording === null) return;
  const current = startNext();
  baselinePanel.offer();
  const request = { recording, baseline, choice };
  const token = await access.token();
  if (current.signal.aborted) return;
  if (token === null)
    return access.requestToken(
      `${recording.name} is ready. It is sent as soon as you are logged in or have pasted a token.`,
    );
  progress.start(recording.name, () => current.abort());
  const preparing = preparePicture(request.recording);
  const outcome = await analyze(request, {
    authorize: async () => `Bearer ${(await access.token()) ?? token}`,
    onProgress: progress.show,
    signal: current.signal,
  });
  if (running === current) progress.end();
  if (outcome === null) {
    if (running === current) offerAgain('Cancelled', `${recording.name} was not analysed.`);
    return;
  }
  if ('kind' in outcome) return fail(outcome, ...againActions(request.recording));
  const picture = await preparing;
  if (running === current) show(request, outcome, picture);
}

/** Null without a token. */
async function openLive(close: () => void): Promise<RecorderPanel | null> {
  const token = await access.token();
  if (token === null) {
    access.requestToken('Live needs a token: log in, or paste one, then press Live again.');
    return null;
  }
  const current = startNext();
  progress.end();
  const desk = byId('desk', HTMLElement);
  const panel = await startLive({
    token,
    host: results,
    abort: current,
    announce,
    onStop: (recorded) => {
      desk.classList.remove('live');
      close();
      if (running !== current) return;
      if (recorded === null) {
        results.hidden = true;
        return;
      }
      progress.start(recorded.name, () => current.abort());
      progress.show(1);
    },
    onOutcome: (outcome, recorded) => {
      if (running === current) progress.end();
      if (outcome !== null) void showLive(outcome, recorded);
      else if (running === current) results.hidden = true;
    },
  });
  endShown();
  endShown = () => {};
  desk.classList.add('live');
  results.ariaLabel = 'Results';
  results.hidden = false;
  desk.scrollIntoView({ block: 'start' });
  return panel;
}

async function showLive(outcome: Exclude<LiveOutcome, null>, recorded: Recording): Promise<void> {
  recording = recorded;
  choice = 'best';
  baselinePanel.offer();
  if ('kind' in outcome) {
    fail(
      outcome,
      button('primary', () => void send(), 'Analyse what was recorded'),
    );
    return;
  }
  const current = running;
  const picture = await preparePicture(recorded);
  if (running !== current) return;
  show({ recording: recorded, baseline: null, choice }, outcome, picture);
  if (outcome.reason !== 'done') {
    const { title, advice } = explainEnd(outcome.reason);
    results.prepend(wide(createNotice('warn', title, advice)));
  }
  if (baseline !== null) void send();
}

/** A recording of the microphone is nowhere else. */
function againActions({ name, blob }: Recording): HTMLElement[] {
  const again = button('primary', () => void send(), 'Try again');
  if (blob instanceof File) return [again];
  const save = button('', () => saveFile(name, blob), 'Save the recording');
  return [again, save];
}

function offerAgain(title: string, text: string): void {
  if (recording === null) return;
  // Removes the notice of an earlier error or cancelled upload.
  results.querySelector('.notice:has(> button)')?.remove();
  results.prepend(wide(createNotice('warn', title, text, ...againActions(recording))));
  results.hidden = false;
  announce(`${title}. ${text}`);
  results.querySelector('button')?.focus();
}

/** @param actions that continue after the error */
function fail(fault: AnalysisError, ...actions: readonly HTMLElement[]): void {
  const { title, advice } = explain(fault);
  endShown();
  endShown = () => {};
  results.replaceChildren(wide(createNotice('bad', title, advice, ...actions)));
  reveal(`${title}. ${advice}`);
  if (fault.kind === 'refused' && fault.status === 401) {
    access.forget();
    access.requestToken(`${title}. ${advice}`);
  }
}

/** Decoded while the upload runs, so that the waveform appears with the results. */
async function preparePicture(of: Recording): Promise<Picture> {
  const [rules, peaks] = await Promise.all([loadRules(), decodePeaks(of)]);
  return { rules, peaks };
}

function show(request: AnalysisRequest, answer: Answer, picture: Picture): void {
  endShown();
  byId('desk', HTMLElement).classList.add('compact');
  results.hidden = false;
  const { report, ...rest } = answer;
  const analysed = { ...request, choice: answer.choice };
  if (isOfSeveral(report)) {
    const first = voicesCard(report, request.recording.name, false);
    results.replaceChildren(first.root);
    const compared = isCall(kept) && haveSameVoices(kept.answer.report, report) ? kept : null;
    const shown = {
      request: analysed,
      answer: { ...rest, report },
      ...picture,
      onChoice,
      kept: compared,
      onKeep: (chosen: Kept<SeveralReport>) => {
        kept = chosen;
      },
    };
    endShown = showVoices(results, shown, first);
    // A baseline is of one voice.
    byId('baseline', HTMLElement).hidden = true;
    if (kept !== null && compared === null) {
      const [title, text] = isCall(kept) ? callNotCompared : notCompared;
      results.prepend(wide(createNotice('warn', title, text)));
    }
  } else {
    const first = answerCard(report, request.recording.name);
    results.replaceChildren(first.root);
    complete(analysed, { ...rest, report }, picture, first);
    if (isCall(kept)) results.prepend(wide(createNotice('warn', ...callNotCompared)));
  }
  reveal(`Results for ${request.recording.name}: ${results.querySelector('h2')?.textContent ?? ''}`);
}

function isCall(one: Kept | Kept<SeveralReport> | null): one is Kept<SeveralReport> {
  return one !== null && isOfSeveral(one.answer.report);
}

const callNotCompared = [
  'Only calls with the same number of voices are compared',
  'Choose under Analyse what the call before has: each channel, or as many voices.',
] as const;

const notCompared = [
  'Several voices are not compared with one',
  'Choose one voice or one channel under Analyse to compare it with the recording before.',
] as const;

function onChoice(chosen: Choice): void {
  choice = chosen;
  void send();
}

/** Completes a report whose first card is in the page. */
function complete(
  request: AnalysisRequest,
  answer: Answer<Report>,
  picture: Picture,
  first: FirstCard,
): void {
  const { relative } = answer.report.cognitive;
  const signals = cognitiveSignals(answer.report);
  if (signals !== null && !relative) absolute = { of: request.recording, choice: request.choice, signals };
  const known = absolute?.of === request.recording && absolute.choice === request.choice;
  endShown = showReport(results, {
    request,
    answer,
    first,
    ...picture,
    kept: isCall(kept) || kept?.answer === answer ? null : kept,
    onKeep: (chosen) => {
      kept = chosen;
    },
    onCompare: (signal) => compareSets(request, signal),
    before: relative && known ? (absolute?.signals ?? null) : null,
    onBaseline: baselinePanel.open,
    onChoice,
  });
}

async function compareSets(
  request: AnalysisRequest,
  signal: AbortSignal,
): Promise<Answer<Report> | string | null> {
  const token = await access.token();
  if (token === null) return 'The session has ended: log in, or paste a token, and send the recording again.';
  const authorize = async () => `Bearer ${token}`;
  const outcome = await analyzeCompared(request, { authorize, onProgress: () => {}, signal });
  if (outcome === null) return null;
  if (!('kind' in outcome)) return outcome;
  const { title, advice } = explain(outcome);
  return isAboveLimit(outcome)
    ? 'The recording is longer than one request may be: sets are compared on shorter ones.'
    : `${title}. ${advice}`;
}

function reveal(sentence: string): void {
  results.ariaLabel = 'Results';
  results.hidden = false;
  announce(sentence);
  // The buttons of a running recording keep the focus.
  if (isRecording()) return;
  results.focus({ preventScroll: true });
  results.scrollIntoView({ block: 'start' });
}
