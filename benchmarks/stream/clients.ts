/** Clients that stream a recording in real time, and how late each provisional message is. */
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { WebSocket } from 'ws';
import { token } from '../request/client.ts';
import type { Decision, SpeechFormat } from './decisions.ts';

/** 16-bit samples. */
export type Speech = SpeechFormat & {
  readonly samples: Uint8Array;
  readonly intervalSeconds: number;
  readonly decisions: readonly Decision[];
};

export type Lateness = { readonly type: string; readonly ms: number };

/** A frame as a browser sends it. */
const frameSeconds = 0.1;

/** From the sample that decides a message to the message. Expects the messages of `decisions`. */
async function streamOnce(port: number, speech: Speech, delayMs: number): Promise<Lateness[]> {
  const { samples, sampleRate, channels, intervalSeconds, decisions } = speech;
  await sleep(delayMs);
  const headers = { Authorization: `Bearer ${token}` };
  const socket = new WebSocket(`ws://127.0.0.1:${port}/v1/stream`, 'undertone.v1', { headers });
  const received: { readonly type: string; readonly at: number }[] = [];
  socket.on('message', (text) => {
    const { type } = JSON.parse(String(text)) as { readonly type: string };
    received.push({ type, at: performance.now() });
  });
  await once(socket, 'open');
  const format = { encoding: 's16le', sample_rate_hz: sampleRate, channels, interval_s: intervalSeconds };
  socket.send(JSON.stringify({ type: 'session.configure', ...format }));
  const started = performance.now();
  const sentAt: number[] = [];
  const sampleBytes = 2 * channels;
  const frameBytes = sampleBytes * Math.round(frameSeconds * sampleRate);
  for (let from = 0; from < samples.length; from += frameBytes) {
    const due = started + (1000 * (from + frameBytes)) / (sampleBytes * sampleRate);
    await sleep(Math.max(0, due - performance.now()));
    socket.send(samples.subarray(from, from + frameBytes));
    sentAt.push(performance.now());
  }
  while (received.length <= decisions.length && socket.readyState === WebSocket.OPEN) await sleep(10);
  socket.close();
  const [, ...messages] = received;
  return decisions.map(({ type, seconds }, index) => {
    const message = messages[index];
    if (message?.type !== type) throw new Error(`Expected ${type} as message ${index}, got ${message?.type}`);
    const frame = Math.ceil(seconds / frameSeconds - 1e-6) - 1;
    return { type, ms: message.at - (sentAt[frame] as number) };
  });
}

/** Sessions start evenly within one interval, so that their measurements do not coincide. */
export async function streamAtOnce(port: number, sessions: number, speech: Speech): Promise<Lateness[]> {
  const spread = (1000 * speech.intervalSeconds) / sessions;
  const each = Array.from({ length: sessions }, (_, index) => streamOnce(port, speech, index * spread));
  return (await Promise.all(each)).flat();
}
