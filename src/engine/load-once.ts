/** A value that is loaded when it is first needed, whose `load` is then released; after a failure the next call loads it again. */
export function loadOnce<Value>(load: () => Promise<Value>): () => Promise<Value> {
  let next = load;
  let loading: Promise<Value> | null = null;
  const start = async () => {
    const value = await next();
    next = async () => value;
    return value;
  };
  return () => {
    loading ??= start().catch((error: unknown) => {
      loading = null;
      throw error;
    });
    return loading;
  };
}
