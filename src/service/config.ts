/** Settings and limits from the environment, parsed once; all problems are reported together. */
import { availableParallelism } from 'node:os';
import { join, resolve } from 'node:path';
import { z } from 'zod';
import { shippedModels } from '../node/paths.ts';
import { suggest } from './suggest.ts';

export type Address = { readonly host: string; readonly port: number };

export type Rate = { readonly requests: number; readonly seconds: number };

/** The settings are documented in docs/operations.md. */
export type Config = ReturnType<typeof freeze>;
export type JobSettings = Config['jobs'];

export class ConfigError extends Error {
  readonly problems: readonly string[];

  constructor(problems: readonly string[]) {
    super(problems.join('\n'));
    this.name = 'ConfigError';
    this.problems = problems;
  }
}

const mebibyte = 2 ** 20;
const maxSettingSeconds = 86_400;
const maxSettingBytes = 2 ** 31;
const queuePerWorker = 8;
const sessionsPerWorker = 32;
/** Time of one upload or fetch of a job: 10 minutes for each 512 MiB that it may have, and at least 10. */
const uploadSeconds = 600;
const bytesPerUploadTime = 512 * mebibyte;
/** The maximum share of one account in the memory for bodies; see createByteBudget. */
const maxAccountShare = 3 / 4;
/** If another process uses this address, `serve` starts without metrics. */
export const defaultMetricsAddress: Address = Object.freeze({ host: '127.0.0.1', port: 9464 });
const logLevels = ['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'] as const;

/** RFC 6750, section 2.1. */
const bearerToken = /^[A-Za-z0-9\-._~+/]+=*$/;

