/** The playground: sends a recording and shows the report. */
import sampleUrl from '../../examples/sample.wav?url';
import { byId } from '../dom.ts';
import { type AnalysisError, type Answer, analyze } from './analyze.ts';
import { createBaselinePanel } from './baseline-panel.ts';
import { createCredentials } from './credentials.ts';
import { createCredentialsPanel } from './credentials-panel.ts';
import { explain } from './error-messages.ts';
import { createNotice } from './notice.ts';
import { createProgress } from './progress.ts';
import type { Recording } from './recording.ts';
import { createRecordingInput } from './recording-input.ts';
import { type CognitiveSignals, cognitiveSignals } from './report.ts';
import { showReport } from './report-view.ts';

const results = byId('results', HTMLElement);
const announcement = byId('announcement', HTMLElement);
const announce = (sentence: string) => {
  announcement.textContent = sentence;
};

let recording: Recording | null = null;
let baseline: Recording | null = null;
let channel: number | null = null;
/** Scores of the recording without a baseline. */
let absolute: {
  readonly of: Recording;
  readonly channel: number | null;
  readonly signals: CognitiveSignals;
} | null = null;
let running = new AbortController();
let endShown = () => {};

const access = createCredentials();
const credentialsPanel = createCredentialsPanel(byId('access', HTMLElement), access, () => void send());
const progress = createProgress(byId('progress', HTMLElement), announce);

createRecordingInput(byId('recording', HTMLElement), {
  title: 'Drop a recording here',
  note: 'Or choose one: WAV, MP3, M4A, FLAC, Ogg, WebM and more, up to 15 minutes. It is analysed in the memory of this server and not stored.',
  stem: 'recording',
  stopLabel: 'Stop and analyse',
  sampleUrl,
  main: true,
  onRecording: (chosen) => {
    recording = chosen;
    channel = null;
    void send();
  },
});

createBaselinePanel(byId('baseline', HTMLElement), (chosen) => {
  baseline = chosen;
  void send();
});

void credentialsPanel.show();

async function send(): Promise<void> {
  if (recording === null) return;
  running.abort();
  const current = new AbortController();
  running = current;
  const request = { recording, baseline, channel };
  const token = await access.token();
  if (current.signal.aborted) return;
  if (token === null)
    return credentialsPanel.requestToken(
      `${recording.name} is ready. It is sent as soon as you are logged in or have pasted a token.`,
    );
  progress.start(recording.name, () => current.abort());
  const outcome = await analyze(request, token, { onProgress: progress.show, signal: current.signal });
  if (running === current) progress.end();
  if (outcome === null) return;
  if ('kind' in outcome) fail(outcome);
  else show(request, outcome);
}

function fail(fault: AnalysisError): void {
  const { title, advice } = explain(fault);
  endShown();
  endShown = () => {};
  results.replaceChildren(createNotice('bad', title, advice));
  reveal(`${title}. ${advice}`);
  if (fault.kind === 'refused' && fault.status === 401) {
    access.forget();
    credentialsPanel.requestToken(`${title}. ${advice}`);
  }
}

function show(
  request: { recording: Recording; baseline: Recording | null; channel: number | null },
  answer: Answer,
): void {
  const { relative } = answer.report.cognitive;
  const signals = cognitiveSignals(answer.report);
  if (signals !== null && !relative) absolute = { of: request.recording, channel: request.channel, signals };
  const known = absolute?.of === request.recording && absolute.channel === request.channel;
  endShown();
  results.hidden = false;
  endShown = showReport(results, {
    request,
    answer,
    before: relative && known ? (absolute?.signals ?? null) : null,
    onChannel: (chosen) => {
      channel = chosen;
      void send();
    },
  });
  reveal(`Results for ${request.recording.name}: ${results.querySelector('h2')?.textContent ?? ''}`);
}

function reveal(sentence: string): void {
  results.hidden = false;
  results.focus({ preventScroll: true });
  results.scrollIntoView({ block: 'start' });
  announce(sentence);
}
