"""Reads recordings and runs command-line codecs over samples."""

import functools
import subprocess
import tempfile
from pathlib import Path

import numpy as np
import soundfile

from training import cache, settings
from training.corpora.corpus import Clip
from training.settings import SAMPLE_RATE

# FROM_PCM reads 16 kHz mono s16le from stdin, TO_PCM writes it to stdout.
FROM_PCM = f"ffmpeg -v error -f s16le -ar {SAMPLE_RATE} -ac 1 -i pipe:0"
TO_PCM = f"ffmpeg -v error -i pipe:0 -f s16le -ar {SAMPLE_RATE} -ac 1 pipe:1"


def read_audio(path: Path) -> np.ndarray:
    """float64 [samples] at 16 kHz, one channel."""
    samples, rate = soundfile.read(path, dtype="float64", always_2d=True)
    if rate != SAMPLE_RATE:
        raise ValueError(f"Expected {SAMPLE_RATE} Hz for `{path}`, got {rate}")
    return samples.mean(1)


@functools.cache
def decode(path: Path) -> np.ndarray:
    """Like `read_audio`, by FFmpeg: it reads the chained and stereo Ogg files of ESC10, which soundfile refuses."""
    command = ["ffmpeg", "-v", "error", "-i", str(path), "-f", "f32le", "-ac", "1", "-ar", str(SAMPLE_RATE), "-"]
    return np.frombuffer(subprocess.run(command, capture_output=True, check=True).stdout, np.float32).astype(float)


def read_clip(clip: Clip) -> np.ndarray:
    path = settings.DATA / clip.path
    return decode(path) if clip.corpus == "ESC10" else read_audio(path)


def run_codec(command: str, samples: np.ndarray) -> np.ndarray:
    """Pipes samples through a shell command that reads and writes 16 kHz mono s16le."""
    raw = (np.clip(samples, -1, 1) * 32767).astype("<i2").tobytes()
    with tempfile.TemporaryFile() as file:
        file.write(raw)
        file.seek(0)
        out = subprocess.run(["bash", "-o", "pipefail", "-c", command], stdin=file, stdout=subprocess.PIPE, check=True)
    return np.frombuffer(out.stdout, "<i2").astype(np.float32) / 32768


def change_tempo(samples: np.ndarray, factor: float) -> np.ndarray:
    """Pitch is kept."""
    form = ["-f", "f32le", "-ar", str(SAMPLE_RATE)]
    command = ["ffmpeg", "-v", "error", *form, "-i", "pipe:0", "-af", f"atempo={factor}", "-f", "f32le", "pipe:1"]
    out = subprocess.run(command, input=samples.astype("<f4").tobytes(), stdout=subprocess.PIPE, check=True)
    return np.frombuffer(out.stdout, "<f4")


def altered_copy(clip: Clip, name: str, code: str, suffix: str = ".wav") -> Path:
    """Path of an altered copy, keyed by the bytes of the recording and by `code`, the hash of the altering code."""
    path = cache.folder(f"copies-{name}", {"code": code}) / f"{cache.file_hash(settings.DATA / clip.path)[:16]}{suffix}"
    path.parent.mkdir(parents=True, exist_ok=True)
    return path
