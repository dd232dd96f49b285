#!/bin/sh
# Makes one recording in every container and coding that is taken: recordings.sh DIR. Keeps a folder newer than this script.
# Speech of scripts/speech.sh, 44.1 kHz stereo, the right channel 2 dB softer. Needs ffmpeg and sox.
set -eu
out=$(realpath -m "$1")
speech=$(realpath "$(dirname "$0")/../test/speech")
[ "$out" -nt "$0" ] && exit
mkdir -p "$(dirname "$out")"
exec 9>"$out.lock"
flock 9
[ "$out" -nt "$0" ] && exit # another process made it
temporary=$(mktemp -d "$out.XXXXXX") # in the same folder: one rename makes it whole
trap 'rm -rf "$temporary"' EXIT
cd "$temporary"
encode() {
  name=$1
  shift
  ffmpeg -nostdin -loglevel error -y -i speech.wav -map_metadata -1 -fflags +bitexact -flags:a +bitexact "$@" "$name"
}

sox -D "$speech/fox.flac" -r 44100 -c 2 -b 16 speech.wav gain -3 remix 1 1v0.8

encode u8.wav -c:a pcm_u8
encode s24.wav -c:a pcm_s24le
encode s32.wav -c:a pcm_s32le
encode f32.wav -c:a pcm_f32le
encode f64.wav -c:a pcm_f64le
encode alaw.wav -c:a pcm_alaw
encode mulaw.wav -c:a pcm_mulaw
encode adpcm-ms.wav -c:a adpcm_ms
encode adpcm-ima.wav -c:a adpcm_ima_wav
encode gsm.wav -ar 8000 -ac 1 -c:a libgsm_ms
encode rf64.wav -c:a pcm_s16le -rf64 always
encode mono-16k.wav -ac 1 -ar 16000
encode mono-8k.wav -ac 1 -ar 8000
# To a pipe: without sizes and durations in their headers.
ffmpeg -nostdin -loglevel error -i speech.wav -c:a pcm_s16le -f wav - >streamed.wav
ffmpeg -nostdin -loglevel error -i speech.wav -c:a flac -f flac - >streamed.flac
ffmpeg -nostdin -loglevel error -i speech.wav -c:a libopus -b:a 48k -f webm -live 1 - >streamed.webm
encode cbr.mp3 -c:a libmp3lame -b:a 128k
encode vbr.mp3 -c:a libmp3lame -q:a 4
encode plain.mp3 -c:a libmp3lame -b:a 128k -write_xing 0
encode mpeg2.mp3 -c:a libmp3lame -ar 22050 -b:a 64k
encode layer2.mp3 -c:a mp2 -b:a 192k -f mp2
encode aac.m4a -c:a aac -b:a 128k
encode alac.m4a -c:a alac
encode fast-start.m4a -c:a aac -b:a 128k -movflags +faststart
encode fragmented.mp4 -c:a aac -b:a 128k -movflags frag_keyframe+empty_moov+default_base_moof
encode flac.mp4 -c:a flac -strict -2
encode opus.mp4 -c:a libopus -b:a 48k
encode mp3.mp4 -c:a libmp3lame -b:a 128k
encode aac.mov -c:a aac -b:a 128k
encode pcm.mov -c:a pcm_s16be
encode encrypted.mp4 -c:a aac -b:a 128k -encryption_scheme cenc-aes-ctr \
  -encryption_key 76a6c65c5ea762046bd749a2e632ccbb -encryption_kid a7e61c373e219033c21091fa607bf3b8
ffmpeg -nostdin -loglevel error -f lavfi -i color=black:s=64x64:r=5:d=11.4 -i speech.wav -c:v mpeg4 -c:a aac \
  -b:a 128k video.mp4
ffmpeg -nostdin -loglevel error -f lavfi -i color=black:s=64x64:r=5:d=1 -c:v mpeg4 silent-film.mp4
# Packets of 20 ms from 1 s to 2 s were not sent.
for file in gap.webm gap.mkv gap.ogg gap.mp4; do
  encode $file -c:a libopus -b:a 48k -bsf:a "noise=drop='between(n,50,99)'"
done
# Two sentences in noise; the packets of the pause between them, from 3 s to 4.7 s, were not sent.
sox -D "$speech/fox.flac" -r 48000 -c 1 -b 16 sentence.wav gain -3 trim 0 2.9 pad 0 1.7 repeat 1
sox -D -R sentence.wav -p synth whitenoise vol 0.003 | sox -D -m sentence.wav - -b 16 noisy.wav
for pause in 0 1; do
  ffmpeg -nostdin -loglevel error -i noisy.wav -c:a libopus -b:a 48k -t 7.6 -bsf:a "noise=drop='$pause*between(n,150,234)'" noisy-$pause.webm
