"""Generates noise, tones, sweeps, chords, clicks, silence and synthetic speech as WAV files."""

import subprocess
import sys
import zlib
from functools import cache as memoize
from pathlib import Path

import numpy as np
import soundfile

from training import cache
from training.features import log_mel
from training.settings import SAMPLE_RATE

VOICES = ["en-us", "en-gb", "de", "fr", "it", "es", "pl", "ru", "sv", "nl", "tr", "hi", "pt", "ro"]
VARIANTS = ["", "+f1", "+f2", "+f3", "+f4", "+m1", "+m2", "+m3", "+m4", "+m5", "+croak", "+whisper"]
TEXTS = [
    "The train will leave at half past nine, so we should be there early.",
    "I am not sure whether that was the right thing to say.",
    "Please read the number seventeen and then wait for me.",
    "Nobody expected it to rain for such a long time this summer.",
    "We walked along the river until it was dark.",
    "Can you tell me where the nearest station is?",
]

LOW_KEYS, HIGH_KEYS = (697, 770, 852, 941), (1209, 1336, 1477, 1633)  # Hz


def unit_power(x: np.ndarray) -> np.ndarray:
    return x / (np.sqrt(np.mean(x**2)) + 1e-12)


def coloured_noise(rng: np.random.Generator, count: int, slope: float) -> np.ndarray:
    """Power falls with frequency to the power of `slope`."""
    spectrum = np.fft.rfft(rng.standard_normal(count))
    frequency = np.maximum(np.fft.rfftfreq(count, 1 / SAMPLE_RATE), 20.0)
    return unit_power(np.fft.irfft(spectrum * frequency ** (-slope / 2), count))


def noise(rng: np.random.Generator) -> np.ndarray:
    x = coloured_noise(rng, SAMPLE_RATE * int(rng.integers(4, 9)), rng.uniform(-1, 2.5))
    if rng.random() < 0.3:
        t = np.arange(len(x)) / SAMPLE_RATE
        x = x * (1 + rng.uniform(0.2, 0.9) * np.sin(2 * np.pi * rng.uniform(0.2, 12) * t))
    return x


def tones(rng: np.random.Generator) -> np.ndarray:
    """A sine, a dial tone, a busy tone or mains hum."""
    t = np.arange(SAMPLE_RATE * int(rng.integers(3, 7))) / SAMPLE_RATE
    kind = rng.integers(4)
    if kind == 0:
        x = np.sin(2 * np.pi * rng.uniform(60, 4000) * t)
    elif kind == 1:
        x = np.sin(2 * np.pi * 350 * t) + np.sin(2 * np.pi * 440 * t)
    elif kind == 2:
        x = np.sin(2 * np.pi * 425 * t) * ((t % rng.uniform(0.4, 2)) < 0.3)
    else:
        base = rng.choice([50, 60, 100, 120])
        x = sum(np.sin(2 * np.pi * base * k * t) / k ** rng.uniform(0, 2) for k in range(1, 12))
    return unit_power(x) + 10 ** rng.uniform(-4, -1.5) * rng.standard_normal(len(t))


def keypad(rng: np.random.Generator) -> np.ndarray:
    """Keys of a telephone (ITU-T Q.23), or its ringing, busy or congestion tones, as sines or with the overtones of a handset."""
    kind = rng.integers(4)
    if kind < 2:
        on, off = rng.uniform(0.05, 0.4), rng.uniform(0.03, 0.5)
        bursts = [(on, (LOW_KEYS[rng.integers(4)], HIGH_KEYS[rng.integers(4)])) for _ in range(rng.integers(3, 20))]
    else:
        on, off = ((2, 4), (1, 4), (0.5, 0.5), (0.25, 0.25))[rng.integers(4)]
        pair = ((440, 480), (425,), (400, 450), (480, 620), (350, 440))[rng.integers(5)]
        bursts = [(on, pair)] * (2 if on >= 1 else 8)
    overtones = int(rng.integers(1, 4))
    pieces = []
    for seconds, pair in bursts:
        t = np.arange(int(SAMPLE_RATE * seconds)) / SAMPLE_RATE
        burst = sum(np.sin(2 * np.pi * hertz * k * t) / k**2 for hertz in pair for k in range(1, overtones + 1))
        pieces += [burst * np.minimum(1, np.minimum(t, t[::-1]) * 200), np.zeros(int(SAMPLE_RATE * off))]
    x = np.concatenate(pieces)
    return unit_power(x) + 10 ** rng.uniform(-4, -1.5) * rng.standard_normal(len(x))


