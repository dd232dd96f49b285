/** Metrics in the text format of Prometheus, and GET /metrics. */

import type { Router } from '@koa/router';
import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client';
import type { Stage } from '../../engine/index.ts';
import type { BackgroundWrite } from '../background-writes.ts';
import type { FairBudget } from '../fair-share.ts';
import type { JobStats } from '../jobs/jobs.ts';
import { closeCodes } from '../live/protocol.ts';
import type { SessionMetrics } from '../live/session.ts';
import type { PoolStats } from '../workers/pool.ts';
import type { State } from './context.ts';
import { requireKnownHost } from './hosts.ts';

type MetricSources = {
  readonly bodies: Pick<FairBudget, 'used' | 'keys'>;
  readonly accountBodies: Pick<FairBudget, 'used'>;
  readonly results: Pick<FairBudget, 'used'>;
  pool(): PoolStats;
  ready(): boolean;
};

type RequestMetrics = {
  readonly route: string;
  readonly method: string;
  /** 499 when the client closed the connection before the response. */
  readonly status: number;
  readonly ms: number;
  readonly stages: readonly Stage[];
};

type UnreadSources = { bytes(): number; closed(): number };

type StreamSources = { sessions(): number; bytes(): number };

export type Metrics = ReturnType<typeof createMetrics>;

const buckets = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30];

export function createMetrics() {
  const registry = new Registry();
  const registers = [registry];
  collectDefaultMetrics({ register: registry });
  const requests = new Counter({
    name: 'undertone_requests_total',
    help: 'Responses, by route, method and status',
    labelNames: ['route', 'method', 'status'],
    registers,
  });
  const seconds = new Histogram({
    name: 'undertone_request_seconds',
    help: 'Time from the headers of a request to its response, by route',
    labelNames: ['route'],
    buckets,
    registers,
  });
  const stageSeconds = new Histogram({
    name: 'undertone_stage_seconds',
    help: 'Time in each stage of an analysis: upload, decode, features, ...',
    labelNames: ['stage'],
    buckets,
    registers,
  });
  const countOf = cacheByKey<Counter.Internal>();
  const timerOf = cacheByKey<Histogram.Internal<string>>();
  const stageTimerOf = cacheByKey<Histogram.Internal<string>>();
  return {
    contentType: registry.contentType,
    text: () => registry.metrics(),
    record: ({ route, method, status, ms, stages }: RequestMetrics) => {
      countOf(`${status} ${method} ${route}`, () => requests.labels(route, method, String(status))).inc();
      timerOf(route, () => seconds.labels(route)).observe(ms / 1000);
      for (const { name, ms } of stages)
        stageTimerOf(name, () => stageSeconds.labels(name)).observe(ms / 1000);
    },
    /** The gauges read the sources at each scrape. */
    addGauges: (sources: MetricSources) => addGauges(registers, sources),
    /** @param sources bytes of responses that wait for their clients, and connections closed for it */
    addUnread: (sources: UnreadSources) => addUnread(registers, sources),
    /** @param sources open sessions, and the bytes of their audio */
    addStreams: (sources: StreamSources) => addStreams(registers, sources),
    /** @param read failed attempts since the start */
    addWriteFailures: (read: () => Readonly<Record<BackgroundWrite, number>>) =>
      addWriteFailures(registers, read),
    /** The gauges are NaN while `readStats` fails. */
    addJobGauges: (readStats: () => Promise<JobStats>, waits: () => number) =>
      addJobGauges(registers, readStats, waits),
  };
}

/** Caches series by key, since prom-client's lookup by labels costs more than the update. */
function cacheByKey<Series>(): (key: string, create: () => Series) => Series {
  const cache = new Map<string, Series>();
  return (key, create) => {
    const series = cache.get(key) ?? create();
    cache.set(key, series);
    return series;
  };
}

function gaugeOf(registers: Registry[]) {
  return (name: string, help: string, read: () => number) =>
    new Gauge({
      name,
      help,
      registers,
      collect() {
        this.set(read());
      },
    });
}

function counterOf(registers: Registry[]) {
  return (name: string, help: string, read: () => number) =>
    new Counter({
      name,
      help,
      registers,
      collect() {
        this.reset();
        this.inc(read());
      },
    });
}

function addGauges(registers: Registry[], sources: MetricSources): void {
  const gauge = gaugeOf(registers);
  const counter = counterOf(registers);
  const { accountBodies, bodies, pool, results } = sources;
  gauge('undertone_held_bytes', 'Bytes of request bodies in memory', bodies.used);
  gauge('undertone_result_bytes', 'Bytes reserved for stored results of jobs that are sent', results.used);
  gauge('undertone_held_accounts', 'Accounts with request bodies in memory', bodies.keys);
  gauge(
    'undertone_account_request_bytes',
    'Bytes of log-in and account request bodies in memory',
    accountBodies.used,
  );
  gauge(
    'undertone_queue_length',
    'Requests that wait for a worker, with steps and reports of live sessions',
    () => pool().queued,
  );
  gauge('undertone_queue_accounts', 'Accounts with requests that wait', () => pool().accounts);
  counter(
    'undertone_queue_displaced_total',
    'Queued requests displaced by another account',
    () => pool().displaced,
  );
  gauge('undertone_workers_busy', 'Workers with an analysis', () => pool().running);
  counter('undertone_workers_lost_total', 'Workers that died and were replaced', () => pool().lost);
  gauge('undertone_ready', '1 when GET /ready returns 200', () => Number(sources.ready()));
}

