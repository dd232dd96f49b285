/** What the service needs: checks of its settings, native code, models, storage and limits. */
import { rm, statfs, writeFile } from 'node:fs/promises';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import type { Config } from './config.ts';

type CheckResult = { readonly state: 'ok' | 'warning'; readonly text: string };

const ok = (text: string): CheckResult => ({ state: 'ok', text });
const warning = (text: string): CheckResult => ({ state: 'warning', text });

const mebibyte = 2 ** 20;
const minFreeBytes = 100 * mebibyte;
/** Memory of an idle process and of each worker, as `npm run bench -- startup` measures 271 MiB with two. */
const processBytes = 179 * mebibyte;
const workerBytes = 46 * mebibyte;
const minOpenFiles = 4096;
const maxClockSkewSeconds = 5;

/** A check throws when it fails. */
export const checks: Readonly<Record<string, (config: Config) => Promise<CheckResult>>> = {
  node: async () => ok(`Node.js ${process.versions.node}, ${process.platform}-${process.arch}`),
  addon: checkAddon,
  models: ({ modelsDir }) => checkModels(modelsDir),
  compared: async ({ comparedModelsDir }) =>
    comparedModelsDir === null ? ok('no second set') : checkModels(comparedModelsDir),
  recordings: checkRecordings,
  disk: checkDisk,
  database: checkDatabase,
  redis: checkRedis,
  clock: checkClock,
  limits: checkLimits,
};

async function checkAddon(): Promise<CheckResult> {
  const { featuresVersion, lanes } = await import('../node/addon.ts');
  return ok(`native addon, features version ${featuresVersion}, ${lanes} frames at a time`);
}

/** Loads the models, which checks their hashes, and runs each on the synthetic signal of its golden. */
async function checkModels(modelsDir: string): Promise<CheckResult> {
  const { loadModels, readGolden } = await import('../node/models.ts');
  const { goldenDifferences } = await import('../engine/index.ts');
  const models = await loadModels(modelsDir);
  for (const { kind } of models.manifests) {
    const golden = await readGolden(modelsDir, kind);
    const [difference] = await goldenDifferences(models, golden, kind);
    if (difference !== undefined)
      throw new Error(`${modelsDir}: Expected the outputs of golden.json, got ${difference}`);
  }
  const versions = models.manifests.map(({ name, version }) => `${name} ${version}`);
  return ok(`${modelsDir}: ${versions.join(', ')}, outputs as in golden.json`);
}

/** Analyses the recordings of known failures, and compares their scores with those of the models' failures.json. */
async function checkRecordings({ modelsDir, limits }: Config): Promise<CheckResult> {
  const { analyzeFailure, readFailures, readFailureScores } = await import('./trust.ts');
  const { createAnalyzer } = await import('../node/models.ts');
  const { largestDifference, tolerance } = await import('./verify-receipt.ts');
  const answers = await readFailureScores(modelsDir);
  if (answers === null) return ok('these models have no failures.json');
  const analyzer = await createAnalyzer({ modelsDir, limits });
  const got: Record<string, object> = {};
  for (const failure of await readFailures()) got[failure.file] = await analyzeFailure(analyzer, failure);
  const [field, difference] = largestDifference(answers, got);
  const largest = `${field} by ${difference.toFixed(4)}`;
  if (difference > tolerance)
    throw new Error(
      `Expected the scores of failures.json, got others: ${Number.isFinite(difference) ? largest : field}`,
    );
  const found = difference === 0 ? 'identical to' : `within ${tolerance} of`;
  return ok(`${Object.keys(got).length} analysed, scores ${found} failures.json`);
}

async function checkDisk({ dataDir }: Config): Promise<CheckResult> {
  const { ensureDir } = await import('../node/files.ts');
  ensureDir(dataDir);
  const probe = join(dataDir, `.doctor-${process.pid}`);
  await writeFile(probe, '');
  await rm(probe);
  const { bavail, bsize } = await statfs(dataDir);
  const free = bavail * bsize;
  const text = `${dataDir}: ${Math.floor(free / mebibyte)} MiB free`;
  return free < minFreeBytes ? warning(`${text}, expected 100 MiB or more`) : ok(text);
}

