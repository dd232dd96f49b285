// CPU time of decode + resample + features against the bare libav decode of the same file in memory, in
// turns. benchmark_decode ROUNDS FILE... prints one JSON line a file: {"name", "ours": [ms], "peer": [ms]}.
// The audio must be the first stream. peer: open, find stream info, decode every frame, as FFmpeg's own
// example does.

#include "decode/decode.h"

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

extern "C" {
#include <libavcodec/avcodec.h>
#include <libavformat/avformat.h>
}

#include "../../test/native/support/specs.h"
#include "decode/demuxer.h"
#include "print_list.h"
#include "processor_time.h"

namespace {

using Bytes = std::vector<uint8_t>;

const undertone::DecodeOptions kOptions{16000, -1, 900, 8, 4000, 384000, 0, nullptr};

void Must(bool done, const char* what) {
  if (done) return;
  std::fprintf(stderr, "Expected libav to %s, got a failure\n", what);
  std::exit(1);
}

// Samples a channel, so that nothing can be left out.
int64_t DecodeStream(AVFormatContext* format, int index) {
  const AVCodecParameters* parameters = format->streams[index]->codecpar;
  const AVCodec* codec = avcodec_find_decoder(parameters->codec_id);
  AVCodecContext* context = avcodec_alloc_context3(codec);
  avcodec_parameters_to_context(context, parameters);
  context->thread_count = 1;
  Must(avcodec_open2(context, codec, nullptr) >= 0, "open a decoder");
  AVPacket* packet = av_packet_alloc();
  AVFrame* frame = av_frame_alloc();
  int64_t samples = 0;
  for (bool more = true; more;) {
    more = av_read_frame(format, packet) >= 0;
    if (more && packet->stream_index != index) {
      av_packet_unref(packet);
      continue;
    }
    avcodec_send_packet(context, more ? packet : nullptr);
    while (avcodec_receive_frame(context, frame) >= 0) samples += frame->nb_samples;
    av_packet_unref(packet);
  }
  av_frame_free(&frame);
  av_packet_free(&packet);
  avcodec_free_context(&context);
  return samples;
}

void DecodeBare(const Bytes& bytes) {
  const undertone::DecodeBudget budget(kOptions);
  undertone::MemoryReader file(bytes.data(), bytes.size(), {}, budget);
  AVFormatContext* format = avformat_alloc_context();
  format->pb = file.context();
  Must(avformat_open_input(&format, "", nullptr, nullptr) >= 0, "open the file");
  Must(avformat_find_stream_info(format, nullptr) >= 0, "find stream info");
  Must(DecodeStream(format, 0) > 0, "decode");
  avformat_close_input(&format);
}

void Measure(const std::string& path, int rounds, undertone::Extractor* extract) {
  std::ifstream stream(path, std::ios::binary);
  const Bytes bytes(std::istreambuf_iterator<char>(stream), {});
  std::vector<double> ours, peer;
  for (int round = 0; round <= rounds; ++round) {
    const double own = Milliseconds([&] {
      const undertone::Audio audio = undertone::Decode(bytes.data(), bytes.size(), kOptions);
      (*extract)(audio.samples.data(), audio.samples.size());
    });
    const double bare = Milliseconds([&] { DecodeBare(bytes); });
    if (round == 0) continue;  // caches and page tables
    ours.push_back(own);
    peer.push_back(bare);
  }
  std::printf("{\"name\":\"%s\",", path.substr(path.rfind('/') + 1).c_str());
  PrintList("ours", ours, 4);
  std::printf(",");
  PrintList("peer", peer, 4);
  std::printf("}\n");
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 3) {
    std::fprintf(stderr, "usage: benchmark_decode ROUNDS FILE...\n");
    return 2;
  }
  av_log_set_level(AV_LOG_QUIET);
  undertone::Extractor extract(WhisperSpec());
  for (int i = 2; i < argc; ++i) Measure(argv[i], std::atoi(argv[1]), &extract);
}
