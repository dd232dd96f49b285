#!/bin/sh
# Makes examples/sample.wav and models/failures/*.flac: synthetic voices in a small room, 16 kHz mono. Needs espeak-ng and sox.
# Debian 12's versions write the same bytes each time; other versions change the scores.
set -eu
cd "$(dirname "$0")/.."
failures=models/failures
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# speak FILE VOICE WORDS_PER_MINUTE PITCH TEXT; the text may be SSML
speak() {
  espeak-ng -m -v "$2" -s "$3" -p "$4" -w "$work/spoken.wav" "$5"
  sox -D "$work/spoken.wav" -r 16000 -c 1 -b 16 "$1" gain -6 lowpass 5500 reverb 15 50 40 gain -n -3 pad 0.3 0.4
}

sample='This is a recording for trying out the service. <break time="600ms"/>
Nobody is speaking here: <break time="400ms"/> the voice is made by a computer. <break time="800ms"/>
People who explain something <break time="500ms"/> stop now and then, to breathe, or to find the next word.
Some of their pauses are short. <break time="900ms"/> Others take a second, or more. <break time="500ms"/>
The service counts them, and it measures how long the speech between them lasts. <break time="800ms"/>
For that it needs about half a minute, <break time="400ms"/> so here is the weather:
in the morning it rained. By noon the sky was clear, <break time="500ms"/> and in the evening a light wind came up from the sea,
<break time="450ms"/> and nobody thought of rain.'
short="This is a short recording for trying out the service. Nobody is speaking: the voice is made by a computer. And now it stops."
other="A second voice talks about something else, and does not stop until the end."
mkdir -p $failures
speak examples/sample.wav en-us+steph2 150 42 "$sample"
speak "$work/short.wav" en-us+steph2 150 42 "$short"
sox -D "$work/short.wav" $failures/synthetic.flac
speak $failures/words.flac en-us+steph2 150 42 "My dog has died, and I have cried all day. I have never been so sad in my life."
speak $failures/hurried.flac en-us+steph2 260 42 "$short"
speak "$work/other.wav" en-us+m3 140 40 "$other"
sox -D -m -v 0.5 "$work/short.wav" -v 0.5 "$work/other.wav" $failures/two-at-once.flac