const schema = z.object({
  UNDERTONE_HOST: nonEmpty('a host name or address').default('127.0.0.1'),
  UNDERTONE_PORT: integer(0, 65_535).default(8080),
  UNDERTONE_DATA_DIR: nonEmpty('a folder').default('./data'),
  UNDERTONE_DATABASE_URL: z
    .string()
    .refine((value) => /^(file:.+|postgres(ql)?:\/\/.+)/.test(value), {
      error: 'file:PATH or postgres://USER@HOST/DATABASE',
    })
    .optional(),
  UNDERTONE_TOKEN: z
    .string()
    .refine((value) => value.length >= 20 && value.length <= 512 && bearerToken.test(value), {
      error: '20 to 512 characters of a Bearer token',
    })
    .optional(),
  UNDERTONE_SECRET: z.string().min(32, { error: 'at least 32 random characters' }).optional(),
  UNDERTONE_PUBLIC_URL: parsedBy(
    parseOrigin,
    'https://HOST without a path, since pages and cookies have no prefix',
  ).optional(),
  UNDERTONE_TRUST_PROXY: integer(0, 10).default(0),
  UNDERTONE_SIGNUP: z.enum(['first', 'open', 'closed'], { error: 'first, open or closed' }).default('first'),
  UNDERTONE_EMBEDDINGS: z.enum(['on', 'off'], { error: 'on or off' }).default('off'),
  UNDERTONE_RECEIPTS: z.enum(['requested', 'always'], { error: 'requested or always' }).default('requested'),
  UNDERTONE_RECEIPT_KEYS: nonEmpty('a file').optional(),
  UNDERTONE_CORS_ORIGINS: parsedBy(parseOrigins, 'https://HOST[,https://HOST...]').default([]),
  UNDERTONE_RATE_LIMIT: rate().optional(),
  UNDERTONE_ADDRESS_RATE_LIMIT: rate().optional(),
  UNDERTONE_MODELS_DIR: nonEmpty('a folder').optional(),
  UNDERTONE_COMPARE_MODELS_DIR: nonEmpty('a folder').optional(),
  UNDERTONE_WORKERS: integer(1, 1024).optional(),
  UNDERTONE_QUEUE: integer(0, 100_000).optional(),
  UNDERTONE_BUFFER_BYTES: integer(1, 1024 * maxSettingBytes).default(256 * mebibyte),
  UNDERTONE_MAX_UPLOAD_BYTES: integer(1, maxSettingBytes).default(25 * mebibyte),
  UNDERTONE_MAX_SECONDS: seconds(maxSettingSeconds).default(900),
  UNDERTONE_DEADLINE_S: seconds(maxSettingSeconds).default(30),
  UNDERTONE_SHUTDOWN_S: seconds(maxSettingSeconds).default(30),
  UNDERTONE_GRACE_S: seconds(maxSettingSeconds).default(1),
  UNDERTONE_LOG_LEVEL: z.enum(logLevels, { error: `one of ${logLevels.join(', ')}` }).default('info'),
  UNDERTONE_METRICS_ADDRESS: parsedBy(parseMetricsAddress, 'HOST:PORT, public or off').optional(),
  UNDERTONE_OTLP_URL: parsedBy(parseHttpUrl, 'http://HOST:PORT/PATH of a collector').optional(),
  UNDERTONE_STREAM_SESSIONS: integer(0, 100_000).optional(),
  UNDERTONE_STREAM_ACCOUNT_SESSIONS: integer(1, 100_000).optional(),
  UNDERTONE_STREAM_MAX_SECONDS: seconds(maxSettingSeconds).default(3600),
  UNDERTONE_STREAM_IDLE_S: seconds(maxSettingSeconds).default(60),
  UNDERTONE_STREAM_BUFFER_BYTES: integer(1, 1024 * maxSettingBytes).default(1024 * mebibyte),
  UNDERTONE_REDIS_URL: z
    .string()
    .refine((value) => /^(rediss?:\/\/.+|\/.+)/.test(value), {
      error: 'redis://HOST or the path of a socket',
    })
    .optional(),
  UNDERTONE_JOB_WORKERS: integer(0, 1024).optional(),
  UNDERTONE_JOB_BUFFER_BYTES: integer(1, 1024 * maxSettingBytes).default(512 * mebibyte),
  UNDERTONE_JOB_MAX_BYTES: integer(1, maxSettingBytes).default(512 * mebibyte),
  UNDERTONE_JOB_MAX_SECONDS: seconds(maxSettingSeconds).default(43_200),
  UNDERTONE_JOB_QUEUE: integer(1, 10_000_000).default(10_000),
  UNDERTONE_JOB_AUDIO_S: integer(1, 30 * maxSettingSeconds).default(21_600),
  UNDERTONE_JOB_RESULT_S: integer(1, 365 * maxSettingSeconds).default(86_400),
  UNDERTONE_JOB_RESULTS: integer(1, 100_000_000).default(100_000),
  UNDERTONE_JOB_RESULT_BYTES: integer(1, 1024 * maxSettingBytes).default(2048 * mebibyte),
  UNDERTONE_JOB_URL_PREFIXES: parsedBy(parsePrefixes, 'https://HOST/PATH/[,https://HOST/PATH/...]').default(
    [],
  ),
  UNDERTONE_JOB_PRIVATE_HOSTS: parsedBy(parseHosts, 'HOST[,HOST...]').default([]),
});

type Settings = z.output<typeof schema>;

export const settingNames: readonly string[] = Object.keys(schema.shape);

/** @throws ConfigError with one line per problem */
export function parseConfig(env: Readonly<Record<string, string | undefined>>): Config {
  const variables = Object.fromEntries(
    Object.entries(env).filter(([name, value]) => name.startsWith('UNDERTONE_') && value !== undefined),
  );
  const problems = [...unknownNames(variables), ...placeholders(variables)];
  const parsed = schema.safeParse(variables);
  if (!parsed.success) problems.push(...parsed.error.issues.map((issue) => describe(issue, variables)));
  else problems.push(...conflicts(parsed.data));
  if (!parsed.success || problems.length > 0) throw new ConfigError(problems);
  return freeze(parsed.data);
}

