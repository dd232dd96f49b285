#include "decode/ogg_chain.h"

#include <string>
#include <vector>

#include "decode/container.h"
#include "decode/libav_decoder.h"

namespace undertone {
namespace {

// Other errors are about limits and end the decode.
bool IsUnreadableLink(const Error& error) {
  return error.code == ErrorCode::kMalformed || error.code == ErrorCode::kUnsupported;
}

class OggChainDecoder : public Decoder {
 public:
  OggChainDecoder(const uint8_t* bytes, size_t size, const ProbeResult& probe, Sink* sink)
      : bytes_(bytes), probe_(probe), sink_(sink), links_(OggLinks(bytes, size)) {
    links_.push_back(size);
    OpenNext();
    codec_ = link_->codec();
  }

  bool Step() override {
    while (link_ != nullptr) {
      try {
        if (link_->Step()) return true;
        const DecodeStatus ended = link_->status();
        status_.packets += ended.packets;
        status_.truncated = status_.truncated || ended.truncated;
        OpenNext();
      } catch (const Error& error) {
        // Errors of the first link are rethrown.
        if (next_ <= 1 || !IsUnreadableLink(error)) throw;
        status_.truncated = true;
        link_.reset();
      }
    }
    return false;
  }

  DecodeStatus status() const override { return status_; }
  std::string codec() const override { return codec_; }

 private:
  void OpenNext() {
    link_.reset();
    if (next_ + 1 == links_.size()) return;
    if (!duration_checked_ && sink_->seconds() > kMaxUndeclaredSeconds) CheckRemainingDuration();
    const size_t at = next_++;
    link_ = OpenLibav(bytes_ + links_[at], links_[at + 1] - links_[at], probe_, sink_);
  }

  // Checks the duration of the remaining links, up to the first unreadable one, before they are decoded.
  void CheckRemainingDuration() {
    duration_checked_ = true;
    const double max = sink_->budget().max_seconds() + kDurationToleranceSeconds;
    double seconds = sink_->seconds();
    try {
      for (size_t i = next_; i + 1 < links_.size() && seconds <= max; ++i) {
        seconds += SumPacketDurations(bytes_ + links_[i], links_[i + 1] - links_[i], probe_, sink_->budget(),
                                      0, max - seconds);
      }
    } catch (const Error& error) {
      if (!IsUnreadableLink(error)) throw;
    }
    sink_->CheckSeconds(seconds - kDurationToleranceSeconds);
  }

  const uint8_t* bytes_;
  const ProbeResult probe_;
  Sink* sink_;
  std::vector<size_t> links_;  // offsets, and the end of the file
  size_t next_ = 0;            // link to open next
  std::unique_ptr<Decoder> link_;
  std::string codec_;  // of the first link
  DecodeStatus status_;
  bool duration_checked_ = false;
};

}  // namespace

std::unique_ptr<Decoder> OpenOggChain(const uint8_t* bytes, size_t size, const ProbeResult& probe,
                                      Sink* sink) {
  return std::make_unique<OggChainDecoder>(bytes, size, probe, sink);
}

}  // namespace undertone
