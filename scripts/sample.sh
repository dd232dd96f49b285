#!/bin/sh
# Makes examples/sample.wav: synthetic speech in a small room, 16 kHz mono PCM. Needs espeak-ng and sox.
# Debian 12's versions write the same bytes each time; other versions change the scores.
set -eu
cd "$(dirname "$0")/.."
spoken=$(mktemp --suffix=.wav)
trap 'rm -f "$spoken"' EXIT
espeak-ng -v en-us+steph2 -s 150 -p 42 -w "$spoken" \
  "This is a short recording for trying out the service. Nobody is speaking: the voice is made by a computer. And now it stops."
sox -D "$spoken" -r 16000 -c 1 -b 16 examples/sample.wav gain -6 lowpass 5500 reverb 15 50 40 gain -n -3 pad 0.3 0.4
