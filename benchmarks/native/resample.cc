// CPU time and quality of rate conversion to 16 kHz against soxr's one-shot call at HQ, in turns.
// benchmark_resample ROUNDS prints one JSON line a rate: {"rate", "ours": [ms], "peer": [ms], "snr": dB,
// "alias": dB} for 60 s of noise; snr is that of a 997 Hz sine, alias the loudest of four tones above 8 kHz.

#include "resample.h"

#include <soxr.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <vector>

#include "../../test/native/signal.h"
#include "print_list.h"
#include "processor_time.h"

namespace {

constexpr int kTarget = 16000;
constexpr size_t kBlock = 16384;

std::vector<float> Sine(double hertz, double rate, size_t count) {
  std::vector<float> samples(count);
  for (size_t i = 0; i < count; ++i) {
    samples[i] = static_cast<float>(std::sin(2 * M_PI * hertz * static_cast<double>(i) / rate));
  }
  return samples;
}

std::vector<float> Ours(int rate, const std::vector<float>& samples) {
  undertone::Resampler resampler(rate, kTarget);
  std::vector<float> out;
  for (size_t at = 0; at < samples.size(); at += kBlock) {
    resampler.Process(samples.data() + at, std::min(kBlock, samples.size() - at), &out);
  }
  resampler.Flush(&out);
  return out;
}

std::vector<float> Peer(int rate, const std::vector<float>& samples) {
  std::vector<float> out(samples.size() * kTarget / static_cast<size_t>(rate) + 16);
  size_t made = 0;
  const soxr_quality_spec_t quality = soxr_quality_spec(SOXR_HQ, 0);
  if (soxr_oneshot(rate, kTarget, 1, samples.data(), samples.size(), nullptr, out.data(), out.size(), &made,
                   nullptr, &quality, nullptr) != nullptr) {
    std::exit(1);
  }
  out.resize(made);
  return out;
}

double Db(double power) { return 10 * std::log10(power + 1e-30); }

// The sine that fits best, over what is left of it; edges are left out.
double SnrDb(int rate) {
  const std::vector<float> out = Ours(rate, Sine(997, rate, static_cast<size_t>(rate) * 3));
  double sine = 0, cosine = 0, power = 0;
  constexpr size_t kStart = 8000;
  constexpr size_t kCount = 32000;  // 997 Hz: 1,994 whole periods
  for (size_t i = kStart; i < kStart + kCount; ++i) {
    const double phase = 2 * M_PI * 997 * static_cast<double>(i) / kTarget;
    sine += out[i] * std::sin(phase) * 2 / kCount;
    cosine += out[i] * std::cos(phase) * 2 / kCount;
  }
  for (size_t i = kStart; i < kStart + kCount; ++i) {
    const double phase = 2 * M_PI * 997 * static_cast<double>(i) / kTarget;
    const double rest = out[i] - sine * std::sin(phase) - cosine * std::cos(phase);
    power += rest * rest / kCount;
  }
  return Db((sine * sine + cosine * cosine) / 2) - Db(power);
}

double AliasDb(int rate) {
  double loudest = -300;
  for (const double hertz : {8800.0, 11000.0, 15000.0, 20000.0}) {
    const std::vector<float> out = Ours(rate, Sine(hertz, rate, static_cast<size_t>(rate) * 2));
    double power = 0;
    for (size_t i = 8000; i < 24000; ++i) power += static_cast<double>(out[i]) * out[i] / 16000;
    loudest = std::max(loudest, Db(power) - Db(0.5));
  }
  return loudest;
}

}  // namespace

int main(int argc, char** argv) {
  const int rounds = argc > 1 ? std::atoi(argv[1]) : 15;
  for (const int rate : {44100, 48000}) {
    const std::vector<float> noise = Noise(static_cast<size_t>(rate) * 60, 0.5, 1);
    std::vector<double> ours, peer;
    for (int round = 0; round <= rounds; ++round) {
      const double own = Milliseconds([&] { Ours(rate, noise); });
      const double other = Milliseconds([&] { Peer(rate, noise); });
      if (round == 0) continue;
      ours.push_back(own);
      peer.push_back(other);
    }
    std::printf("{\"rate\":%d,", rate);
    PrintList("ours", ours, 4);
    std::printf(",");
    PrintList("peer", peer, 4);
    std::printf(",\"snr\":%.1f,\"alias\":%.1f}\n", SnrDb(rate), AliasDb(rate));
  }
}