function freeze(settings: Settings) {
  const dataDir = resolve(settings.UNDERTONE_DATA_DIR);
  const workers = settings.UNDERTONE_WORKERS ?? availableParallelism();
  const sessions = settings.UNDERTONE_STREAM_SESSIONS ?? sessionsPerWorker * workers;
  const databaseUrl = settings.UNDERTONE_DATABASE_URL ?? `file:${join(dataDir, 'undertone.db')}`;
  const jobWorkers = Math.min(settings.UNDERTONE_JOB_WORKERS ?? workers, workers);
  const isAlone = databaseUrl.startsWith('file:');
  return Object.freeze({
    host: settings.UNDERTONE_HOST,
    port: settings.UNDERTONE_PORT,
    dataDir,
    databaseUrl,
    token: settings.UNDERTONE_TOKEN ?? null,
    /** Null for the file in the data folder. */
    secret: settings.UNDERTONE_SECRET ?? null,
    /** Origin of the service for browsers; null accepts the Host header. */
    publicUrl: settings.UNDERTONE_PUBLIC_URL ?? null,
    trustedProxies: settings.UNDERTONE_TRUST_PROXY,
    signUp: settings.UNDERTONE_SIGNUP,
    embeddings: settings.UNDERTONE_EMBEDDINGS === 'on',
    receipts: settings.UNDERTONE_RECEIPTS,
    /** Null for the file in the data folder. */
    receiptKeys:
      settings.UNDERTONE_RECEIPT_KEYS === undefined ? null : resolve(settings.UNDERTONE_RECEIPT_KEYS),
    corsOrigins: Object.freeze(settings.UNDERTONE_CORS_ORIGINS),
    /** Null for no limit. */
    tokenRate: settings.UNDERTONE_RATE_LIMIT ?? null,
    addressRate: settings.UNDERTONE_ADDRESS_RATE_LIMIT ?? null,
    modelsDir:
      settings.UNDERTONE_MODELS_DIR === undefined ? shippedModels : resolve(settings.UNDERTONE_MODELS_DIR),
    /** A second set, which the playground compares with that of `modelsDir`; null: none. */
    comparedModelsDir:
      settings.UNDERTONE_COMPARE_MODELS_DIR === undefined
        ? null
        : resolve(settings.UNDERTONE_COMPARE_MODELS_DIR),
    workers,
    queue: settings.UNDERTONE_QUEUE ?? queuePerWorker * workers,
    bufferBytes: settings.UNDERTONE_BUFFER_BYTES,
    maxUploadBytes: settings.UNDERTONE_MAX_UPLOAD_BYTES,
    deadlineSeconds: settings.UNDERTONE_DEADLINE_S,
    shutdownSeconds: settings.UNDERTONE_SHUTDOWN_S,
    graceSeconds: settings.UNDERTONE_GRACE_S,
    logLevel: settings.UNDERTONE_LOG_LEVEL,
    /** `public`: GET /metrics of the service itself. */
    metricsAddress: settings.UNDERTONE_METRICS_ADDRESS ?? defaultMetricsAddress,
    /** Null exports no traces. */
    otlpUrl: settings.UNDERTONE_OTLP_URL ?? null,
    limits: Object.freeze({
      seconds: settings.UNDERTONE_MAX_SECONDS,
      channels: 8,
      minSampleRate: 4000,
      maxSampleRate: 384_000,
      deadlineSeconds: settings.UNDERTONE_DEADLINE_S,
    }),
    stream: Object.freeze({
      sessions,
      /** Null: half of `sessions` with more than one account, otherwise all. */
      accountSessions: settings.UNDERTONE_STREAM_ACCOUNT_SESSIONS ?? null,
      maxSeconds: settings.UNDERTONE_STREAM_MAX_SECONDS,
      idleSeconds: settings.UNDERTONE_STREAM_IDLE_S,
      bufferBytes: settings.UNDERTONE_STREAM_BUFFER_BYTES,
    }),
    /** Null: jobs wait in the memory of the service. */
    redisUrl: settings.UNDERTONE_REDIS_URL ?? null,
    jobs: Object.freeze({
      /** False where they would wait in the memory of one of several services, or of one that takes none. */
      available: settings.UNDERTONE_REDIS_URL !== undefined || (isAlone && jobWorkers > 0),
      /** Of the service itself; 0: it takes no jobs. */
      workers: jobWorkers,
      /** Of recordings that wait in the memory of the service. */
      bufferBytes: settings.UNDERTONE_JOB_BUFFER_BYTES,
      maxBytes: settings.UNDERTONE_JOB_MAX_BYTES,
      maxUploadBytes: Math.min(
        settings.UNDERTONE_JOB_MAX_BYTES,
        settings.UNDERTONE_REDIS_URL === undefined
          ? maxRecordingBytes(settings.UNDERTONE_JOB_BUFFER_BYTES)
          : Number.POSITIVE_INFINITY,
      ),
      maxSeconds: settings.UNDERTONE_JOB_MAX_SECONDS,
      queue: settings.UNDERTONE_JOB_QUEUE,
      uploadSeconds: uploadSeconds * Math.max(1, settings.UNDERTONE_JOB_MAX_BYTES / bytesPerUploadTime),
      audioSeconds: settings.UNDERTONE_JOB_AUDIO_S,
      resultSeconds: settings.UNDERTONE_JOB_RESULT_S,
      /** Jobs of an account in the database. */
      results: settings.UNDERTONE_JOB_RESULTS,
      /** Of their results. */
      resultBytes: settings.UNDERTONE_JOB_RESULT_BYTES,
      urlPrefixes: Object.freeze(settings.UNDERTONE_JOB_URL_PREFIXES),
      privateHosts: Object.freeze(settings.UNDERTONE_JOB_PRIVATE_HOSTS),
    }),
  });
}