def sweeps(rng: np.random.Generator) -> np.ndarray:
    """A tone with a moving frequency, like a siren, a whistle or a test signal. Some have partials, some have gaps."""
    t = np.arange(SAMPLE_RATE * int(rng.integers(4, 10))) / SAMPLE_RATE
    phase = t * 10 ** rng.uniform(-1, 0.8) + rng.random()  # periods of the movement, .1 to 6 Hz
    shapes = (np.sin(2 * np.pi * phase), 4 * np.abs(phase % 1 - 0.5) - 1, 2 * (phase % 1) - 1, 1 - 2 * (phase % 1))
    centre, octaves = 10 ** rng.uniform(1.9, 3.5), rng.uniform(0.05, 1.5)
    hertz = np.minimum(centre * 2 ** (octaves * shapes[rng.integers(len(shapes))]), 7000)
    angle = 2 * np.pi * np.cumsum(hertz) / SAMPLE_RATE
    partials = 1 if rng.random() < 0.5 else int(rng.integers(2, 9))
    tilt = rng.uniform(0.5, 2.5)
    x = sum(np.sin(k * angle) * (k * hertz < 7800) / k**tilt for k in range(1, partials + 1))
    if rng.random() < 0.3:
        x = x * ((t * rng.uniform(0.5, 5)) % 1 < rng.uniform(0.3, 0.9))
    return unit_power(x) + 10 ** rng.uniform(-4, -1.5) * rng.standard_normal(len(t))


def chords(rng: np.random.Generator) -> np.ndarray:
    x = np.zeros(SAMPLE_RATE * 7)
    at = 0
    while at < len(x) - SAMPLE_RATE:
        length = min(int(SAMPLE_RATE * rng.uniform(0.15, 1.2)), len(x) - at)
        t = np.arange(length) / SAMPLE_RATE
        root = 55 * 2 ** (rng.integers(0, 48) / 12)
        decay = np.exp(-t * rng.uniform(0.5, 8))
        for semitones in [0, int(rng.integers(3, 5)), 7][: rng.integers(1, 4)]:
            hertz = root * 2 ** (semitones / 12)
            for k in range(1, int(rng.integers(3, 12))):
                if hertz * k < 7800:
                    x[at : at + length] += decay * np.sin(2 * np.pi * hertz * k * t) / k ** rng.uniform(0.6, 1.8)
        at += int(length * rng.uniform(0.5, 1.1))
    return unit_power(x) + 10 ** rng.uniform(-4, -2) * rng.standard_normal(len(x))


def clicks(rng: np.random.Generator) -> np.ndarray:
    x = 0.001 * rng.standard_normal(SAMPLE_RATE * 5)
    for at in rng.integers(0, len(x) - 800, rng.integers(3, 40)):
        x[at : at + 400] += rng.standard_normal(400) * np.exp(-np.arange(400) / rng.uniform(5, 150))
    return unit_power(x)


def write(path: Path, x: np.ndarray, rng: np.random.Generator) -> None:
    peak = np.abs(x).max() + 1e-12
    soundfile.write(path, (x / peak * 10 ** rng.uniform(-2.5, -0.05)).astype(np.float32), SAMPLE_RATE, subtype="PCM_16")


def write_speech(path: Path, rng: np.random.Generator) -> None:
    voice = str(rng.choice(VOICES)) + str(rng.choice(VARIANTS))
    text = str(rng.choice(TEXTS))
    command = ["espeak-ng", "-v", voice, "-s", str(rng.integers(110, 230)), "-p", str(rng.integers(15, 85))]
    raw = path.with_suffix(".espeak")
    subprocess.run([*command, "-w", str(raw), text], check=True, stderr=subprocess.DEVNULL)
    subprocess.run(["ffmpeg", "-v", "error", "-y", "-i", str(raw), "-ar", str(SAMPLE_RATE), str(path)], check=True)
    raw.unlink()


def is_held_out(path: str) -> bool:
    """A seventh of the files."""
    return zlib.crc32(path.removesuffix(".wav").rsplit("-", 1)[1].encode()) % 7 == 0


def generate(folder: Path) -> None:
    rng = np.random.default_rng(20)
    makers = {"noise": (noise, 80), "tones": (tones, 80), "keypad": (keypad, 80), "sweeps": (sweeps, 160), "chords": (chords, 80), "clicks": (clicks, 20)}
    for name, (make, count) in makers.items():
        for index in range(count):
            write(folder / f"{name}-{index:03}.wav", make(rng), rng)
    for index in range(4):
        silence = rng.integers(-index, index + 1, SAMPLE_RATE * 4) / 32768
        soundfile.write(folder / f"silence-{index:03}.wav", silence.astype(np.float32), SAMPLE_RATE, subtype="PCM_16")
    for index in range(200):
        write_speech(folder / f"speech-{index:03}.wav", rng)


@memoize
def folder() -> Path:
    return cache.build("sounds", {"code": cache.code_hash(sys.modules[__name__])}, generate)


@memoize
def features() -> log_mel.LogMelStore:
    return log_mel.of_generated("sounds", folder())
