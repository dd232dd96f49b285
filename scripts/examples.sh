#!/bin/sh
# Makes examples/sample.wav and models/failures/*.flac: synthetic voices in a small room, 16 kHz mono. Needs espeak-ng and sox.
# Debian 12's versions write the same bytes each time; other versions change the scores.
set -eu
cd "$(dirname "$0")/.."
failures=models/failures
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# speak FILE VOICE WORDS_PER_MINUTE PITCH TEXT
speak() {
  espeak-ng -v "$2" -s "$3" -p "$4" -w "$work/spoken.wav" "$5"
  sox -D "$work/spoken.wav" -r 16000 -c 1 -b 16 "$1" gain -6 lowpass 5500 reverb 15 50 40 gain -n -3 pad 0.3 0.4
}

sample="This is a short recording for trying out the service. Nobody is speaking: the voice is made by a computer. And now it stops."
other="A second voice talks about something else, and does not stop until the end."
mkdir -p $failures
speak examples/sample.wav en-us+steph2 150 42 "$sample"
sox -D examples/sample.wav $failures/synthetic.flac
speak $failures/words.flac en-us+steph2 150 42 "My dog has died, and I have cried all day. I have never been so sad in my life."
speak $failures/hurried.flac en-us+steph2 260 42 "$sample"
speak "$work/other.wav" en-us+m3 140 40 "$other"
sox -D -m -v 0.5 examples/sample.wav -v 0.5 "$work/other.wav" $failures/two-at-once.flac
sox -D examples/sample.wav "$work/other.wav" $failures/two-in-turn.flac