function addUnread(registers: Registry[], { bytes, closed }: UnreadSources): void {
  gaugeOf(registers)('undertone_unread_bytes', 'Bytes in memory that wait for slow clients to read', bytes);
  counterOf(registers)(
    'undertone_unread_closed_total',
    'Connections closed because the client did not read its response',
    closed,
  );
}

function addStreams(registers: Registry[], { sessions, bytes }: StreamSources): SessionMetrics {
  const gauge = gaugeOf(registers);
  gauge('undertone_stream_sessions', 'Open live sessions', sessions);
  gauge('undertone_stream_held_bytes', 'Bytes of the audio of live sessions in memory', bytes);
  const messages = new Counter({
    name: 'undertone_stream_messages_total',
    help: 'Messages to clients of live sessions, by type',
    labelNames: ['type'],
    registers,
  });
  const closed = new Counter({
    name: 'undertone_stream_closed_total',
    help: 'Live sessions that the service closed, by code',
    labelNames: ['code'],
    registers,
  });
  for (const code of Object.values(closeCodes)) closed.labels(String(code)).inc(0);
  const audio = new Counter({
    name: 'undertone_stream_audio_seconds_total',
    help: 'Seconds of audio in live sessions',
    registers,
  });
  const stepSeconds = new Histogram({
    name: 'undertone_stream_step_seconds',
    help: 'Time from the last sample of a step of a live session, every 0.25 s of audio, to its messages',
    buckets,
    registers,
  });
  return {
    message: (type) => messages.labels(type).inc(),
    audio: (seconds) => audio.inc(seconds),
    step: (ms) => stepSeconds.observe(ms / 1000),
    closed: (code) => closed.labels(String(code)).inc(),
  };
}

function addWriteFailures(
  registers: Registry[],
  read: () => Readonly<Record<BackgroundWrite, number>>,
): void {
  new Counter({
    name: 'undertone_background_write_failures_total',
    help: 'Failed writes to the database that no request waits for, by write: usage, last_used, expiry. They are tried again; the log has the first, one every 10 minutes, and the end',
    labelNames: ['write'],
    registers,
    collect() {
      this.reset();
      for (const [write, count] of Object.entries(read())) this.labels(write).inc(count);
    },
  });
}

/** One read of Redis serves all gauges of a scrape. */
const maxStatsAgeMs = 500;

function addJobGauges(registers: Registry[], readStats: () => Promise<JobStats>, waits: () => number): void {
  const names = ['waiting', 'running', 'oldest', 'workers', 'callbacks', 'heldBytes'] as const;
  const unknown = Object.fromEntries(names.map((name) => [name, Number.NaN])) as JobStats;
  let last: { readonly at: number; readonly stats: Promise<JobStats> } | null = null;
  const recentStats = (): Promise<JobStats> => {
    const now = performance.now();
    if (last === null || now - last.at > maxStatsAgeMs) {
      last = { at: now, stats: readStats().catch(() => unknown) };
    }
    return last.stats;
  };
  const gauge = (name: string, help: string, key: keyof JobStats) =>
    new Gauge({
      name,
      help,
      registers,
      async collect() {
        this.set((await recentStats())[key]);
      },
    });
  gaugeOf(registers)('undertone_job_waits', 'Requests that wait for the end of a job', waits);
  gauge('undertone_jobs_waiting', 'Jobs that wait for a worker; NaN while Redis is unreachable', 'waiting');
  gauge('undertone_jobs_running', 'Jobs on a worker, on any host', 'running');
  gauge('undertone_jobs_oldest_seconds', 'Waiting time of the next job in the queue', 'oldest');
  gauge(
    'undertone_job_processes',
    'Processes that take jobs: workers, and services that do so themselves',
    'workers',
  );
  gauge(
    'undertone_callbacks_waiting',
    'Callbacks of jobs that wait, also for a further attempt',
    'callbacks',
  );
  gauge('undertone_jobs_held_bytes', 'Bytes of recordings and payloads of waiting jobs', 'heldBytes');
}

// GET /metrics.

type MetricsOptions = {
  readonly metrics: Metrics;
  /** A page of a name that was rebound to this address must not read them. */
  readonly config: Parameters<typeof requireKnownHost>[0];
};

export function addMetricsRoutes(router: Router<State>, { metrics, config }: MetricsOptions): void {
  router.get('/metrics', requireKnownHost(config), async function showMetrics(context) {
    context.set('Content-Type', metrics.contentType);
    context.body = await metrics.text();
  });
}