done
mv noisy-0.webm noisy.webm
mv noisy-1.webm noisy-gap.webm
rm sentence.wav noisy.wav
# The audio begins 1.5 s after the picture.
late() {
  ffmpeg -nostdin -loglevel error -f lavfi -i color=black:s=64x64:r=5:d=2 -itsoffset 1.5 -i speech.wav -c:v mpeg4 -c:a aac \
    -b:a 128k "$@"
}
late late.mp4
late late.mkv
late -movflags frag_keyframe+delay_moov late-fragments.mp4
late -movflags frag_keyframe+empty_moov late-first-packet.mp4
# The second track begins 1.5 s after the first.
for codec in libopus libvorbis; do
  ffmpeg -nostdin -loglevel error -i speech.wav -itsoffset 1.5 -i speech.wav -map 0 -map 1 -c:a $codec late-track-$codec.ogg
done
# Packets of the first page, from 0.2 s to 1.2 s, were not sent.
encode gap-in-first-page.ogg -c:a libvorbis -bsf:a "noise=drop='between(pts*tb,0.2,1.2)'"
# The picture goes on for 5.5 s after the audio.
for file in picture-longer.mp4 picture-longer.mkv; do
  ffmpeg -nostdin -loglevel error -f lavfi -i testsrc=s=320x240:r=25:d=17 -i speech.wav -c:v mpeg4 -c:a aac -b:a 128k $file
done
ffmpeg -nostdin -loglevel error -i picture-longer.mp4 -c copy -movflags frag_keyframe+empty_moov picture-longer-fragments.mp4
# One command for both would end the audio with the picture since FFmpeg 7.
ffmpeg -nostdin -loglevel error -f lavfi -i color=red:s=64x64:d=0.1 -frames:v 1 cover.png
ffmpeg -nostdin -loglevel error -i speech.wav -i cover.png -map 0:a -map 1:v -c:v copy -disposition:v attached_pic \
  -c:a libmp3lame cover.mp3

# Several tracks: the speech, and a second of a tone, which players leave out or cannot play.
tracks() {
  name=$1
  shift
  ffmpeg -nostdin -loglevel error -f lavfi -i sine=500:d=1:r=44100 -i speech.wav "$@" -fflags +bitexact "$name"
}
tracks tracks-default.mkv -map 0 -map 1 -c:a libopus -disposition:a:0 0 -disposition:a:1 default \
  -metadata:s:a:0 language=deu
tracks tracks-disabled.m4a -map 0 -map 1 -c:a alac -disposition:a:0 0 -disposition:a:1 default
tracks tracks-tone.m4a -map 0 -map 1 -c:a alac
tracks tracks-ac3.mp4 -map 0 -map 1 -c:a:0 ac3 -c:a:1 alac -metadata:s:a:0 language=fra
tracks tracks-empty.mkv -map 0 -map 1 -c:a flac -bsf:a:0 noise=drop=1
tracks tracks.ogg -map 1 -map 0 -c:a:0 libopus -c:a:1 libvorbis
encode adts.aac -c:a aac -b:a 128k -f adts
encode speech.flac -c:a flac
encode vorbis.ogg -c:a libvorbis -q:a 4
encode opus.ogg -c:a libopus -b:a 48k
encode flac.ogg -c:a flac
encode opus.webm -c:a libopus -b:a 48k
encode vorbis.webm -c:a libvorbis -q:a 4
encode aac.mkv -c:a aac -b:a 128k
encode flac.mkv -c:a flac
encode speech.aiff -c:a pcm_s16be
encode speech.aifc -c:a pcm_mulaw -f aiff
encode speech.au -c:a pcm_s16be
encode mulaw.au -c:a pcm_mulaw
encode alaw.au -c:a pcm_alaw
encode speech.w64 -c:a pcm_s16le
encode pcm.caf -c:a pcm_s16le
encode alac.caf -c:a alac
sox -D speech.wav -r 8000 -c 1 speech.amr-nb
mv speech.amr-nb speech.amr
ffmpeg -nostdin -loglevel error -i speech.amr -c:a copy speech.3gp

# Chains: two and three complete files in a row, of one rate and of several.
ffmpeg -nostdin -loglevel error -i speech.wav -ac 1 -ar 22050 -c:a libvorbis vorbis-mono.ogg
cat vorbis.ogg vorbis.ogg >chained.ogg
cat vorbis.ogg opus.ogg vorbis-mono.ogg >mixed-chain.ogg
rm vorbis-mono.ogg cover.png
touch .
rm -rf "$out"
mv -T "$temporary" "$out"
