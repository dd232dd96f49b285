#include "decode/ogg_chain.h"

#include <string>
#include <vector>

#include "decode/libav_decoder.h"
#include "decode/ogg_pages.h"

namespace undertone {
namespace {

// Everything else is about the limits, and ends the decode with an error.
bool IsDamage(const Error& error) {
  return error.code == ErrorCode::kMalformed || error.code == ErrorCode::kUnsupported;
}

class OggChainDecoder : public Decoder {
 public:
  OggChainDecoder(const uint8_t* bytes, size_t size, const Sniffed& sniffed, Sink* sink)
      : bytes_(bytes), sniffed_(sniffed), sink_(sink), links_(OggLinks(bytes, size)) {
    links_.push_back(size);
    OpenNext();
    codec_ = link_->codec();
  }

  bool Step() override {
    while (link_ != nullptr) {
      try {
        if (link_->Step()) return true;
        const DecodeResult ended = link_->result();
        result_.packets += ended.packets;
        result_.truncated = result_.truncated || ended.truncated;
        OpenNext();
      } catch (const Error& error) {
        if (next_ <= 1 || !IsDamage(error)) throw;
        result_.truncated = true;
        link_.reset();
      }
    }
    return false;
  }

  DecodeResult result() const override { return result_; }
  std::string codec() const override { return codec_; }

 private:
  void OpenNext() {
    link_.reset();
    if (next_ + 1 == links_.size()) return;
    if (!counted_ && sink_->seconds() > kMaxUndeclaredSeconds) CountRest();
    const size_t at = next_++;
    link_ = OpenLibav(bytes_ + links_[at], links_[at + 1] - links_[at], sniffed_, sink_);
  }

  // Links are counted as packets are, up to the first that is damaged: see CountSeconds.
  void CountRest() {
    counted_ = true;
    const double most = sink_->budget()->max_seconds() + 1;
    double seconds = sink_->seconds();
    try {
      for (size_t i = next_; i + 1 < links_.size() && seconds <= most; ++i) {
        seconds += CountSeconds(bytes_ + links_[i], links_[i + 1] - links_[i], sniffed_, *sink_->budget(), 0,
                                most - seconds);
      }
    } catch (const Error& error) {
      if (!IsDamage(error)) throw;
    }
    sink_->CheckSeconds(seconds - 1);
  }

  const uint8_t* bytes_;
  const Sniffed sniffed_;
  Sink* sink_;
  std::vector<size_t> links_;  // where each begins, and the end
  size_t next_ = 0;            // link to open
  std::unique_ptr<Decoder> link_;
  std::string codec_;  // of the first link
  DecodeResult result_;
  bool counted_ = false;
};

}  // namespace

std::unique_ptr<Decoder> OpenOggChain(const uint8_t* bytes, size_t size, const Sniffed& sniffed, Sink* sink) {
  return std::make_unique<OggChainDecoder>(bytes, size, sniffed, sink);
}

}  // namespace undertone
