"""Changed copies of the recordings: gain, equalisation, rooms, noise, speed, tempo, pitch, silence, and real codecs.

changes.py COPY PART PARTS: writes CACHE/changes-COPY/<clip>.wav of every PARTS-th group of clips, and where each
clip lies in its copy. Every group goes through one chain of ffmpeg or sox and comes back by the same tools.
"""

from __future__ import annotations

import functools
import json
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
import soundfile
from scipy.signal import fftconvolve
from tqdm import tqdm

from corpus import CACHE, DATA, LABELLED, SEED, Clip, read_clips

RATE = 16000
GROUP = 48
GAP = RATE // 2  # silence between the clips of a group
# (share, encoder and decoder of 16 kHz s16le between standard input and output)
FFMPEG = "ffmpeg -v error -f s16le -ar 16000 -ac 1 -i pipe:0"
BACK = "ffmpeg -v error -i pipe:0 -f s16le -ar 16000 -ac 1 pipe:1"
CODECS = {
    "none": (0.22, None),
    "mp3-32": (0.10, f"{FFMPEG} -c:a libmp3lame -b:a 32k -f mp3 pipe:1 | {BACK}"),
    "mp3-64": (0.08, f"{FFMPEG} -c:a libmp3lame -b:a 64k -f mp3 pipe:1 | {BACK}"),
    "opus-8": (0.08, f"{FFMPEG} -c:a libopus -b:a 8k -f ogg pipe:1 | {BACK}"),
    "opus-16": (0.12, f"{FFMPEG} -c:a libopus -b:a 16k -f ogg pipe:1 | {BACK}"),
    "vorbis": (0.06, f"{FFMPEG} -c:a libvorbis -q:a 0 -f ogg pipe:1 | {BACK}"),
    "aac-24": (0.08, f"{FFMPEG} -c:a aac -b:a 24k -f adts pipe:1 | {BACK}"),
    "telephone": (0.12, f"{FFMPEG} -ar 8000 -af highpass=300,lowpass=3400 -c:a pcm_mulaw -f wav pipe:1 | {BACK}"),
    "narrow": (0.06, f"{FFMPEG} -ar 8000 -c:a pcm_s16le -f wav pipe:1 | {BACK}"),
    "amr": (0.08, "sox -V1 -t raw -e signed -b 16 -r 16000 -c 1 - -t amr-nb -r 8000 - | "
            "sox -V1 -t amr-nb - -t raw -e signed -b 16 -r 16000 -c 1 -"),
}  # fmt: skip


def read(clip: Clip) -> np.ndarray:
    samples, rate = soundfile.read(DATA / clip.path, dtype="float32", always_2d=True)
    if rate != RATE:
        raise SystemExit(f"Expected {RATE} Hz for `{clip.path}`, got {rate}")
    return samples.mean(1)


class Surroundings:
    """Noises (ESC10 without its held-out fold) and room responses (the recorded ones, and decaying noise)."""

    def __init__(self, clips: list[Clip]):
        self.noises = [clip for clip in clips if clip.corpus == "ESC10" and not clip.held_out]
        self.rooms = [read(clip) for clip in clips if clip.corpus == "RIR"]

    def noise(self, rng: np.random.Generator, count: int) -> np.ndarray:
        if rng.random() < 0.35:
            spectrum = np.fft.rfft(rng.normal(size=count))
            spectrum /= np.maximum(np.arange(len(spectrum)), 20) ** rng.uniform(0, 0.8)
            return np.fft.irfft(spectrum, count)
        sound = decoded(self.noises[rng.integers(len(self.noises))].path)
        start = rng.integers(0, len(sound))
        return sound[(start + np.arange(count)) % len(sound)].astype(np.float64)

    def room(self, rng: np.random.Generator) -> np.ndarray:
        if rng.random() < 0.5:
            return self.rooms[rng.integers(len(self.rooms))]
        seconds = rng.uniform(0.15, 0.7)
        at = np.arange(int(seconds * RATE)) / RATE
        tail = rng.normal(size=len(at)) * 10 ** (-3 * at / seconds)
        tail[0] = rng.uniform(6, 25)
        return tail.astype(np.float32)


@functools.cache
def decoded(path: str) -> np.ndarray:
    """Chained and stereo Ogg, which soundfile refuses."""
    command = ["ffmpeg", "-v", "error", "-i", str(DATA / path), "-f", "s16le", "-ar", str(RATE), "-ac", "1", "-"]
    return np.frombuffer(subprocess.run(command, stdout=subprocess.PIPE, check=True).stdout, np.int16)


