/** Every supported container and codec that ffmpeg or sox writes. */

export type Format = {
  readonly name: string;
  /** File extension; selects ffmpeg's container unless the options have `-f`. */
  readonly ending: string;
  readonly options: readonly string[];
  readonly rates: readonly number[];
  readonly channels: readonly number[];
};

const common = [8000, 16_000, 44_100];
const monoStereo = [1, 2];

function format(
  name: string,
  ending: string,
  options: string,
  rates: readonly number[] = common,
  channels: readonly number[] = monoStereo,
): Format {
  return { name, ending, options: options.split(' '), rates, channels };
}

const pcmOf = (codecs: string, ending: string, rates: readonly number[], more = ''): Format[] =>
  codecs
    .split(' ')
    .map((codec) => format(`${ending}${more} ${codec}`, ending, `-c:a ${codec}${more}`, rates, [1, 2]));

const wav = [
  ...pcmOf('pcm_u8 pcm_s16le pcm_s24le pcm_s32le pcm_f32le pcm_f64le pcm_alaw pcm_mulaw', 'wav', common),
  ...pcmOf('adpcm_ms adpcm_ima_wav', 'wav', [8000, 22_050, 48_000]),
  format('wav yamaha', 'wav', '-c:a adpcm_yamaha', [16_000, 44_100]),
  format('wav g722', 'wav', '-c:a g722', [16_000], [1]),
  format('wav g726', 'wav', '-c:a g726 -b:a 32k', [8000], [1]),
  format('wav, many channels', 'wav', '-c:a pcm_s16le', [48_000], [3, 4, 6, 8]),
  format('wav, high rates', 'wav', '-c:a pcm_s24le', [4000, 11_025, 32_000, 96_000, 192_000, 384_000], [1]),
  format('wav, tags', 'wav', '-c:a pcm_s16le -metadata title=x -write_bext 1', [22_050], [1]),
  format('wav, peaks', 'wav', '-c:a pcm_s16le -write_peak on', [16_000], [2]),
  format('rf64', 'wav', '-c:a pcm_s16le -rf64 always', [16_000, 48_000]),
  format('wav of mp3', 'wav', '-c:a libmp3lame -b:a 64k', [16_000, 44_100]),
];

const mp3 = [
  format(
    'mp3 cbr',
    'mp3',
    '-b:a 64k',
    [8000, 11_025, 12_000, 16_000, 22_050, 24_000, 32_000, 44_100, 48_000],
  ),
  format('mp3 vbr', 'mp3', '-q:a 5', [16_000, 44_100]),
  format('mp3 abr', 'mp3', '-abr 1 -b:a 96k', [44_100]),
  format('mp3 320', 'mp3', '-b:a 320k', [48_000]),
  format('mp3 without header frame', 'mp3', '-b:a 128k -write_xing 0', [44_100]),
  format('mp3 without tags', 'mp3', '-b:a 128k -id3v2_version 0 -write_xing 0', [44_100]),
  format(
    'mp3 id3v2.3 and v1',
    'mp3',
    '-b:a 128k -id3v2_version 3 -write_id3v1 1 -metadata title=x',
    [44_100],
  ),
  format('mp3 separate stereo', 'mp3', '-b:a 128k -joint_stereo 0', [44_100], [2]),
  format('mp2', 'mp2', '-c:a mp2 -b:a 64k', [16_000, 44_100, 48_000]),
];

const fragmented = '-movflags frag_keyframe+empty_moov+default_base_moof';
const mp4 = [
  format('m4a aac', 'm4a', '-c:a aac -b:a 64k', [8000, 16_000, 22_050, 44_100, 48_000, 96_000]),
  format('m4a aac, many channels', 'm4a', '-c:a aac -b:a 192k', [48_000], [3, 4, 6, 8]),
  format('m4a aac, header first', 'm4a', '-c:a aac -movflags +faststart', [44_100]),
  format('m4a aac, chapters of tags', 'm4a', '-c:a aac -metadata title=x -metadata comment=y', [44_100]),
  format('mp4 aac, no prediction', 'mp4', '-c:a aac -aac_coder fast -aac_pns 0 -aac_tns 0', [44_100]),
  format('mp4 aac, fragmented', 'mp4', `-c:a aac ${fragmented}`, [16_000, 44_100]),
  format('mp4 aac, fragment a frame', 'mp4', '-c:a aac -movflags frag_every_frame+empty_moov', [44_100]),
  format('mp4 aac, cmaf', 'mp4', '-c:a aac -movflags cmaf', [48_000]),
  format('mp4 aac, dash', 'mp4', '-c:a aac -movflags dash+delay_moov', [48_000]),
  format('mp4 aac, edit list off', 'mp4', '-c:a aac -use_editlist 0', [44_100]),
  format('m4a alac', 'm4a', '-c:a alac', [16_000, 44_100, 96_000]),
  format('m4a alac 24 bit', 'm4a', '-c:a alac -sample_fmt s32p', [48_000]),
  format('mp4 mp3', 'mp4', '-c:a libmp3lame -b:a 64k', [22_050, 44_100]),
  format('mp4 opus', 'mp4', '-c:a libopus -b:a 32k', [48_000]),
  format('mp4 opus, fragmented', 'mp4', `-c:a libopus ${fragmented}`, [48_000]),
  format('mp4 flac', 'mp4', '-c:a flac -strict -2', [16_000, 48_000]),
  format('mov aac', 'mov', '-c:a aac', [44_100]),
  ...pcmOf('pcm_s16le pcm_s16be pcm_s24le pcm_f32le pcm_mulaw', 'mov', [16_000, 48_000]),
  format('3gp aac', '3gp', '-c:a aac', [16_000]),
  format('3g2 aac', '3g2', '-c:a aac', [16_000], [1]),
];

