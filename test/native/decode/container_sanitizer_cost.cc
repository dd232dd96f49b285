// Reads the packets of a crafted file with or without the sanitizer, and prints CPU time and growth of the
// peak resident size: ROW (0 to 7) plain|sanitized. docs/security.md has the results.

#include <sys/resource.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <string>

#include "decode/container_sanitizer.h"
#include "decode/demuxer.h"
#include "support/crafted_files.h"

namespace undertone {
namespace {

constexpr unsigned kMaxSeconds = 20;

void Demux(const test::Bytes& bytes, bool sanitize) {
  DecodeOptions options = test::Limits();
  options.deadline_seconds = 0;
  DecodeBudget budget(options);
  budget.SetInputSize(bytes.size());
  try {
    const ProbeResult probe = Probe(bytes.data(), bytes.size());
    const SanitizedContainer sanitized =
        sanitize ? SanitizeContainer(bytes.data(), bytes.size(), probe.format, {}, budget) : SanitizedContainer{};
    Demuxer demuxer(bytes.data(), bytes.size(), probe, sanitized, {}, budget);
    AVPacket* packet = av_packet_alloc();
    while (demuxer.Read(packet)) av_packet_unref(packet);
    av_packet_free(&packet);
  } catch (const Error&) {
  }
}

long PeakKilobytes() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return usage.ru_maxrss;
}

}  // namespace
}  // namespace undertone

int main(int count, char** arguments) {
  using namespace undertone;
  if (count != 3) return 2;
  const auto [name, bytes] = test::CraftedFiles().at(static_cast<size_t>(std::atoi(arguments[1])));
  const long before = PeakKilobytes();
  const std::clock_t start = std::clock();
  alarm(kMaxSeconds);
  Demux(bytes, std::string(arguments[2]) == "sanitized");
  std::printf("%s: %.3g MB, %.2f s, %.0f MB\n", name, static_cast<double>(bytes.size()) / 1e6,
              static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC,
              static_cast<double>(PeakKilobytes() - before) / 1024);
}
