/** What each case does, in a few sentences above its table in docs/reliability.md. */
export const remarks: Readonly<Record<string, string>> = {
  overload: `A process of its own uploads 10 s of WAV: as fast as they are answered (capacity), then at random times at
80 % of that, then at four times as much, while another asks /health; one upload in ten waits for \`100 Continue\`.
The service has one worker, so that generator and worker each have a core of a machine of two.`,
  shutdown: `Thirty-two clients upload without a break, some on a connection for each request, some on one that they keep,
some with rests; at a random moment the service gets SIGTERM. Every request sent up to 0.9 s after it (the grace is one
second) must be answered 200 and whole. Later ones may be refused, before any byte of them was taken.`,
};
