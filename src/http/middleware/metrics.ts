/** Counters and gauges in Prometheus' text format. */
import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client';
import type { Stage } from '../../analysis/stage-timer.ts';
import type { JobStats } from '../../jobs/jobs.ts';
import type { PoolStats } from '../../workers/pool.ts';
import type { ByteBudget } from '../body/byte-budget.ts';

export type MetricSources = {
  readonly bodies: Pick<ByteBudget, 'bytes' | 'accounts'>;
  readonly accountBodies: Pick<ByteBudget, 'bytes'>;
  pool(): PoolStats;
  ready(): boolean;
};

export type Request = {
  readonly route: string;
  readonly method: string;
  /** 499 for a client that left before its answer. */
  readonly status: number;
  readonly ms: number;
  readonly stages: readonly Stage[];
};

export type Metrics = {
  readonly contentType: string;
  text(): Promise<string>;
  record(request: Request): void;
  /** Gauges read these whenever the text is made. */
  watch(figures: MetricSources): void;
  /** What cannot be asked is told as NaN. */
  watchJobs(figures: () => Promise<JobStats>): void;
};

const buckets = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30];

export function createMetrics(): Metrics {
  const registry = new Registry();
  const registers = [registry];
  collectDefaultMetrics({ register: registry });
  const requests = new Counter({
    name: 'undertone_requests_total',
    help: 'Requests answered',
    labelNames: ['route', 'method', 'status'],
    registers,
  });
  const seconds = new Histogram({
    name: 'undertone_request_seconds',
    help: 'From the head of a request to its answer',
    labelNames: ['route'],
    buckets,
    registers,
  });
  const stageSeconds = new Histogram({
    name: 'undertone_stage_seconds',
    help: 'Time in each stage of an analysis',
    labelNames: ['stage'],
    buckets,
    registers,
  });
  const counted = remember<Counter.Internal>();
  const timed = remember<Histogram.Internal<string>>();
  const staged = remember<Histogram.Internal<string>>();
  return {
    contentType: registry.contentType,
    text: () => registry.metrics(),
    record: ({ route, method, status, ms, stages }) => {
      counted(`${status} ${method} ${route}`, () => requests.labels(route, method, String(status))).inc();
      timed(route, () => seconds.labels(route)).observe(ms / 1000);
      for (const { name, ms } of stages) staged(name, () => stageSeconds.labels(name)).observe(ms / 1000);
    },
    watch: (figures) => watch(registers, figures),
    watchJobs: (figures) => watchJobs(registers, figures),
  };
}

/** Finding a series by its labels costs more than counting in it. */
function remember<Series>(): (key: string, make: () => Series) => Series {
  const known = new Map<string, Series>();
  return (key, make) => {
    const found = known.get(key) ?? make();
    known.set(key, found);
    return found;
  };
}

function watch(registers: Registry[], figures: MetricSources): void {
  const gauge = (name: string, help: string, read: () => number) =>
    new Gauge({
      name,
      help,
      registers,
      collect() {
        this.set(read());
      },
    });
  const { accountBodies, bodies, pool } = figures;
  gauge('undertone_held_bytes', 'Bytes of request bodies in memory', bodies.bytes);
  gauge('undertone_held_accounts', 'Accounts with request bodies in memory', bodies.accounts);
  gauge('undertone_account_request_bytes', 'Bytes of account requests in memory', accountBodies.bytes);
  gauge('undertone_queue_length', 'Analyses that wait for a worker', () => pool().queued);
  gauge('undertone_queue_accounts', 'Accounts with analyses that wait', () => pool().accounts);
  gauge(
    'undertone_queue_displaced',
    'Analyses that gave their place to another account',
    () => pool().displaced,
  );
  gauge('undertone_workers_busy', 'Workers with an analysis', () => pool().running);
  gauge('undertone_workers_lost', 'Workers that died and were replaced', () => pool().lost);
  gauge('undertone_ready', '1 when GET /ready answers 200', () => Number(figures.ready()));
}

/** One question to Redis serves the three gauges of a scrape. */
const sameScrapeMs = 500;

function watchJobs(registers: Registry[], figures: () => Promise<JobStats>): void {
  const unknown = { waiting: Number.NaN, running: Number.NaN, oldest: Number.NaN };
  let asked: { readonly at: number; readonly answer: Promise<JobStats> } | null = null;
  const ask = (): Promise<JobStats> => {
    const now = performance.now();
    if (asked === null || now - asked.at > sameScrapeMs) {
      asked = { at: now, answer: figures().catch(() => unknown) };
    }
    return asked.answer;
  };
  const gauge = (name: string, help: string, read: keyof JobStats) =>
    new Gauge({
      name,
      help,
      registers,
      async collect() {
        this.set((await ask())[read]);
      },
    });
  gauge('undertone_jobs_waiting', 'Jobs that wait for a worker, on whatever host', 'waiting');
  gauge('undertone_jobs_running', 'Jobs that workers have', 'running');
  gauge('undertone_jobs_oldest_seconds', 'How long the next job in the queue has waited', 'oldest');
}
