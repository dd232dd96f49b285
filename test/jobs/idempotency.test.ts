/** Idempotency keys, and the list of jobs. */
import test from 'ava';
import { type PartSpec, wavFile } from '../../benchmarks/upload-body.ts';
import { syntheticSignal } from '../../src/engine/golden.ts';
import { openJobService } from '../support/job-service.ts';
import { type JobReply, jobOf, startJobStack } from '../support/jobs.ts';
import { makeToken } from '../support/server.ts';
import { share } from '../support/share.ts';

const recording = wavFile(syntheticSignal(1, 8));
const audio = { name: 'audio', bytes: recording, type: 'audio/wav' } as const;
const other = { ...audio, bytes: wavFile(syntheticSignal(2, 8)) };
const baseline = { name: 'baseline', bytes: recording };
const channel = { name: 'channel', bytes: '0' };
const callback = { name: 'callback', bytes: 'https://hooks.example.org/a' };

const url = 'https://bucket.example/a/';
const stack = share(test, (t) => startJobStack(t, { UNDERTONE_JOB_URL_PREFIXES: url }));

test.serial('the jobs of an owner are listed newest first, page by page', async (t) => {
  const place = stack();
  const empty = await place.get('/v1/jobs');
  t.is(empty.status, 200, empty.body);
  t.deepEqual(JSON.parse(empty.body), { jobs: [], next: null });
  const ids: string[] = [];
  for (let count = 0; count < 3; count++) ids.push(jobOf(await place.upload([audio])).id);
  const { jobs, next } = JSON.parse((await place.get('/v1/jobs')).body);
  t.is(next, null);
  t.deepEqual(
    jobs.map(({ id }: JobReply) => id),
    [...ids].reverse(),
  );
  const { result: _, error: __, ...summary } = jobOf(await place.show(ids[0] as string));
  t.deepEqual(jobs[2], summary);
  const older = await place.get(`/v1/jobs/after/${ids[1]}`);
  t.deepEqual(
    JSON.parse(older.body).jobs.map(({ id }: JobReply) => id),
    [ids[0]],
  );
  const theirs = makeToken(place.server, 'analyze:emotion,analyze:cognitive');
  t.deepEqual(JSON.parse((await place.get('/v1/jobs', theirs)).body).jobs, []);
  for (const path of [`/v1/jobs/after/${ids[0]}`, '/v1/jobs/after/job_x']) {
    t.is((await place.get(path, theirs)).status, 404, path);
  }
});

test.serial(
  'a reused key returns the same job for the same request, and is refused for another one',
  async (t) => {
    const place = stack();
    const key = { 'Idempotency-Key': 'order-7' };
    const parts = [audio, baseline, channel, callback];
    const first = await place.upload(parts, key);
    t.is(first.status, 202, first.body);
    const { id } = jobOf(first);
    const same: readonly (readonly PartSpec[])[] = [
      parts,
      [callback, channel, baseline, audio],
      [...parts, { name: 'other', bytes: 'ignored' }, { name: 'channel', bytes: '7' }],
    ];
    for (const [index, one] of same.entries()) {
      const again = await place.upload(one, key);
      t.is(again.status, 202, again.body);
      t.is(jobOf(again).id, id, `${index}`);
      t.truthy(jobOf(again).callback_secret);
    }
    const keys = await place.redis.client.keys('undertone:waiting:*');
    t.is(
      keys.filter((one) => one.includes(id)).length,
      2,
      'the recordings of a known job are not kept again',
    );
    const different: Readonly<Record<string, readonly PartSpec[]>> = {
      'another recording': [other, baseline, channel, callback],
      'another baseline': [audio, { ...baseline, bytes: other.bytes }, channel, callback],
      'no baseline': [audio, channel, callback],
      'another baseline in addition': [...parts, { ...baseline, bytes: other.bytes }],
      'recording and baseline changed over': [{ ...audio, bytes: other.bytes }, baseline],
      'no channel': [audio, baseline, callback],
      'a track': [audio, baseline, channel, callback, { name: 'track', bytes: '0' }],
      'another callback': [audio, baseline, channel, { ...callback, bytes: 'https://hooks.example.org/b' }],
      'channels in place of one': [audio, callback, { name: 'channels', bytes: 'split' }],
      segments: [
        ...parts.filter((part) => part !== baseline),
        { name: 'segments', bytes: '[{"start":0,"end":1,"speaker":"A"}]' },
      ],
      voices: [...parts.filter((part) => part !== baseline), { name: 'speakers', bytes: '2' }],
      metadata: [...parts, { name: 'metadata', bytes: '{"order":"7"}' }],
      'a receipt': [...parts, { name: 'receipt', bytes: 'true' }],
      'no callback': [audio, baseline, channel],
    };
    for (const [name, one] of Object.entries(different)) {
      const refused = await place.upload(one, key);
      t.is(refused.status, 422, `${name}: ${refused.body}`);
      const { loc, type } = JSON.parse(refused.body).detail[0];
      t.deepEqual(
        { loc, type },
        { loc: ['header', 'Idempotency-Key'], type: 'value_error.idempotency_key' },
        name,
      );
    }
    t.deepEqual((await place.redis.client.keys('undertone:waiting:*')).sort(), keys.sort());
    t.is((await place.remove(id)).status, 200);
    const anew = await place.upload([other], key);
    t.is(anew.status, 202, anew.body);
    t.not(jobOf(anew).id, id, 'the digest is kept no longer than the job');
    const token = makeToken(place.server, 'analyze:emotion,analyze:cognitive', 'theirs');
    const theirs = await place.upload([other], { ...key, Authorization: `Bearer ${token}` });
    t.not(jobOf(theirs).id, jobOf(anew).id, 'a key belongs to its token');
    const parallel = Array.from({ length: 8 }, () => place.upload([audio], { 'Idempotency-Key': 'at-once' }));
    t.is(new Set((await Promise.all(parallel)).map((reply) => jobOf(reply).id)).size, 1);
    for (const wrong of ['has space', ''])
      t.is((await place.upload([audio], { 'Idempotency-Key': wrong })).status, 400);
  },
);

