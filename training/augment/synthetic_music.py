"""Generates music: random pieces, played by FluidSynth on a sound font.

Needs fluidsynth and timgm6mb-soundfont (Debian).
"""

import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from functools import cache as memoize
from pathlib import Path

import numpy as np

from training import cache, settings
from training.features import log_mel
from training.settings import SAMPLE_RATE

FONT = "/usr/share/sounds/sf2/TimGM6mb.sf2"
TICKS_PER_BEAT, BARS = 96, 6
SECONDS = 7  # kept of each piece
SCALES = [[0, 2, 4, 5, 7, 9, 11], [0, 2, 3, 5, 7, 8, 10], [0, 3, 5, 7, 10], [0, 2, 4, 7, 9]]
STEPS = [[1], [0.5, 0.5], [2], [0.25] * 4, [1.5, 0.5], [4], [0.5, 0.25, 0.25]]  # beats
DRUMS = [35, 36, 38, 40, 42, 46, 49, 51, 39, 56, 61, 63]
DRUM_CHANNEL = 9
Event = tuple[float, bytes]  # beat, MIDI message


def note(channel: int, key: int, velocity: int, start: float, length: float) -> list[Event]:
    key, velocity = int(np.clip(key, 0, 127)), int(np.clip(velocity, 1, 127))
    return [(start, bytes([0x90 | channel, key, velocity])), (start + length, bytes([0x80 | channel, key, 0]))]


def melody(rng: np.random.Generator, channel: int, scale: list[int], root: int, octave: int) -> list[Event]:
    """A random walk over the scale, with rests and vibrato."""
    events, at, place = [], 0.0, int(rng.integers(7))
    legato, rests = rng.uniform(0.3, 1.1), rng.uniform(0, 0.3)
    while at < 4 * BARS:
        for length in STEPS[rng.integers(len(STEPS))]:
            place = int(np.clip(place + rng.integers(-2, 3), -4, 11))
            key = root + 12 * (octave + place // len(scale)) + scale[place % len(scale)]
            if rng.random() > rests:
                events += note(channel, key, int(rng.integers(60, 120)), at, length * legato)
            at += length
    depth = int(rng.choice([0, 0, 300, 900, 2500]))
    for beat in np.arange(0, 4 * BARS, 0.05) if depth else []:
        bend = 8192 + int(depth * np.sin(2 * np.pi * 2.7 * beat))
        events.append((float(beat), bytes([0xE0 | channel, bend & 127, bend >> 7])))
    return events


def chords(rng: np.random.Generator, channel: int, scale: list[int], root: int, octave: int) -> list[Event]:
    events, pulses = [], int(rng.choice([1, 2, 4, 8]))
    for bar in range(BARS):
        degree = int(rng.integers(len(scale)))
        for pulse in range(pulses):
            for third in (0, 2, 4):
                place = degree + third
                key = root + 12 * (octave + place // len(scale)) + scale[place % len(scale)]
                start, length = 4 * bar + 4 * pulse / pulses, 4 / pulses * rng.uniform(0.4, 1)
                events += note(channel, key, int(rng.integers(50, 100)), start, length)
    return events


def drums(rng: np.random.Generator) -> list[Event]:
    events = []
    for key in rng.choice(DRUMS, rng.integers(2, 5), replace=False):
        hits = rng.random(8) < rng.uniform(0.2, 0.8)
        for beat in np.arange(0, 4 * BARS, 0.5)[np.tile(hits, BARS)]:
            events += note(DRUM_CHANNEL, int(key), int(rng.integers(60, 127)), float(beat), 0.2)
    return events


def piece(rng: np.random.Generator) -> bytes:
    scale, root, events = SCALES[rng.integers(len(SCALES))], int(rng.integers(12)), []
    parts = rng.permutation(["melody", "chords", "drums", "melody", "bass"])[: rng.integers(1, 5)]
    for channel, part in enumerate(parts):
        events.append((0.0, bytes([0xC0 | channel, int(rng.integers(0, 112))])))
        if part == "drums":
            events += drums(rng)
        elif part == "chords":
            events += chords(rng, channel, scale, root, int(rng.integers(4, 6)))
        else:
            events += melody(rng, channel, scale, root, 3 if part == "bass" else int(rng.integers(4, 7)))
    return midi(events, rng.uniform(60, 190))


def midi(events: list[Event], beats_per_minute: float) -> bytes:
    """A standard MIDI file with one track."""
    track, last = b"\x00\xff\x51\x03" + round(6e7 / beats_per_minute).to_bytes(3, "big"), 0
    for beat, message in sorted(events, key=lambda event: event[0]):
        tick = round(beat * TICKS_PER_BEAT)
        track += variable_length(tick - last) + message
        last = tick
    track += b"\x00\xff\x2f\x00"
    head = b"MThd" + (6).to_bytes(4, "big") + b"\0\0\0\1" + TICKS_PER_BEAT.to_bytes(2, "big")
    return head + b"MTrk" + len(track).to_bytes(4, "big") + track


def variable_length(value: int) -> bytes:
    """Seven bits per byte, as MIDI stores time."""
    digits = [value & 127]
    while value := value >> 7:
        digits.append(value & 127 | 128)
    return bytes(reversed(digits))


def play(notes: bytes, path: Path) -> None:
    """Renders MIDI and writes the first SECONDS of it as WAV."""
    score, rendered = path.with_suffix(".mid"), path.with_suffix(".rendered")
    score.write_bytes(notes)
    subprocess.run(["fluidsynth", "-niq", "-r", str(SAMPLE_RATE), "-F", str(rendered), "-T", "wav", FONT, str(score)],
                   check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)  # fmt: skip
    subprocess.run(["ffmpeg", "-v", "error", "-y", "-t", str(SECONDS), "-i", str(rendered), "-ac", "1", str(path)], check=True)
    score.unlink()
    rendered.unlink()


def generate(folder: Path) -> None:
    rng = np.random.default_rng(31)
    jobs = [(piece(rng), folder / f"music-{index:03}.wav") for index in range(settings.SIZES.music_pieces)]
    with ThreadPoolExecutor(8) as threads:  # FluidSynth mostly waits
        list(threads.map(lambda job: play(*job), jobs))


@memoize
def folder() -> Path:
    return cache.build("music", {"pieces": settings.SIZES.music_pieces, "code": cache.code_hash(sys.modules[__name__])}, generate)


@memoize
def features() -> log_mel.LogMelStore:
    return log_mel.of_generated("music", folder())
