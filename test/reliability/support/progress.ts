/** Progress on standard error: a line every 10 s. */

export type Progress = { advance(): void; stop(): void };

const everyMs = 10_000;

export function startProgress(what: string, total: number): Progress {
  const startedAt = performance.now();
  let done = 0;
  const print = () => {
    const seconds = Math.round((performance.now() - startedAt) / 1000);
    process.stderr.write(`${what} ${done}/${total}, ${seconds} s\n`);
  };
  const timer = setInterval(print, everyMs);
  return {
    advance: () => {
      done++;
    },
    stop: () => {
      clearInterval(timer);
      print();
    },
  };
}
