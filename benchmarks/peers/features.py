"""Times feature extractors of Python packages: features.py SAMPLES.f32 OUTPUT_FOLDER PEER...

Prints one JSON line a series, {"name", "ns": [ns/frame]}, like benchmarks/native/features.cc, and leaves the
features in OUTPUT_FOLDER/NAME.f32. One thread each, processor time; 25 ms frames every 10 ms, 512-point transforms, 80 mel bins.
"""

import json
import sys
import time

import numpy as np

RATE = 16000
SHORT = 10 * RATE


def measure(name, run, rounds, folder, baseline=None):
    """`baseline` is what the measured call spends before it computes anything; it is taken off."""
    rows = run()
    ns = []
    for _ in range(rounds):
        start = time.process_time_ns()
        run()
        spent = time.process_time_ns() - start
        if baseline:
            start = time.process_time_ns()
            baseline()
            spent -= time.process_time_ns() - start
        ns.append(spent / len(rows))
    np.ascontiguousarray(rows, "<f4").tofile(f"{folder}/{name}.f32")
    print(json.dumps({"name": name, "ns": ns}), flush=True)


def kaldi(samples, folder):
    import kaldi_native_fbank as knf

    values = samples[:SHORT].tolist()

    def options(shift_ms):
        made = knf.FbankOptions()
        made.frame_opts.dither = 0
        made.frame_opts.snip_edges = False
        made.frame_opts.frame_shift_ms = shift_ms
        made.mel_opts.num_bins = 80
        made.mel_opts.low_freq = 20
        made.mel_opts.high_freq = 0
        return made

    def compute(shift_ms):
        fbank = knf.OnlineFbank(options(shift_ms))
        fbank.accept_waveform(RATE, values)
        fbank.input_finished()
        return fbank

    class Rows:
        """Copies frames out of the library, which is not part of its time."""

        def __init__(self, fbank):
            self.fbank = fbank

        def __len__(self):
            return self.fbank.num_frames_ready

        def __array__(self, dtype=None, copy=None):
            return np.stack([self.fbank.get_frame(i) for i in range(len(self))]).astype(dtype)

    # With one frame in all, what is left is the conversion of the Python list.
    measure("kaldi", lambda: Rows(compute(10)), 15, folder, lambda: compute(9000))


def torchaudio_peer(samples, folder):
    import torch
    import torchaudio

    torch.set_num_threads(1)
    mel = torchaudio.transforms.MelSpectrogram(RATE, n_fft=512, win_length=400, hop_length=160, n_mels=80)

    def run(wave):
        with torch.no_grad():
            return mel(wave).clamp(min=1e-10).log10().T

    short, whole = torch.from_numpy(samples[:SHORT].copy()), torch.from_numpy(samples)
    measure("torchaudio", lambda: run(short), 60, folder)
    measure("torchaudio-long", lambda: run(whole), 5, folder)


def asrfront_peer(samples, folder):
    from asrfront import whisper

    short = samples[:SHORT].copy()
    measure("asrfront", lambda: whisper.log_mel(short, pad_or_trim=False).T, 300, folder)


PEERS = {"asrfront": asrfront_peer, "kaldi": kaldi, "torchaudio": torchaudio_peer}

if __name__ == "__main__":
    audio = np.fromfile(sys.argv[1], "<f4")
    for peer in sys.argv[3:]:
        PEERS[peer](audio, sys.argv[2])