const streams = [
  format('adts aac', 'aac', '-c:a aac -b:a 64k', [8000, 16_000, 24_000, 44_100, 48_000]),
  format('adts aac, tagged', 'aac', '-c:a aac -write_id3v2 1 -metadata title=x', [44_100]),
  format('adts aac, mpeg-2', 'aac', '-c:a aac -write_mpeg2 1', [44_100]),
  format('flac', 'flac', '-c:a flac', [8000, 16_000, 22_050, 44_100, 96_000, 192_000]),
  format('flac 24 bit', 'flac', '-c:a flac -sample_fmt s32', [48_000]),
  format('flac quick', 'flac', '-c:a flac -compression_level 0', [44_100]),
  format('flac best', 'flac', '-c:a flac -compression_level 12 -lpc_type cholesky', [44_100]),
  format('flac, small blocks', 'flac', '-c:a flac -frame_size 256', [44_100]),
  format('flac, many channels', 'flac', '-c:a flac', [48_000], [3, 4, 6, 8]),
];

const ogg = [
  format('ogg vorbis', 'ogg', '-c:a libvorbis -q:a 3', [8000, 16_000, 22_050, 44_100, 48_000]),
  format('ogg vorbis best', 'ogg', '-c:a libvorbis -q:a 10', [44_100]),
  format('ogg vorbis, many channels', 'ogg', '-c:a libvorbis', [48_000], [3, 4, 6, 8]),
  format('ogg opus', 'opus', '-c:a libopus -b:a 24k', [8000, 12_000, 16_000, 24_000, 48_000]),
  format('ogg opus voice', 'ogg', '-c:a libopus -application voip -b:a 12k', [48_000]),
  format('ogg opus 2.5 ms', 'opus', '-c:a libopus -application lowdelay -frame_duration 2.5', [48_000]),
  format('ogg opus 60 ms', 'opus', '-c:a libopus -frame_duration 60 -vbr off', [48_000]),
  format('ogg opus 120 ms', 'opus', '-c:a libopus -frame_duration 120', [48_000]),
  format('ogg opus, many channels', 'opus', '-c:a libopus -mapping_family 1', [48_000], [6, 8]),
  format('ogg flac', 'oga', '-c:a flac', [16_000, 44_100]),
  format('ogg vorbis, page a packet', 'ogg', '-c:a libvorbis -page_duration 1000', [44_100]),
];

const matroska = [
  format('webm opus', 'webm', '-c:a libopus -b:a 32k', [48_000]),
  format('webm opus, live', 'webm', '-c:a libopus -live 1', [48_000]),
  format('webm opus, short clusters', 'webm', '-c:a libopus -cluster_time_limit 100', [48_000]),
  format('webm vorbis', 'webm', '-c:a libvorbis', [16_000, 48_000]),
  format('mkv aac', 'mkv', '-c:a aac', [16_000, 44_100]),
  format('mkv flac', 'mkv', '-c:a flac', [44_100]),
  format('mkv mp3', 'mkv', '-c:a libmp3lame', [44_100]),
  format('mkv alac', 'mka', '-c:a alac', [44_100]),
  ...pcmOf('pcm_u8 pcm_s16le pcm_s16be pcm_s24le pcm_s32le pcm_f32le', 'mka', [16_000]),
];

const others = [
  ...pcmOf(
    'pcm_s8 pcm_s16be pcm_s24be pcm_s32be pcm_f32be pcm_f64be pcm_mulaw pcm_alaw',
    'aiff',
    [8000, 44_100],
  ),
  format('aifc little-endian', 'aiff', '-c:a pcm_s16le', [44_100]),
  format('aiff, tagged', 'aiff', '-c:a pcm_s16be -write_id3v2 1 -metadata title=x', [44_100]),
  ...pcmOf('pcm_s16be pcm_s16le pcm_s24be pcm_s32le pcm_f32le pcm_mulaw pcm_alaw', 'caf', [16_000, 44_100]),
  format('caf alac', 'caf', '-c:a alac', [44_100]),
  format('caf ima', 'caf', '-c:a adpcm_ima_qt', [44_100]),
  format('caf opus', 'caf', '-c:a libopus', [48_000]),
];

export const formats: readonly Format[] = [
  ...wav,
  ...mp3,
  ...mp4,
  ...streams,
  ...ogg,
  ...matroska,
  ...others,
];
