/** What each owner holds in Redis, counted there for all processes, and its share of the memory of Redis. */
import type { Redis } from '../redis.ts';

type Hold = {
  /** Released by this name, or after `seconds`. A further hold of the same name adds to it. */
  readonly name: string;
  readonly owner: string;
  readonly amount: number;
  readonly seconds: number;
};

/** A list that a chunk is appended to, and that expires with the hold. */
type Append = { readonly key: string; readonly chunk: Uint8Array };

export type Holds = ReturnType<typeof createHolds>;

/** KEYS: expiry times by name, `AMOUNT OWNER` by name, amounts by owner. */
const release = `local function release(name)
  local amount, owner = string.match(redis.call('HGET', KEYS[2], name) or '', '^(%d+) (.*)$')
  redis.call('ZREM', KEYS[1], name)
  if not amount then return end
  redis.call('HDEL', KEYS[2], name)
  if redis.call('HINCRBY', KEYS[3], owner, -amount) <= 0 then redis.call('HDEL', KEYS[3], owner) end
end`;

const scripts = {
  release: `${release}
    for _, name in ipairs(ARGV) do release(name) end`,
  add: `${release}
    local name, owner, amount, seconds, isLimited = ARGV[1], ARGV[2], tonumber(ARGV[3]), tonumber(ARGV[4]), ARGV[5] == '1'
    local now = tonumber(redis.call('TIME')[1])
    for _, expired in ipairs(redis.call('ZRANGEBYSCORE', KEYS[1], '-inf', now, 'LIMIT', 0, 100)) do release(expired) end
    if isLimited then
      local held_by_owner = tonumber(redis.call('HGET', KEYS[3], owner) or '0')
      local memory = redis.call('INFO', 'memory')
      local size = tonumber(string.match(memory, 'maxmemory:(%d+)'))
      if size == 0 then size = tonumber(string.match(memory, 'total_system_memory:(%d+)')) / 2 end
      local free = 0.9 * size - tonumber(string.match(memory, 'used_memory:(%d+)'))
      if amount > math.max(held_by_owner == 0 and free or 0, (free - held_by_owner) / 2) then return 0 end
    end
    local held = string.match(redis.call('HGET', KEYS[2], name) or '0', '^%d+')
    redis.call('HSET', KEYS[2], name, string.format('%d %s', held + amount, owner))
    redis.call('HINCRBY', KEYS[3], owner, amount)
    redis.call('ZADD', KEYS[1], now + seconds, name)
    if KEYS[4] then
      redis.call('RPUSH', KEYS[4], ARGV[6])
      redis.call('EXPIRE', KEYS[4], seconds)
    end
    return 1`,
  extend: `if redis.call('ZSCORE', KEYS[1], ARGV[1]) then
      redis.call('ZADD', KEYS[1], redis.call('TIME')[1] + ARGV[2], ARGV[1])
    end`,
} as const;

/** @param kind names the amounts, such as `bytes` @param fingerprint of the secret */
export function createHolds(redis: Redis, kind: string, fingerprint: string) {
  const keys = ['expiry', 'holds', 'owners'].map((part) => `undertone:${kind}:${part}:${fingerprint}`);
  const run = async (
    script: keyof typeof scripts,
    values: readonly (string | number | Uint8Array)[],
    more?: string,
  ) => {
    const all = more === undefined ? keys : [...keys, more];
    return redis.eval(scripts[script], all.length, ...all, ...values.map(toArgument));
  };
  const add = async ({ name, owner, amount, seconds }: Hold, isLimited: boolean, append?: Append) =>
    (await run(
      'add',
      [name, owner, amount, seconds, Number(isLimited), ...(append ? [append.chunk] : [])],
      append?.key,
    )) === 1;
  return {
    add: async (hold: Hold) => void (await add(hold, false)),
    /**
     * As createFairBudget of nine tenths of the memory of Redis, all that it holds included: `maxmemory`, or half of the
     * machine without. Returns false, and appends nothing, above the share.
     */
    addWithinShare: (hold: Hold, append?: Append): Promise<boolean> => add(hold, true, append),
    /** Expires `seconds` from now, if it is there. */
    extend: async (name: string, seconds: number) => void (await run('extend', [name, seconds])),
    release: async (...names: readonly string[]) => void (await run('release', names)),
    amountOf: async (owner: string) => Number((await redis.hget(keys[2] as string, owner)) ?? 0),
    total: async () =>
      (await redis.hvals(keys[2] as string)).reduce((sum, amount) => sum + Number(amount), 0),
  };
}

function toArgument(value: string | number | Uint8Array): string | number | Buffer {
  return value instanceof Uint8Array ? Buffer.from(value.buffer, value.byteOffset, value.length) : value;
}
