/** What each case does, in a few sentences above its table in docs/reliability.md. */
export const remarks: Readonly<Record<string, string>> = {
  overload: `A process of its own uploads 10 s of WAV: as fast as they are answered (capacity), then at random times at
80 % of that, then at four times as much, while another asks /health; one upload in ten waits for \`100 Continue\`.
The service has one worker, so that generator and worker each have a core of a machine of two.`,
  slow: `Equally many connections that say nothing, send a header line or a byte of a body (with a length, in chunks, without
a token) every half second, or read 5.6 MB of answers a byte at a time, beside a client that uploads one second of WAV after
the other. A limit is kept when the last connection of its kind is closed within three seconds of it: the service looks
every half second and leaves a second for its answer to be read. The short form lowers the limits to ten seconds and compares medians.`,
  abort: `Clients leave at a moment drawn by chance: before a byte, in the head or the body (with a length or in a chunk), while
the recording waits or is analysed, or with the first byte of the answer; by a reset, or by an end in order. Slots,
descriptors and threads after the second half are compared with those after the first. The second half has ten stretches; after
each, once nothing is under way and the garbage is collected, resident memory is read: its slope is the median of all pairs'.`,
  soak: `Four clients send speech and tones in six containers to the three analyses; a tenth of the requests are probes and
pages, a tenth broken or hostile: damaged recordings and forms, wrong tokens, missing and empty parts, clients that leave.
The service runs with a script that collects garbage every second, so that its resident set is what it keeps; its slope is
the median of the slopes between the lowest points of twelve stretches, after the first quarter of the requests.`,
  strangers: `What one account, or somebody without one, can do to the others. Bodies within the limits that cost as much as a client can
make them, while a process of its own requests /health: the figure is the longest that the service's main thread works while one of
these requests waits (its processor time, so that a busy machine adds nothing), the least of up to three rounds. The short form
takes its work for the whole body, above that for an ordinary body of the same length. Then uploads that send nothing, or stop
half-way, beside another account that analyses, posts jobs and logs in; a queue that one owner fills with URLs while callbacks to eight hosts of its
own never answer, with one worker of one thread; names of hosts, sign-ups, shipped secrets and encoded paths; and what Redis keys, child
processes and command lines show.`,
  fleet: `Three hosts in network namespaces behind HAProxy, one PostgreSQL, one Redis, two kinds of clients: one takes the first
answer, one asks again as documented. A host is killed under load, all are restarted in turn, the database and Redis go away and
come back, a worker dies in the middle of a job of 14 minutes, and \`undertone bulk\` sends a folder while a host is killed
half-way: copies of the sample, or in the long form what \`UNDERTONE_DATA\` holds. Needs root.`,
  deployment: `Each file of \`deploy/\` is read by the tool it is for. The service is traced from start to end and its system calls are
compared with the unit's filter. The long form executes every step of the Containerfile in clean Debian roots (debootstrap, with
Node from npm for the base image) and runs its command as the image's user, on a read-only root, without a network. Needs root.`,
  hardening: `The service in a mount and a network namespace of its own, where the data folder is the one place to write and the
loopback the one network, as a user without any capability who can gain none, in a control group of 512 MiB
(\`test/reliability/hardening/fence.sh\`). Whether a place can be written is tried as root inside. Then models with one bit changed,
drawn by chance: each must be refused by its hash. Needs root.`,
  faults: `The data folder on a disk of 8 MB that is filled to the last byte; another process that holds the database's lock for
longer than the service tries; a clock (libfaketime) that jumps in the middle of uploads; descriptors for twenty connections
more and two hundred that come; in the long form two processes for analysis, six uploads of 22 MB and 400 MiB for all of it (a control
group), where UNDERTONE_BUFFER_BYTES is 48 MiB. The same with threads for analysis is the control of the last: the kernel ends
the service. Needs root.`,
  chaos: `Two workers, and requests that run and wait, while one worker dies: of an error that nobody catches, by an exit, by
filling its heap; as a process also of a segmentation fault and by \`kill -9\`. A replacement counts when both workers answer at
one time again. The faults come from a script that is loaded into the service, and by signals: the service has no hook for them.`,
  shutdown: `Thirty-two clients upload without a break, some on a connection for each request, some on one that they keep,
some with rests; at a random moment the service gets SIGTERM. Every request sent up to 0.9 s after it (the grace is one
second, ten in the short form) must be answered 200 and whole. Later ones may be refused, before any byte of them was taken.`,
  fuzz: `libFuzzer mutates small files of every family of containers, and specs and samples, under AddressSanitizer and
UndefinedBehaviorSanitizer: \`test/fuzz\` holds the targets, the files they start from and their dictionaries. A finding is
a crash, undefined behaviour, a leak, a number that is not finite, a wrong kind of error, more than 5 s of processor time or
256 MB of memory for one input. The long form runs each target for \`--count\` minutes (10 without it) and goes on from
what \`.cache/fuzz\` holds: its figures are those of all long runs so far; the short form runs each for \`--count\` seconds
(5) from the committed files. FFmpeg and soxr are Debian's, without instrumentation: of them the fuzzer sees what comes out,
and AddressSanitizer what they allocate. The reader of forms is JavaScript: forms are mutated in the same way, and kept when V8
tells that they reached a block that none had.`,
  contract: `Spectral (\`spectral:oas\`) and Redocly (recommended) lint the published document. Every status of every operation in it is then
asked of running services: with a fault put in for 500, a database or a Redis that is stopped for 503, 201 tokens for 429. Schemathesis makes
requests from the document, right ones and wrong ones, with a token and a log-in; that data which fits the schema is taken is
not asked of what a schema cannot say: what a recording is, and which addresses and names are in use.`,
  auth: `Guesses at tokens that are right but for four letters are timed, in random order, against others that are as much alike among themselves, through the real check
(with the database asked for each) and through a socket; t is Welch's, of the faster nine tenths, and the least of up to three
rounds, in each of which a difference that is there must show. Unique words in samples, text chunks, file names, names of
parts, paths, tokens and passwords go through every way an analysis can end; log (at \`trace\`), output, figures,
answers and data folder are searched for them, also in hexadecimal and base64, while strace sees every call that
writes or makes a file.`,
  hostile: `A corpus made by the project has a file of every container and coding that is taken, films, encrypted and many-streamed
files, headers, boxes and tags that lie, bombs, and files that are no recordings. Those that once took minutes or gigabytes
(a hundred thousand tags, tracks that share their samples) are sent first; a seed and a number then choose a file, damage it
in one to three ways (bits, bytes, cuts, repeats, splices of two files, sizes and counts before and after chunk names,
nested boxes, tags, samples that are no numbers, pages of Ogg with their checksums mended) and upload it, four at a time.
Every answer is held against the published document. The process's own peak of resident memory is read and reset as it goes;
where four requests at a time take more than one may, each is sent again alone, and so is one that is answered after 5 s, up
to three times: a busy machine is not the service's fault. A finding is written to \`.cache/reliability/findings\`,
and the same seed and number make it again.`,
  conformance: `Recordings in every container, coding, rate, layout and option that ffmpeg and sox write; those that ffmpeg decodes
without a complaint must be answered 200 with its duration. Images, films without sound, texts, playlists, archives, programs,
noise and zeros, each under four names and types, must be refused as \`value_error.audio.unsupported\`. The short form takes a
quarter of the recordings.`,
  multipart: `Forms with every kind of boundary, line end, header, name and payload, whole or damaged, and one request in ten
whose lengths or chunks lie. The service has a temporary folder of its own, which must stay empty.`,
  determinism: `The digest of each answer, under one request id, against that of the same file sent alone to one worker. The
native tests compare each width of vector lanes with the scalar path.`,
  metamorphic: `The same speech in six containers, at eight sample rates (from a copy without anything over 4 kHz), 12 dB softer
and louder, in stereo, and with a second of digital silence before or after; the figure is how far valence, arousal, cognitive
load, clarity or processing moves. The short form hears synthetic voices, of which every score must stay within 0.05; the long
form hears human recordings drawn from \`UNDERTONE_DATA\`, where that is set, of which 95 in 100 must. What remains are single
words and speech that begins with the recording, where a codec or silence moves the place where speech is heard to begin.`,
  sanitizers: `The native tests, three damaged copies of each recording among them (100 in the long form, \`--count\` sets it), under
AddressSanitizer and UndefinedBehaviorSanitizer; in the long form under ThreadSanitizer too, where tests decode, extract and
measure on several threads at once, and the tests of the addon inside Node under the first two. \`-DSANITIZE=address\`,
\`undefined\`, \`thread\` or several of them, joined by commas, builds anything so.`,
  bombs: `Small files that claim what nobody could hold, and files that hold hours of silence, one after the other to a service
with one worker. Processor time is that of the whole service as Linux counts it for its threads. Memory is the peak of the
resident set over what the service held just before. Silence is decoded for a minute; then its packets are counted.`,
};
