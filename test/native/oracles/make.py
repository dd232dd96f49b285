"""Makes the vectors that test/native/dsp compares with.

    python3 -m venv .cache/oracles && .cache/oracles/bin/pip install numpy==2.4.6 librosa==0.11.0 kaldi-native-fbank==1.22.5 scipy==1.17.1
    .cache/oracles/bin/python test/native/oracles/make.py kaldi librosa scipy
    apt-get install python3-torchaudio && /usr/bin/python3 test/native/oracles/make.py torchaudio

Each file is little-endian float32 of `signal(1, 4800)`: features row-major [frames x bins], filtered samples.
"""

import sys
from pathlib import Path

import numpy as np

HERE = Path(__file__).parent
RATE = 16000


def signal(seed, count):
    """Noise under a saw envelope, a 200 Hz square and an offset; test/native/signal.h is the same."""
    state = seed
    out = np.empty(count, np.float32)
    for i in range(count):
        state = (state * 1664525 + 1013904223) % 2**32
        noise = (state >> 8) / 2**24 - 0.5
        square = 0.1 if (i // 40) % 2 else -0.1
        out[i] = np.float32(0.5 * noise * ((i % 1600) + 1) / 1600 + square + 0.02)
    return out


def write(name, rows):
    rows = np.ascontiguousarray(rows, "<f4")
    rows.tofile(HERE / f"{name}.f32")
    print(name, rows.shape)


def kaldi_rows(online, options, samples):
    computer = online(options)
    computer.accept_waveform(RATE, samples.tolist())
    computer.input_finished()
    return np.stack([computer.get_frame(i) for i in range(computer.num_frames_ready)])


def kaldi_frame(options, window, snip_edges):
    options.frame_opts.dither = 0
    options.frame_opts.window_type = window
    options.frame_opts.snip_edges = snip_edges
    options.mel_opts.low_freq = 20
    options.mel_opts.high_freq = 0


def kaldi(samples):
    import kaldi_native_fbank as knf

    fbank = knf.FbankOptions()
    kaldi_frame(fbank, "povey", True)
    fbank.mel_opts.num_bins = 80
    write("kaldi_fbank", kaldi_rows(knf.OnlineFbank, fbank, samples))

    magnitude = knf.FbankOptions()
    kaldi_frame(magnitude, "hamming", False)
    magnitude.mel_opts.num_bins = 40
    magnitude.use_power = False
    write("kaldi_magnitude", kaldi_rows(knf.OnlineFbank, magnitude, samples))

    mfcc = knf.MfccOptions()
    kaldi_frame(mfcc, "povey", False)
    mfcc.mel_opts.num_bins = 23
    mfcc.num_ceps = 13
    mfcc.cepstral_lifter = 22
    mfcc.use_energy = True
    mfcc.raw_energy = True
    write("kaldi_mfcc", kaldi_rows(knf.OnlineMfcc, mfcc, samples))


def librosa_vectors(samples):
    import librosa

    power = librosa.feature.melspectrogram(
        y=samples, sr=RATE, n_fft=512, win_length=400, hop_length=160, n_mels=64, fmin=50, fmax=7600, pad_mode="reflect"
    )
    decibels = librosa.power_to_db(power, ref=1.0, amin=1e-10, top_db=30)
    write("librosa_log_mel", decibels.T)
    write("librosa_mfcc", librosa.feature.mfcc(S=decibels, n_mfcc=20).T)

    # Whisper's front end, on librosa's transform.
    mel = librosa.feature.melspectrogram(y=samples, sr=RATE, n_fft=400, hop_length=160, n_mels=80, pad_mode="reflect")
    log = np.log10(np.maximum(mel[:, :-1], 1e-10))
    log = np.maximum(log, log.max() - 8)
    write("whisper", ((log + 4) / 4).T)


def torchaudio_vectors(samples):
    import torch
    import torchaudio

    mel = torchaudio.transforms.MelSpectrogram(sample_rate=RATE, n_fft=400, hop_length=160, n_mels=40)
    write("torchaudio", mel(torch.from_numpy(samples)).clamp(min=1e-10).log().T.numpy())


def scipy_samples(samples):
    from scipy import signal

    sections = signal.ellip(5, 0.1, 46, 64, "highpass", fs=RATE, output="sos")
    write("scipy_highpass", signal.sosfilt(sections, samples.astype(float) - samples[0]))


MAKERS = {"kaldi": kaldi, "librosa": librosa_vectors, "scipy": scipy_samples, "torchaudio": torchaudio_vectors}

if __name__ == "__main__":
    for maker in sys.argv[1:]:
        MAKERS[maker](signal(1, 4800))
