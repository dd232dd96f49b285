/** What `undertone listen` shows: JSON lines, a view that is updated, or a line per utterance. */

import { definitions, type Moment, type Signal, signals } from '../engine/schema.ts';
import type { ServerMessages } from '../service/live/local.ts';
import type { AnalyzeResult } from './analyze-thread.ts';
import type { CliContext } from './context.ts';
import { describeResult } from './output.ts';

type LiveMessage = ServerMessages[keyof ServerMessages];

export type LiveView = { show(text: string): void };

const shownTurns = 5;
const labelWidth = 16;

export function createView(name: string, isJson: boolean, { stdout }: CliContext): LiveView {
  if (isJson) return { show: (text) => stdout.write(`${text}\n`) };
  return stdout.isTTY ? createScreen(name, stdout) : createLines(name, stdout);
}

function createLines(name: string, stdout: CliContext['stdout']): LiveView {
  return {
    show(text) {
      const message = JSON.parse(text) as LiveMessage;
      if (message.type === 'turn') stdout.write(`${describeTurn(message)}\n`);
      if (message.type === 'final') stdout.write(`${describeFinal(name, message)}\n`);
    },
  };
}

/** Redraws its lines in place. */
function createScreen(name: string, stdout: CliContext['stdout']): LiveView {
  const turns: string[] = [];
  let scores: readonly string[] = [];
  let isSpeaking = false;
  let drawn = 0;

  function draw(lines: readonly string[]): void {
    const width = stdout.columns || 80;
    const text = lines.map((line) => `${line.slice(0, width - 1)}\n`).join('');
    stdout.write(Buffer.from(`${drawn === 0 ? '' : `\x1b[${drawn}A`}\x1b[0J`));
    stdout.write(text);
    drawn = lines.length;
  }

  return {
    show(text) {
      const message = JSON.parse(text) as LiveMessage;
      if (message.type === 'speech.started') isSpeaking = true;
      if (message.type === 'speech.ended') isSpeaking = false;
      if (message.type === 'measurement') scores = describeScores(message);
      if (message.type === 'turn') turns.push(describeTurn(message));
      if (message.type === 'final') {
        draw([]);
        stdout.write(`${describeFinal(name, message)}\n`);
        drawn = 0;
      } else if (message.type !== 'session.ended') {
        const state = isSpeaking ? '● speech' : '○ pause';
        draw([`${name}  ${state}  (Ctrl-C ends)`, ...scores, ...turns.slice(-shownTurns)]);
      }
    },
  };
}

function describeScores(message: ServerMessages['measurement']): string[] {
  return signals.flatMap((signal: Signal) => {
    const scores = message[signal as keyof typeof message];
    if (scores === undefined || Object.keys(scores).length === 0) return [];
    return definitions[signal]
      .describe({ signals: scores as never })
      .map(([label, value]) => `  ${label.padEnd(labelWidth)}${value}`);
  });
}

type Entry = {
  readonly emotion?: {
    readonly dominant_emotion: string;
    readonly confidence: number;
    readonly valence: number | null;
    readonly arousal: number | null;
    readonly moment?: Pick<Moment, 'differences'>;
  };
};

function describeTurn(message: ServerMessages['turn']): string {
  const { emotion } = message as Entry;
  const { start_s, end_s, speaker } = message;
  const parts = [`  ${start_s.toFixed(1)} to ${end_s.toFixed(1)} s`.padEnd(labelWidth + 2)];
  if (speaker !== undefined) parts.push(speaker === null ? 'speaker ?' : `speaker ${speaker}`);
  if (emotion !== undefined) {
    const { dominant_emotion, confidence, valence, arousal, moment } = emotion;
    const label = `${dominant_emotion} (${confidence.toFixed(2)})`;
    parts.push(label.padEnd(labelWidth));
    if (valence !== null) parts.push(`valence ${valence.toFixed(2)}`);
    if (arousal !== null) parts.push(`arousal ${arousal.toFixed(2)}`);
    const spreads = moment?.differences[0]?.spreads;
    if (spreads !== undefined) parts.push(`moment: ${spreads.toFixed(1)} times the usual variation`);
  }
  return parts.join('  ');
}

/** The report of one signal has its fields at the top. */
function describeFinal(name: string, { report }: ServerMessages['final']): string {
  const whole = signals.some((signal) => signal in report);
  const { model } = report as { readonly model?: { readonly name: string } };
  const known = 'speakers' in report || whole ? report : { ...report, [model?.name ?? '']: report };
  return describeResult(name, { report: known } as AnalyzeResult);
}
