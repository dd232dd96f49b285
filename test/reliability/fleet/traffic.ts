/** Loops of sequential requests until stopped, with the outcome of each. */
import { speechFile } from '../../../benchmarks/speech.ts';
import { createClient } from '../../../clients/typescript/src/index.ts';

export type Outcome = {
  /** By performance.now(). */
  readonly startedAt: number;
  readonly endedAt: number;
  /** Null for 200; else the status or the connection error. */
  readonly fault: string | null;
};

export type Traffic = {
  readonly outcomes: readonly Outcome[];
  /** Resolves when the last requests are answered. */
  stop(): Promise<readonly Outcome[]>;
};

const recording = new Blob([new Uint8Array(speechFile(10))], { type: 'audio/wav' });

/** `retries`: 0 or the documented policy. */
export function startTraffic(url: string, token: string, loops: number, retries: number): Traffic {
  const client = createClient({ url, token, retries });
  const outcomes: Outcome[] = [];
  let going = true;
  async function loop(): Promise<void> {
    while (going) {
      const startedAt = performance.now();
      const fault = await client.emotion(recording).then(() => null, describe);
      outcomes.push({ startedAt, endedAt: performance.now(), fault });
    }
  }
  const running = Array.from({ length: loops }, loop);
  const stop = async () => {
    going = false;
    await Promise.all(running);
    return outcomes;
  };
  return { outcomes, stop };
}

function describe(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

export const failures = (outcomes: readonly Outcome[]) => outcomes.filter(({ fault }) => fault !== null);

/** Requests that started within an interval. */
export function startedBetween(outcomes: readonly Outcome[], from: number, to: number): Outcome[] {
  return outcomes.filter(({ startedAt }) => startedAt >= from && startedAt < to);
}

export async function analyzeStatus(url: string, token: string): Promise<number> {
  const form = new FormData();
  form.append('audio', recording);
  const headers = { Authorization: `Bearer ${token}` };
  const answer = await fetch(`${url}/v1/analyze/emotion`, { method: 'POST', headers, body: form });
  await answer.body?.cancel();
  return answer.status;
}
