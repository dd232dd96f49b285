#!/bin/sh
# Makes test/speech/*.flac, synthetic speech that tests judge. Needs espeak-ng and sox. Other versions of espeak-ng give
# other audio, and tests other results: the committed files are those of version 1.51.
set -eu
out=$(realpath "$(dirname "$0")/../test/speech")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# speak FILE RATE TEXT OPTIONS...; mono, 16 bit
speak() {
  file=$1 rate=$2 text=$3
  shift 3
  espeak-ng "$@" -w "$work/spoken.wav" "$text"
  sox -D "$work/spoken.wav" -r "$rate" -C 8 "$out/$file.flac"
}

fox='The quick brown fox jumps over the lazy dog, while six wise owls watch quietly'
shells='She sells sea shells by the shore, and nobody asks how many'
speak fox 22050 "$fox. $shells she found this morning." -v en -s 150

# VOICE-WORDS: voice, words per minute and the gap between words in tens of ms
while read -r voice words gap; do
  speak "$voice-$words" 16000 "$fox from the old tree. $shells of them she found this morning. " -v "$voice" -s "$words" -g "$gap"
done <<END
en-us 190 0
en-gb+f3 160 0
en-us+m4 140 2
en-gb+f2 120 8
en-us+f1 110 14
en-gb+m2 100 18
END

# One utterance: voice, words per minute, pitch, text
while read -r voice words pitch text; do
  speak "$voice-$words" 16000 "$text" -v "$voice" -s "$words" -p "$pitch"
done <<END
en-us+m3 140 30 We walked along the river until it was dark
en-gb+f4 210 95 How dare you do that to me again
en-us+f2 110 20 Nobody knows where she has gone
en-us+croak 190 80 Get out of my house right now
en-gb+m5 160 50 The train will leave at half past nine
en-us+f5 175 70 That is the best news of the year
END

# low-N and high-N: sentences of two speakers
number=0
while read -r text; do
  number=$((number + 1))
  speak low-$number 16000 "$text" -v en -p 30 -s 150
  speak high-$number 16000 "$text" -v en+f2 -p 60 -s 150
done <<END
The quick brown fox jumps over the lazy dog.
Six wise owls watch quietly from the old tree.
She sells sea shells by the shore in the morning.
Nobody asks how many letters arrived yesterday.
We walk along the river until the bridge appears.
END