test.serial('the key of a list applies to each of its URLs', async (t) => {
  const place = stack();
  const key = { 'Idempotency-Key': 'list-1' };
  const wanted = { urls: [`${url}1`, `${url}2`], channel: null, callback: 'https://hooks.example.org/' };
  const idsOf = (body: string) => JSON.parse(body).jobs.map(({ id }: JobReply) => id);
  const first = await place.list(wanted, key);
  t.is(first.status, 202, first.body);
  const again = await place.list(wanted, key);
  t.is(again.status, 202, again.body);
  t.deepEqual(idsOf(again.body), idsOf(first.body));
  const longer = await place.list({ ...wanted, urls: [...wanted.urls, `${url}3`] }, key);
  t.deepEqual(idsOf(longer.body).slice(0, 2), idsOf(first.body));
  for (const change of [
    { urls: [`${url}1`, `${url}other`] },
    { channel: 1 },
    { track: 1 },
    { callback: null },
    { metadata: { a: 'b' } },
  ]) {
    const refused = await place.list({ ...wanted, ...change }, key);
    t.is(refused.status, 422, JSON.stringify(change));
    t.is(JSON.parse(refused.body).detail[0].type, 'value_error.idempotency_key');
  }
});

test.serial('a page has 100 jobs, and jobs of the same moment are on one page alone', async (t) => {
  const { jobs, database } = await openJobService(t);
  const owner = { key: 'token:1', accountId: null };
  const rows = Array.from({ length: 250 }, (_, index) => ({
    id: `job_${(index * 7919) % 1000}`,
    holder: index < 249 ? owner.key : 'token:2',
    owner: null,
    idempotency_key: null,
    digest: null,
    created_at: Date.now() - 100_000 + Math.floor(index / 50),
    expires_at: Date.now() + 1_000_000,
    finished_at: Date.now(),
    outcome: 'done' as const,
    body: '{}',
  }));
  await database.insertInto('jobs').values(rows).execute();
  const seen: string[] = [];
  const sizes: number[] = [];
  for (let after: string | null | undefined = null; after !== undefined; ) {
    const page: Awaited<ReturnType<typeof jobs.list>> = await jobs.list(owner, after);
    seen.push(...(page?.jobs ?? []).map(({ id }) => id));
    sizes.push(page?.jobs.length ?? 0);
    after = page?.last ?? undefined;
  }
  t.deepEqual(sizes, [100, 100, 49]);
  const expected = rows
    .slice(0, 249)
    .sort((a, b) => b.created_at - a.created_at || (a.id < b.id ? 1 : -1))
    .map(({ id }) => id);
  t.deepEqual(seen, expected);
});
