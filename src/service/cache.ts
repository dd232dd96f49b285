/** A bounded cache whose entries expire. */

/** A bounded cache with a time to live, which evicts the oldest entry. */
export function createCache<Value>(options: {
  readonly size: number;
  readonly lifetimeMs: number;
  readonly now: () => number;
}) {
  const entries = new Map<string, { readonly value: Value; readonly at: number }>();
  return {
    get(key: string): Value | undefined {
      const entry = entries.get(key);
      const age = entry === undefined ? 0 : options.now() - entry.at;
      // A negative age means that the clock was set back: the entry would never expire.
      if (entry === undefined || (age >= 0 && age < options.lifetimeMs)) return entry?.value;
      entries.delete(key);
      return undefined;
    },
    set(key: string, value: Value): void {
      entries.delete(key);
      if (entries.size >= options.size) entries.delete(entries.keys().next().value as string);
      entries.set(key, { value, at: options.now() });
    },
    delete: (key: string) => void entries.delete(key),
    deleteWhere(matches: (value: Value) => boolean): void {
      for (const [key, { value }] of entries) if (matches(value)) entries.delete(key);
    },
  };
}
