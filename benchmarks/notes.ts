/** Text of docs/benchmarks.md besides the figures. */

/** Below the table of a case. */
export const remarks: Readonly<Record<string, string>> = {
  counts: `Instructions counted by valgrind's callgrind, which do not depend on the load of the machine. Continuous integration
runs this gate: it fails when a part exceeds its count in \`benchmarks/counts.json\` by more than the tolerance, and must find two
injected slowdowns. Kernels run at explicit vector widths, since valgrind does not support AVX-512. Counts depend on the compiler,
the C library, libav, soxr and Node; their versions are stored with the counts, and rows with other versions are not compared.
Requests run in V8's interpreter, because the work of its compilers varies between runs: counts measure work, not time.
\`npm run bench -- counts --keep\` stores new counts.`,

  decode: `Memory of the long MP3: samples 58 MiB, features 27, buffers of voice activity 57, tokens of its windows up to 66, and
the upload 27, in chunks and as one array. Later analyses reuse most of it from the heap.`,

  features: `The roofline is the peak rate of independent chains of fused multiply-adds at that width (alternating multiplications
and additions for SSE2, which has no fused ones). Operations per frame: 400 for the window, 2.5 n log2 n for the real transform
with n = 512, 3 per bin of power, 2 per weight of the sparse filters and 30 per filter for the logarithm. A transform cannot reach
the peak: not all of its additions and multiplications fuse, and its butterflies load and store between them.`,

  http: `CPU time of the main thread, measured with \`perf record -g\` on \`.cache/request/server.js scan-thread\` under
\`node --perf-basic-prof\` over 2,500 requests after 2,500 others, callees included. The three largest entries of the project's
code:

1. The transfer to the analysis thread and back, 9 %: piscina's task and message (7 %, of which 2 % wakes the thread) and a
   timer. The chunks of a body are transferred without a copy. Waiting in the thread's event loop instead of on an atomic made
   no difference.
2. Security headers, 3 %: helmet built each of its thirteen headers for every request. They are now built once.
3. The log line, 3 %, of which writing to standard error is 2 %, and the metrics, 2 %: the line is written synchronously, so that
   none is lost when the process exits; the series of a request are resolved once instead of by their labels each time.

The rest is Node's HTTP, streams and sockets (as in the peer), V8's calls between native code and JavaScript, and the layers of
Koa, each below 1 %. Before, copies of the body on the main thread (69 us) and V8's compilers in the first thousands of
requests were the largest entries; the search for the boundary (82 us) remains in the analysis thread.`,

  peer: `Both stacks receive the same recording of 10 s at 16 kHz in the same form; their features and median pitch are compared.
The Python stack runs one process per core on uvloop and httptools, decodes with soundfile, and computes in the event loop.
Time outside the sessions is all CPU time of the process minus that inside ONNX Runtime. The service measures pitch for the
cognitive signals: rows with pitch compare the same work for both signals, rows without it compare emotion alone.`,

  'worker-scaling': `Recordings have 30 s, so that clients and main thread, which share the two cores with the analysis, use less
than a twentieth of the CPU time.`,
};

/** Reasons for missed goals, by case and row. */
export const reasons: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  decode: {
    'vorbis.ogg': `At the limit: five runs measured 1.32 to 1.45. Page checksums are verified once before libav verifies them,
  which bounds the work for a file of damaged pages.`,
  },
  features: {
    'log-mel 80, AVX-512, against the roofline': `Two thirds of the time is the transform of 16 frames at once: with 64 bytes
  per value, samples and spectrum take 65 kB, more than the 48 kB of the L1 cache.`,
  },
  http: {
    'request overhead, 320 kB WAV': `See the list below the table: the rest is spread over many small entries.`,
    'main thread, 320 kB WAV': `A plain node:http server that only collects the body exceeds that limit. The difference is Koa's
  layers, the security headers, authentication, one log line, metrics and the transfer to a thread.`,
  },
  'open-loop': {
    'event-loop delay, p99, meanwhile': `Two concurrent analyses and the client occupy both cores: the main thread waits
  for the scheduler, although its own work takes less than a millisecond per request.`,
  },
  'worker-scaling': {
    'two workers against one, 30 s WAV': `With one worker, main thread, clients and the rest of the machine have their own
  core; with two workers they share the cores with the analysis, as the CPU time per request in the row shows.`,
  },
  peer: {
    'graph of one node on log-mel 80': `librosa computes log-mel features of 10 s in 3 to 4 ms, mostly in numpy's transform
  in C; the rest of that stack costs about the same. A factor of twenty is out of reach, since receiving 320 kB through
  Node's HTTP takes 0.2 ms and decoding them 0.4 ms. With pitch the goal is exceeded.`,
    'emotion, outside the sessions': `As above: HTTP, decoding, features and signal quality against one librosa call.
  With pitch, which the whole analysis needs, the goal is exceeded.`,
  },
};
