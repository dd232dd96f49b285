/** What docs/benchmarks.md says beside the figures. */

/** Below the table of a case. */
export const remarks: Readonly<Record<string, string>> = {
  counts: `Instructions as valgrind's callgrind counts them, which a busy machine does not change: this gate runs in continuous
integration, fails when a part takes more than its tolerance above what \`benchmarks/counts.json\` keeps, and must notice two
slowdowns that are put in on purpose. The kernels are run at explicit vector widths, since valgrind knows no AVX-512. Counts
depend on the compiler, the C library, libav, soxr and Node, all of which are kept beside them: with others the rows say so
and are not compared. Requests run in V8's interpreter, without its compilers, whose work is never twice the same: they tell
more work from less, not the time it takes. \`npm run bench -- counts --keep\` keeps what was counted.`,

  decode: `Of the memory of the long MP3, samples take 58 MiB, features 27, the buffers of speech activity 57, the tokens of its
windows up to 66, and the upload 27: as it came and as one array. Analyses that follow find most of it in the heap.`,

  features: `The roofline is the peak rate of independent chains of fused multiply-adds at that width (alternating products and
sums with SSE2, which has no fused ones). Operations per frame: 400 for the window, 2.5 n log2 n for the real transform with
n = 512, 3 per bin of power, 2 per weight of the sparse filters and 30 per filter for the logarithm. A transform cannot reach
the peak: its sums and products do not all fuse, and its butterflies load and store between them.`,

  http: `Where the time of a request goes: \`perf record -g\` on the main thread of \`.cache/request/server.js scan-thread\` under
\`node --perf-basic-prof\`, 2,500 requests after 2,500 others, shares of its processor time, callees included. The three largest
entries that are ours and not Node's, and what was done:

1. The hand-over to the analysis thread and back, 9 %: piscina's task and message (7 %, of which waking the thread 2 %) and a
   timer. The chunks of a body are handed over as they came, without a copy. Waiting in the event loop of the thread instead
   of on an atomic was tried: no difference.
2. Security headers, 3 %: helmet built each of its thirteen headers anew for every request. They are now made once.
3. The log line, 3 %, of which the write to standard error 2 %, and the metrics, 2 %: the line is written at once, so that
   none is lost with the process; the series of a request are now found once and not by their labels each time.

What is left are Node's own HTTP, streams and sockets (as in the peer), V8's calls between native code and JavaScript, and
the layers of Koa, each below 1 %. Before that, copies of the body on the main thread (69 us) and V8's compilers in the first
thousands of requests had been the largest entries; the search for the boundary (82 us) is left in the analysis thread.`,

  peer: `Both stacks get the same recording of 10 s at 16 kHz in the same form, and their features and median pitch are compared.
The stack in Python runs one process a core on uvloop and httptools, decodes with soundfile, and computes in the event loop.
What is outside the sessions is all processor time of the process less that inside ONNX Runtime. The service measures pitch for
the cognitive signals, so that the rows with pitch compare the same work for both signals, those without it emotion alone.`,

  'worker-scaling': `Recordings are of 30 s, so that clients and main thread, which share the two cores with the analysis, take less than a
twentieth of them.`,
};

/** Why a row misses its goal, by case and row; shown as long as it does. */
export const reasons: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  decode: {
    'vorbis.ogg': `At the limit: five runs gave 1.32 to 1.45. Pages are summed once before libav sums them, so that a file of
  damaged ones cannot keep it busy.`,
  },
  features: {
    'log-mel 80, AVX-512, against the roofline': `Two thirds of the time are the transform, which keeps 16 frames at once: at 64 bytes a value
  samples and spectrum are 65 kB, more than the 48 kB of the first cache.`,
  },
  http: {
    'request overhead, 320 kB WAV': `See the list below the table: what is left is spread over many small entries.`,
    'main thread, 320 kB WAV': `A plain node:http server that only collects the body takes more than that limit by itself; what
  is above it is Koa's layers, the security headers, authentication, one log line, metrics and the hand-over to a thread.`,
  },
  'open-loop': {
    'event-loop delay, p99, meanwhile': `Two analyses at a time keep both cores busy, and the client lives there too: the main
  thread then waits for its turn of the scheduler, though its own work takes less than a millisecond a request.`,
  },
  'worker-scaling': {
    'two workers against one, 30 s WAV': `With one worker, main thread, clients and the rest of the machine have a core of
  their own; with two they share the cores with the analysis. The processor time a request in the row tells how much.`,
  },
  peer: {
    'graph of one node on log-mel 80': `librosa computes log-mel features of 10 s in 3 to 4 ms, and numpy's transform in C
  is most of it: the rest of that stack costs about as much again. Ours cannot be twenty times faster than the sum, since
  receiving 320 kB through Node's HTTP alone takes 0.2 ms and decoding them 0.4 ms. With pitch the goal is passed by far.`,
    'emotion, outside the sessions': `As above: HTTP, decoding, features and measuring the recording's quality against one
  librosa call. With pitch, which the whole analysis needs, the goal is passed by far.`,
  },
};