async function checkDatabase({ databaseUrl }: Config): Promise<CheckResult> {
  const { databaseKind, withDatabase } = await import('./database.ts');
  const { tokens } = await withDatabase(databaseUrl, (database) =>
    database
      .selectFrom('tokens')
      .select(({ fn }) => fn.countAll().as('tokens'))
      .executeTakeFirstOrThrow(),
  );
  return ok(`${databaseKind(databaseUrl)}, ${tokens} ${tokens === 1 ? 'token' : 'tokens'}`);
}

async function checkRedis(config: Config): Promise<CheckResult> {
  const { redisUrl, jobs } = config;
  const state = jobs.available ? 'jobs wait in memory' : 'no jobs';
  if (redisUrl === null) return ok(`not configured: ${state}, limits per process`);
  return withRedis(redisUrl, async ({ requireNoPersistence }, redis) => {
    await requireNoPersistence(redis);
    if (jobs.workers > 0) return ok('reachable, without persistence');
    const { createCipher } = await import('./jobs/cipher.ts');
    const { noWorkerAdvice } = await import('./jobs/embedded-worker.ts');
    const { openQueues } = await import('./jobs/redis-queues.ts');
    const secret =
      config.secret ?? (await (await import('./auth/secret.ts')).loadOrCreateSecret(config.dataDir));
    const queues = openQueues(redis, createCipher(secret));
    const workers = await queues.countWorkers('worker');
    await queues.close();
    const text = `reachable, without persistence, ${workers} ${workers === 1 ? 'worker' : 'workers'}`;
    return workers === 0 ? warning(`${text}: ${noWorkerAdvice}`) : ok(text);
  });
}

/** Compares with Redis, whose clock the hosts of a fleet share. */
async function checkClock({ redisUrl }: Config): Promise<CheckResult> {
  const now = new Date().toISOString();
  if (redisUrl === null) return ok(now);
  return withRedis(redisUrl, async (_, redis) => {
    const [seconds] = await redis.time();
    const skew = Math.abs(Date.now() / 1000 - Number(seconds));
    const text = `${now}, ${Math.round(skew)} s from Redis`;
    return skew > maxClockSkewSeconds ? warning(`${text}: synchronise the clocks`) : ok(text);
  });
}

async function withRedis(
  url: string,
  run: (module: typeof import('./redis.ts'), redis: import('./redis.ts').Redis) => Promise<CheckResult>,
): Promise<CheckResult> {
  const module = await import('./redis.ts');
  const redis = module.openRedis(url);
  try {
    if (!(await module.waitForRedis(redis))) throw new Error('Expected a reachable Redis, got no connection');
    return await run(module, redis);
  } finally {
    redis.disconnect();
  }
}

async function checkLimits({ workers, bufferBytes, redisUrl, jobs }: Config): Promise<CheckResult> {
  const report = process.report.getReport() as {
    readonly userLimits?: { readonly open_files?: { readonly soft: number | 'unlimited' } };
  };
  const files = report.userLimits?.open_files?.soft ?? 'unlimited';
  const memory = process.constrainedMemory() || Number.POSITIVE_INFINITY;
  const jobBytes = redisUrl === null && jobs.available ? jobs.bufferBytes : 0;
  const needed = processBytes + workers * workerBytes + bufferBytes + jobBytes;
  const mib = (bytes: number) => `${Math.ceil(bytes / mebibyte)} MiB`;
  const problems = [
    ...(files !== 'unlimited' && files < minOpenFiles
      ? [`${files} open files, expected ${minOpenFiles} or more`]
      : []),
    ...(memory < needed ? [`${mib(memory)} of memory, expected ${mib(needed)} or more`] : []),
    ...(workers > availableParallelism()
      ? [`${workers} workers on ${availableParallelism()} cores: set UNDERTONE_WORKERS`]
      : []),
  ];
  if (problems.length > 0) return warning(problems.join('; '));
  return ok(`${files} open files, ${workers} workers, ${mib(needed)} of memory needed`);
}
