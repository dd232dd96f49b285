"""Held-out recordings as they are and as worse microphones, rooms, lines and shorter takes would give them.

Everything lies under UNDERTONE_TRAINING_CACHE/evaluate/CONDITION/CORPUS: links to the recordings, and WAV copies.
"""

from __future__ import annotations

import os
import subprocess
import zlib
from pathlib import Path

import numpy as np
import soundfile
from scipy.signal import butter, resample_poly, sosfilt

from corpus import CACHE, DATA, LABELLED, Clip, read_clips

FOLDER = CACHE / "evaluate"
RATE = 16000
UNSPOKEN = ["ESC10", "EmoGator"]
COPIES = {"TAVA": 1000, "speechocean762": 120}  # held-out clips that are copied at most; of other corpora FEW
FEW = 25
STEADY = ("Rain", "Sea waves", "Helicopter", "Chainsaw")


def of_clean() -> list[Clip]:
    return [c for c in read_clips() if c.held_out and c.corpus in (*LABELLED, *UNSPOKEN, "LibriSpeech", "MFA")
            or c.corpus == "AMI"]  # fmt: skip


def of_copies(clips: list[Clip]) -> list[Clip]:
    picked = []
    for name in LABELLED:
        held = [clip for clip in clips if clip.corpus == name]
        count = min(COPIES.get(name, FEW), len(held))
        picked += [held[i] for i in np.linspace(0, len(held) - 1, count).astype(int)] if held else []
    return picked


def decode(path: Path) -> np.ndarray:
    """By FFmpeg: some of ESC10's files are chained or stereo Ogg."""
    command = ["ffmpeg", "-v", "error", "-i", str(path), "-f", "f32le", "-ac", "1", "-ar", str(RATE), "-"]
    return np.frombuffer(subprocess.run(command, capture_output=True, check=True).stdout, np.float32).astype(float)


def read_samples(path: Path) -> np.ndarray:
    """One channel at RATE, by FFmpeg only where it must be: a process a file takes its time."""
    return decode(path) if path.parent.name == "ESC10" else soundfile.read(path, dtype="float64")[0]


def read_noises() -> list[np.ndarray]:
    """Steady sounds of ESC10's held-out fold, which no model heard."""
    held = [c for c in read_clips() if c.corpus == "ESC10" and c.held_out and c.label in STEADY]
    noises = [decode(DATA / clip.path) for clip in held]
    return [noise for noise in noises if len(noise) >= RATE and np.mean(noise**2) > 1e-6]


def loud_power(samples: np.ndarray) -> float:
    """Mean power of the 10 ms frames above a tenth of the mean."""
    frames = samples[: len(samples) // 160 * 160].reshape(-1, 160)
    power = (frames**2).mean(1)
    return float(power[power > 0.1 * power.mean()].mean())


def with_noise(samples: np.ndarray, decibels: float, noises: list[np.ndarray], rng: np.random.Generator) -> np.ndarray:
    noise = noises[rng.integers(len(noises))]
    start = rng.integers(len(noise))
    noise = noise[(start + np.arange(len(samples))) % len(noise)]
    gain = np.sqrt(loud_power(samples) / np.mean(noise**2) * 10 ** (-decibels / 10))
    return samples + gain * noise


def telephone(samples: np.ndarray) -> np.ndarray:
    """300 to 3400 Hz at 8 kHz, companded to the 8 bits of G.711's mu-law."""
    band = sosfilt(butter(6, [300, 3400], "band", fs=RATE, output="sos"), samples)
    narrow = np.clip(resample_poly(band, 1, 2), -1, 1)
    companded = np.sign(narrow) * np.log1p(255 * np.abs(narrow)) / np.log(256)
    steps = np.round(companded * 127) / 127
    return np.sign(steps) * (256 ** np.abs(steps) - 1) / 255


def loudest(samples: np.ndarray, seconds: float) -> np.ndarray:
    """The stretch of that length with the most energy."""
    count = int(seconds * RATE)
    if len(samples) <= count:
        return samples
    energy = np.concatenate([[0], np.cumsum(samples**2)])
    start = int(np.argmax(energy[count:] - energy[:-count]))
    return samples[start : start + count]


def change(samples: np.ndarray, condition: str, noises: list[np.ndarray], seed: int) -> tuple[np.ndarray, int]:
    rng = np.random.default_rng(seed)
    if condition == "telephone":
        return telephone(samples), RATE // 2
    kind, amount = condition.split("-")
    if kind == "noise":
        return with_noise(samples, float(amount), noises, rng), RATE
    return loudest(samples, float(amount)), RATE


CHANGED = {
    "noise-20": "noise, 20 dB SNR",
    "noise-10": "noise, 10 dB SNR",
    "noise-5": "noise, 5 dB SNR",
    "telephone": "telephone band",
    "loudest-2": "loudest 2 s alone",
    "loudest-1": "loudest 1 s alone",
}


def link(clip: Clip) -> None:
    path = FOLDER / "clean" / clip.path
    path.parent.mkdir(parents=True, exist_ok=True)
    if not path.is_symlink():
        os.symlink((DATA / clip.path).resolve(), path)


def place_of(clip: Clip, condition: str) -> Path:
    return (FOLDER / condition / clip.path).with_suffix(".wav")


def copy(clip: Clip, condition: str, noises: list[np.ndarray]) -> None:
    path = place_of(clip, condition)
    if path.exists():
        return
    path.parent.mkdir(parents=True, exist_ok=True)
    samples, rate = soundfile.read(DATA / clip.path, dtype="float64")
    assert rate == RATE and samples.ndim == 1, clip.path
    changed, rate = change(samples, condition, noises, zlib.crc32(f"{condition} {clip.path}".encode()))
    part = Path(f"{path}.part")
    peak = max(1.0, float(np.abs(changed).max()))
    soundfile.write(part, changed / peak, rate, "PCM_16", format="WAV")
    part.replace(path)


def prepare() -> None:
    clips, noises = of_clean(), read_noises()
    for clip in clips:
        link(clip)
    copies = [(condition, clip) for condition in CHANGED for clip in of_copies(clips)]
    keep = {place_of(clip, condition) for condition, clip in copies} | {FOLDER / "clean" / clip.path for clip in clips}
    for path in FOLDER.rglob("*.*"):
        if path not in keep:
            path.unlink()
    for count, (condition, clip) in enumerate(copies, 1):
        copy(clip, condition, noises)
        if count % 500 == 0 or count == len(copies):
            print(f"copies in worse conditions: {count} of {len(copies)}", flush=True)


if __name__ == "__main__":
    prepare()