/** Without Redis a job waits in the memory, of which an owner gets half: its recording, and its payload of up to 1 MiB. */
function maxRecordingBytes(bufferBytes: number): number {
  return Math.floor(bufferBytes / 2 - Math.min(mebibyte, bufferBytes / 16));
}

function unknownNames(variables: Readonly<Record<string, string | undefined>>): string[] {
  return Object.keys(variables)
    .filter((name) => !settingNames.includes(name))
    .sort()
    .map((name) => {
      const known = suggest(name, settingNames);
      return `Expected a known setting, got \`${name}\`${known === null ? '' : `; did you mean ${known}?`}`;
    });
}

/** Placeholders of secrets in deploy/, which are public. */
const placeholder = /replace-me/i;

function placeholders(variables: Readonly<Record<string, string | undefined>>): string[] {
  return Object.keys(variables)
    .filter((name) => settingNames.includes(name) && placeholder.test(variables[name] ?? ''))
    .sort()
    .map((name) => `Expected a value of your own for \`${name}\`, got the placeholder of an example`);
}

function conflicts(settings: Settings): string[] {
  const minBytes = Math.ceil(settings.UNDERTONE_MAX_UPLOAD_BYTES / maxAccountShare);
  if (settings.UNDERTONE_BUFFER_BYTES >= minBytes) return [];
  const expected = `at least 4/3 of UNDERTONE_MAX_UPLOAD_BYTES (${minBytes})`;
  return [`Expected ${expected} for \`UNDERTONE_BUFFER_BYTES\`, got ${settings.UNDERTONE_BUFFER_BYTES}`];
}

function describe(issue: z.core.$ZodIssue, variables: Readonly<Record<string, string | undefined>>): string {
  const name = String(issue.path[0]);
  return `Expected ${issue.message} for \`${name}\`, got ${redact(name, variables[name] ?? '')}`;
}

