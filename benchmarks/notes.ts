/** Text of docs/results/benchmarks.md below the table of a case: what is measured, and why goals are missed. */
export const remarks: Readonly<Record<string, string>> = {
  bulk: `Speech of 2 to 5 s per recording. Peers pay for their start: Python's imports take a second of each process. The pipeline in
Python measures no pitch, no quality and no utterances: it reads windows of 10 s.`,

  counts: `Instructions counted by valgrind's callgrind, which do not depend on the load of the machine. Continuous integration
runs this gate: it fails when a part exceeds its count in \`benchmarks/counts.json\` by more than the tolerance, and must find two
injected slowdowns. Kernels run at explicit vector widths, since valgrind does not support AVX-512. Counts depend on the compiler,
the C library, libav, soxr and Node; their versions are stored with the counts, and rows with other versions are not compared.
Requests run in V8's interpreter, because the work of its compilers varies between runs: counts measure work, not time.
\`npm run bench -- counts --keep\` stores new counts.`,

  decode: `\`vorbis.ogg\` is at its limit: five runs measured 1.32 to 1.45. Page checksums are verified once before libav verifies
them, which bounds the work for a file of damaged pages.`,

  features: `The roofline is the peak rate of independent chains of fused multiply-adds at that width (multiplications and
additions for SSE2, which has no fused ones). Operations per frame: 400 for the window, 2.5 n log2 n for the real transform
with n = 512, 3 per bin of power, 2 per weight of the sparse filters and 30 per filter for the logarithm.`,

  http: `Of 360 us of the main thread, waking the worker takes 85 (an interrupt to another core of the virtual machine), writing the
response 77, as in the peer, metrics 33, routing 28, the request id 16, authentication 15, the log line 14, the trace 14, and
security headers 11. A hand-over to another thread at all costs more than the goal leaves. By computation, one main
thread feeds some 50 cores of analysis, at 17 ms of a core per request: several listeners would only help beyond.`,

  latency: `With two idle cores half of the request is the trunk. The trunk on one core is int8 products (half), attention (a quarter) and
activations. The first request runs code that V8 has not optimised yet, most of it in the main thread; a second takes 40 ms, and the median is
reached after some twenty.`,

  memory: `glibc keeps free memory for later requests. The service gives it back after a recording of a minute or more, and when
no task has run for two seconds, and limits the size of blocks that glibc keeps. The arena of each session keeps what its longest run
took: without arenas the service holds 40 MiB less, and the trunk takes 2 % longer, that of \`large\` 5 %. With two workers some 96 MiB
are pages of files: 42 of Node.js, 22 of ONNX Runtime, 25 of libav and what it links; 38 are V8's heap of the main thread, and some 45
the models.`,

  models: `Attention is computed in float and takes 39 % of the trunk over 10 s: 192 million multiplications of a layer in 4.2 ms, of
which products at the peak rate of float take 3.3. In int8 they are no faster: ONNX Runtime packs matrices that are not weights at
each run, and its products over 64 values reach a third of their rate.`,

  'open-loop': `Two concurrent analyses and the client occupy both cores: the main thread waits for the scheduler, although its
own work takes less than a millisecond per request.`,

  peers: `Most of the time of FastAPI with both signals is librosa.pyin. Without pitch FastAPI is equal at 1 and 8 connections, and
ahead at 32; single runs of the service differ by a tenth. The models are most of a request, in the same runtime on both sides: with no
other work Undertone would be 1.1 times as fast. Undertone also measures quality, conditions and utterances.

Both stacks receive the same recording of 10 s at 16 kHz in the same form; their features and median pitch are compared.
The Python stack runs one process per core on uvloop and httptools, decodes with soundfile, and computes in the event loop.
Time outside the sessions is all CPU time of the process minus that inside ONNX Runtime. The service measures pitch for the
cognitive signals: rows with pitch compare the same work for both signals, rows without it compare emotion alone. Without pitch a
factor of twenty is out of reach: librosa computes log-mel features of 10 s in 3 to 4 ms, mostly in numpy's transform in C, and
receiving 320 kB through Node's HTTP takes 0.2 ms, decoding them 0.4 ms.`,

  startup: `Both cores are busy from the start on: Node.js 20 compiles the code of the service anew in the main thread and in each worker
(half of the time), and ONNX Runtime prepares the graphs.`,

  stream: `Clients of the same process stream speech in real time, in frames of 0.1 s, and start evenly within an interval. A message
is late by the time from the frame with the sample that decides it to its arrival; the benchmark computes that sample by the
analysis of the service. Stages are those of steps in one thread without other work.`,

  'worker-scaling': `Recordings have 30 s, so that clients and main thread, which share the two cores with the analysis, use less
than a twentieth of the CPU time.`,
};
