#!/bin/sh
# Makes the files that the fuzzers start from, a folder for each family of containers: corpus.sh DIR.
# A quarter of a second of two tones, as small as the codecs allow. Needs ffmpeg, sox and python3.
set -eu
mkdir -p "$1"
out=$(cd "$1" && pwd)
temporary=$(mktemp -d)
trap 'rm -rf "$temporary"' EXIT
cd "$temporary"
sox -D -n -r 8000 -c 1 -b 16 mono.wav synth 0.25 sine 220 sine 440 gain -6 remix 1,2
sox -D mono.wav -r 44100 -c 2 stereo.wav trim 0 0.1
sox -D mono.wav -r 8000 -c 2 slow.wav
encode() { # encode FAMILY/NAME SOURCE ARGUMENTS...
  target=$out/$1 source=$2
  mkdir -p "$(dirname "$target")"
  shift 2
  ffmpeg -nostdin -loglevel error -y -i "$source.wav" -map_metadata -1 -fflags +bitexact -flags:a +bitexact "$@" "$target"
}

encode wav/s16.wav slow -t 0.1
for coding in u8 s24le s32le f32le f64le alaw mulaw; do encode wav/$coding.wav mono -t 0.05 -c:a pcm_$coding; done
encode wav/adpcm-ms.wav mono -c:a adpcm_ms
encode wav/adpcm-ima.wav mono -c:a adpcm_ima_wav
encode wav/gsm.wav mono -c:a libgsm_ms
encode wav/rf64.wav mono -t 0.05 -rf64 always
encode wav/extensible.wav mono -t 0.02 -ac 6 -c:a pcm_s16le
encode wav/tags.wav mono -t 0.05 -metadata title=x
sox -D mono.wav -t wav -B "$out/wav/big-endian.wav" trim 0 0.05
sox -D mono.wav -t wav -b 24 -B "$out/wav/big-endian-24.wav" trim 0 0.02
encode mp3/mpeg1.mp3 stereo -c:a libmp3lame -b:a 64k
encode mp3/mpeg2.mp3 mono -ar 16000 -c:a libmp3lame -q:a 9
encode mp3/mpeg25.mp3 mono -c:a libmp3lame -b:a 8k -metadata title=x
encode mp3/layer2.mp3 mono -ar 16000 -c:a mp2 -b:a 16k -f mp2
encode adts/mono.aac mono -c:a aac -b:a 16k -f adts
encode adts/stereo.aac stereo -c:a aac -b:a 64k -f adts
encode mp4/aac.m4a mono -c:a aac -b:a 16k
encode mp4/fast-start.m4a slow -c:a aac -b:a 16k -movflags +faststart
encode mp4/alac.m4a mono -t 0.1 -c:a alac
encode mp4/fragmented.mp4 mono -c:a aac -b:a 16k -movflags frag_keyframe+empty_moov+default_base_moof
encode mp4/flac.mp4 mono -t 0.1 -c:a flac -strict -2
encode mp4/opus.mp4 mono -c:a libopus -b:a 12k
encode mp4/mp3.mp4 mono -ar 16000 -c:a libmp3lame -b:a 16k
encode mp4/pcm.mov mono -t 0.1 -c:a pcm_s16be
encode mp4/adpcm.mov mono -c:a adpcm_ima_qt
encode mp4/encrypted.mp4 mono -c:a aac -b:a 16k -encryption_scheme cenc-aes-ctr \
  -encryption_key 76a6c65c5ea762046bd749a2e632ccbb -encryption_kid a7e61c373e219033c21091fa607bf3b8
# The delay of the encoder as iTunes writes it, in place of an edit list.
python3 - "$out/mp4/fast-start.m4a" "$out/mp4/itunes.m4a" <<'PYTHON'
import sys

def box(name, *parts):
    body = b"".join(parts)
    return (8 + len(body)).to_bytes(4, "big") + name + body