/** Problems are logged: secrets are reduced to their length, URLs that may contain a password to their scheme. */
function redact(name: string, value: string): string {
  if (name === 'UNDERTONE_TOKEN' || name === 'UNDERTONE_SECRET') return `${value.length} characters`;
  if (name === 'UNDERTONE_DATABASE_URL' || name === 'UNDERTONE_REDIS_URL')
    return /^[a-z][a-z0-9+.-]*:/i.exec(value)?.[0] ?? 'no scheme';
  return JSON.stringify(value);
}

function nonEmpty(expected: string) {
  return z.string().min(1, { error: expected });
}

function integer(min: number, max: number) {
  return z.string().transform((value, context) => {
    const number = Number(value);
    const valid = /^\d{1,15}$/.test(value) && number >= min && number <= max;
    return valid ? number : addIssue(context, `an integer from ${min} to ${max}`);
  });
}

function seconds(max: number) {
  return z.string().transform((value, context) => {
    const number = Number(value);
    const valid = /^\d{1,9}(\.\d{1,9})?$/.test(value) && number > 0 && number <= max;
    return valid ? number : addIssue(context, `seconds above 0 and up to ${max}`);
  });
}

function rate() {
  return z.string().transform((value, context): Rate => {
    const [, requests, seconds] = /^([1-9]\d{0,8})\/([1-9]\d{0,4})$/.exec(value) ?? [];
    const valid = requests !== undefined && Number(seconds) <= maxSettingSeconds;
    if (!valid) return addIssue(context, `REQUESTS/SECONDS, of up to ${maxSettingSeconds} s`);
    return { requests: Number(requests), seconds: Number(seconds) };
  });
}

/** @param parse returns null for an invalid value */
function parsedBy<Value>(parse: (text: string) => Value | null, expected: string) {
  return z.string().transform((value, context): Value => parse(value) ?? addIssue(context, expected));
}

function addIssue(context: z.RefinementCtx, message: string): never {
  context.addIssue({ code: 'custom', message });
  return z.NEVER;
}

/** Returns the value as in the header Origin. */
function parseOrigin(value: string): string | null {
  const url = URL.canParse(value) ? new URL(value) : null;
  const isOrigin = url !== null && /^https?:$/.test(url.protocol) && url.href === `${url.origin}/`;
  return isOrigin ? url.origin : null;
}

function parseHttpUrl(value: string): string | null {
  return URL.canParse(value) && /^https?:$/.test(new URL(value).protocol) ? value : null;
}

function splitList(value: string): string[] {
  return value.split(',').map((item) => item.trim());
}

function parseOrigins(value: string): string[] | null {
  const origins = splitList(value).map(parseOrigin);
  return origins.every((origin) => origin !== null) ? origins : null;
}

function parsePrefixes(value: string): string[] | null {
  const prefixes = splitList(value);
  const valid = (text: string) => {
    const url = URL.canParse(text) ? new URL(text) : null;
    return url !== null && /^https?:$/.test(url.protocol) && /^(?:(?!%2f|%5c|%25)[^?#@])*\/$/i.test(url.href);
  };
  return prefixes.every(valid) ? prefixes.map((text) => new URL(text).href) : null;
}

/** Returns hosts as `URL.hostname`. */
function parseHosts(value: string): string[] | null {
  const urls = splitList(value).map(
    (text) => `http://${text.includes(':') && !text.startsWith('[') ? `[${text}]` : text}/`,
  );
  const valid = urls.every(
    (url) => URL.canParse(url) && new URL(url).href === `http://${new URL(url).hostname}/`,
  );
  return valid ? urls.map((url) => new URL(url).hostname) : null;
}

function parseMetricsAddress(value: string): Address | 'public' | 'off' | null {
  return value === 'public' || value === 'off' ? value : parseAddress(value);
}

function parseAddress(value: string): Address | null {
  const match = /^(?:\[([0-9A-Fa-f:.]+)\]|([^:[\]\s]+)):(\d{1,5})$/.exec(value);
  const port = Number(match?.[3]);
  const host = match?.[1] ?? match?.[2];
  return host !== undefined && port <= 65_535 ? { host, port } : null;
}