def equalise(x: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    spectrum = np.fft.rfft(x)
    decibels = np.interp(np.linspace(0, 1, len(spectrum)), np.linspace(0, 1, 6), rng.normal(0, 4, 6))
    return np.fft.irfft(spectrum * 10 ** (decibels / 20), len(x))


def surround(x: np.ndarray, around: Surroundings, rng: np.random.Generator) -> np.ndarray:
    """One clip in another room, beside another noise, through another microphone, at another level."""
    power = float(np.mean(x**2)) + 1e-12
    if rng.random() < 0.3:
        response = around.room(rng)
        x = fftconvolve(x, response)[int(np.argmax(np.abs(response))) :][: len(x)]
        x = x * np.sqrt(power / (float(np.mean(x**2)) + 1e-12))
    if rng.random() < 0.5:
        noise = around.noise(rng, len(x))
        x = x + noise * np.sqrt(power / (float(np.mean(noise**2)) + 1e-12)) * 10 ** (-rng.uniform(5, 30) / 20)
    if rng.random() < 0.6:
        x = equalise(x, rng)
    peak = float(np.abs(x).max()) + 1e-9
    loudest = rng.uniform(1, 2) if rng.random() < 0.06 else 10 ** (rng.uniform(-26, -1) / 20)
    return np.clip(x / peak * loudest, -1, 1)


def retime(x: np.ndarray, rng: np.random.Generator) -> tuple[np.ndarray, float]:
    """Speed (pitch and tempo together), tempo or pitch alone, by ffmpeg -> samples, length against the original."""
    kind, factor = rng.random(), rng.uniform(0.92, 1.08)
    speed, tempo = f"asetrate={round(RATE * factor)},aresample={RATE}", f"atempo={factor:.4f}"
    if kind < 0.2:
        change, ratio = speed, 1 / factor
    elif kind < 0.35:
        change, ratio = tempo, 1 / factor
    elif kind < 0.5:
        change, ratio = f"{speed},atempo={1 / factor:.4f}", 1.0
    else:
        return x, 1.0
    return through(f"{FFMPEG} -af {change} -f s16le -ar {RATE} -ac 1 pipe:1", x), ratio


def through(command: str, x: np.ndarray) -> np.ndarray:
    raw = (np.clip(x, -1, 1) * 32767).astype("<i2").tobytes()
    with tempfile.TemporaryFile() as file:
        file.write(raw)
        file.seek(0)
        out = subprocess.run(["bash", "-o", "pipefail", "-c", command], stdin=file, stdout=subprocess.PIPE, check=True)
    return np.frombuffer(out.stdout, "<i2").astype(np.float32) / 32768


def change_group(group: list[Clip], around: Surroundings, rng: np.random.Generator, folder: Path) -> dict:
    """Writes the copies -> clip index: [codec, first sample of the clip, length against the original]."""
    parts, places, at = [], [], 0
    for clip in group:
        x = surround(read(clip), around, rng)
        parts += [x, np.zeros(GAP)]
        places.append((at, len(x)))
        at += len(x) + GAP
    whole, ratio = retime(np.concatenate(parts), rng)
    names = list(CODECS)
    codec = names[rng.choice(len(names), p=[share for share, _ in CODECS.values()])]
    if CODECS[codec][1]:
        whole = through(CODECS[codec][1], whole)
    found = {}
    for clip, (start, count) in zip(group, places):
        before, after = (int(rng.uniform(0, 0.4) * GAP) for _ in range(2))
        first = max(0, int(start * ratio) - before)
        soundfile.write(folder / f"{clip.index}.wav", whole[first : int((start + count) * ratio) + after], RATE)
        found[clip.index] = [codec, int(start * ratio) - first, ratio]
    return found


def main(copy: int, part: int, parts: int) -> None:
    clips = read_clips()
    around = Surroundings(clips)
    chosen = [clip for clip in clips if clip.corpus in LABELLED]
    order = np.random.default_rng([SEED, copy]).permutation(len(chosen))
    groups = [order[at : at + GROUP] for at in range(0, len(order), GROUP)]
    folder = CACHE / f"changes-{copy}"
    folder.mkdir(parents=True, exist_ok=True)
    for number in tqdm(range(part, len(groups), parts), "groups"):
        done = folder / f"group-{number}.json"
        if not done.exists():
            rng = np.random.default_rng([SEED, copy, number])
            done.write_text(json.dumps(change_group([chosen[i] for i in groups[number]], around, rng, folder)))


if __name__ == "__main__":
    main(*(int(value) for value in sys.argv[1:4]))