source, target = sys.argv[1:]
file = bytearray(open(source, "rb").read())
for name in (b"edts", b"udta"):
    at = file.index(name)
    file[at : at + 4] = b"free"
delay = b" 00000000 00000400 00000000 " + b"%016X" % 2000
item = box(b"----", box(b"mean", bytes(4), b"com.apple.iTunes"), box(b"name", bytes(4), b"iTunSMPB"),
           box(b"data", b"\0\0\0\1", bytes(4), delay))
tags = box(b"udta", box(b"meta", bytes(4), box(b"ilst", item)))
start = file.index(b"moov") - 4
end = start + int.from_bytes(file[start : start + 4], "big")
file[start : start + 4] = (end - start + len(tags)).to_bytes(4, "big")
table = file.index(b"stco") + 12
offset = int.from_bytes(file[table : table + 4], "big") + len(tags)
file[table : table + 4] = offset.to_bytes(4, "big")
open(target, "wb").write(file[:end] + tags + file[end:])
PYTHON
ffmpeg -nostdin -loglevel error -y -f lavfi -i color=black:s=16x16:r=5 -i mono.wav -shortest -fflags +bitexact \
  -c:v mpeg4 -c:a aac -b:a 16k "$out/mp4/video.mp4"
encode flac/mono.flac mono -t 0.1 -metadata_header_padding 0
encode flac/stereo.flac slow -t 0.1 -metadata_header_padding 0 -metadata title=x
encode ogg/vorbis.ogg mono -c:a libvorbis -q:a 0
encode ogg/opus.ogg slow -c:a libopus -b:a 12k
encode ogg/flac.ogg mono -t 0.1 -c:a flac
cat "$out/ogg/opus.ogg" "$out/ogg/flac.ogg" >"$out/ogg/chained.ogg"
encode webm/opus.webm mono -c:a libopus -b:a 12k
encode webm/vorbis.webm mono -c:a libvorbis -q:a 0
encode webm/aac.mkv mono -c:a aac -b:a 16k
encode webm/flac.mkv mono -t 0.1 -c:a flac
encode webm/live.webm mono -c:a libopus -b:a 12k -f webm -live 1
# webm/media-recorder.webm, media-recorder-sliced.webm (chunks of 200 ms) and mp4/media-recorder.mp4: a tone of 1.5 s that
# Chromium's MediaRecorder recorded at 12 kbit/s.
encode aiff/s16.aiff slow -t 0.1
encode aiff/mulaw.aifc mono -c:a pcm_mulaw -f aiff
encode aiff/f32.aifc mono -t 0.05 -c:a pcm_f32be -f aiff
encode au/s16.au slow -t 0.1 -c:a pcm_s16be -metadata title=x
encode au/mulaw.au mono -c:a pcm_mulaw
encode w64/s16.w64 slow -t 0.1
encode w64/adpcm-ms.w64 mono -c:a adpcm_ms
encode caf/s16.caf mono -t 0.1 -c:a pcm_s16le
encode caf/alac.caf mono -t 0.1 -c:a alac
encode caf/opus.caf mono -c:a libopus -b:a 12k
mkdir -p "$out/amr"
sox -D mono.wav -t amr-nb "$out/amr/narrow.amr"
# There is no free encoder of AMR-WB: three frames of its lowest rate with bits as they come, one empty frame.
{
  printf '#!AMR-WB\n'
  for frame in 1 2 3; do printf '\004abcdefghijklmno%s\001' "$frame"; done
  printf '\174'
} >"$out/amr/wide.amr"
ffmpeg -nostdin -loglevel error -y -i "$out/amr/narrow.amr" -c:a copy -fflags +bitexact "$out/mp4/narrow.3gp"

# Choices, the same byte again and again, then samples: see extract.cc and measure.cc.
for target in extract measure; do
  mkdir -p "$out/$target"
  for choice in 1 3 5 17 51 85; do
    { printf "\\$(printf %o $choice)%.0s" $(seq 60); sox -D mono.wav -t raw -; } >"$out/$target/$choice"
  done
done
