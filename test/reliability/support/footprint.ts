/** Resources of a service process, from the kernel and its metrics. */
import { setTimeout as sleep } from 'node:timers/promises';
import { descriptorsOf, residentMebibytes, threadsOf } from '../../../benchmarks/process.ts';
import { percentile } from '../../../src/tools/evaluate/statistics.ts';
import { call } from '../../support/http.ts';
import { atMost, exactly, type Row } from '../case.ts';

type Footprint = {
  readonly mebibytes: number;
  readonly threads: number;
  readonly descriptors: number;
};

export function footprint(pid: number): Footprint {
  return {
    mebibytes: residentMebibytes(pid),
    threads: threadsOf(pid),
    descriptors: descriptorsOf(pid),
  };
}

export type Growth = {
  readonly before: Footprint;
  readonly after: Footprint;
  /** Of resident memory, MiB a request; null when it could not be measured. */
  readonly slope: number | null;
  /** `heldResources` at the end. */
  readonly held: number;
};

/** What requests have left behind, since the warm-up. */
export function growthRows(
  { before, after, slope, held }: Growth,
  maxMebibytes: number,
  per: { readonly count: number; readonly what: string } = { count: 10_000, what: 'requests' },
): Row[] {
  const [from, to] = [before, after].map(({ mebibytes }) => mebibytes.toFixed(0));
  const note = `${from} MiB after the warm-up, ${to} MiB at the end`;
  const memory = slope === null ? null : per.count * slope;
  return [
    exactly(0, 'bytes, slots and workers still reserved', 'number', held),
    atMost(
      0,
      'descriptors gained',
      'number',
      after.descriptors - before.descriptors,
      `from ${before.descriptors}`,
    ),
    atMost(0, 'threads gained', 'number', after.threads - before.threads),
    atMost(
      maxMebibytes,
      `memory gained for ${per.count.toLocaleString('en')} ${per.what}`,
      'MiB',
      memory,
      note,
    ),
  ];
}

/** Buffered bytes, queued analyses, busy workers and live sessions: 0 when no request is left. */
const gauges = [
  'undertone_held_bytes',
  'undertone_account_request_bytes',
  'undertone_queue_length',
  'undertone_workers_busy',
  'undertone_stream_sessions',
  'undertone_stream_held_bytes',
];

/** The sum of the gauges. */
export async function heldResources(port: number): Promise<number> {
  const { body } = await call(port, { path: '/metrics' });
  const values = gauges.map((name) => Number(new RegExp(`^${name} (\\S+)$`, 'm').exec(body)?.[1]));
  return values.reduce((sum, value) => sum + value, 0);
}

/** Far longer than any operation on a busy machine. */
const maxWaitMs = 120_000;

/** @returns whether it came to hold in time */
export async function eventually(
  holds: () => boolean | Promise<boolean>,
  withinMs: number = maxWaitMs,
): Promise<boolean> {
  const until = performance.now() + withinMs;
  while (performance.now() < until) {
    if (await holds()) return true;
    await sleep(100);
  }
  return holds();
}

// The Theil-Sen estimator: the median of the slopes of all pairs.

export type Point = { readonly x: number; readonly y: number };

/** Null of fewer than two points. */
export function robustSlope(points: readonly Point[]): number | null {
  const slopes = points.flatMap((one, index) =>
    points.slice(index + 1).map((other) => (other.y - one.y) / (other.x - one.x)),
  );
  return percentile(slopes, 0.5);
}

/** The lowest point of each stretch: requests in progress add memory between them. */
export function lowest(points: readonly Point[], stretches: number): Point[] {
  const length = Math.ceil(points.length / stretches);
  return Array.from({ length: stretches }, (_, index) =>
    points.slice(index * length, (index + 1) * length),
  ).flatMap(([first, ...others]) =>
    first === undefined ? [] : [others.reduce((low, point) => (point.y < low.y ? point : low), first)],
  );
}
