"""Recordings of several clips of held-out speakers, by a seed: utterances whose labels are known, as they stand in an upload.

They are written into temporary folders and never kept.
"""

import zlib
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy as np
import soundfile

from training import settings
from training.augment.audio import read_audio
from training.augment.mix import gated_power
from training.augment.synthetic_noise import chords, coloured_noise, unit_power
from training.corpora.corpus import EMOTIONS, Clip
from training.corpora.registry import is_strong
from training.evaluation.reports import evenly_spaced
from training.features.spec import HOP_LENGTH
from training.settings import SAMPLE_RATE

CORPORA = ("EmoDB", "CREMA-D", "AESDD", "EMOVO", "RAVDESS")  # order of tables
PAUSES = (0.9, 10.0)  # seconds
TURN_PAUSE = 0.6
FILLED_PAUSE = 3.0
CLIPS = 6  # of a recording of one speaker
TURNS = 8  # clips of a recording of two speakers
NEUTRAL = 8  # clips around an angry one
MAX_RECORDINGS = 40  # of a corpus with two speakers, and of one with noise in the pauses
MAX_CUT = 12  # recordings of a corpus that are cut
CUTS = 5  # of each
MIN_CUT = 1.0  # second of the first cut
ANGRY = 4  # clips of a speaker: those that most listeners heard as angry
ROOM_DBFS = -60
BELOW_SPEECH_DB = 20  # babble and music
VOICES = 6  # of the babble
SCALE = 32767
Filler = Callable[["Joined", int, np.random.Generator], np.ndarray]


@cache
def pcm(path: Path) -> np.ndarray:
    """int16 [samples]"""
    return np.round(np.clip(read_audio(path), -1, 1) * SCALE).astype(np.int16)


def samples_of(clip: Clip) -> np.ndarray:
    return pcm(settings.DATA / clip.path)


def loop(samples: np.ndarray, count: int, rng: np.random.Generator) -> np.ndarray:
    """`count` samples from anywhere on."""
    return samples[(rng.integers(len(samples)) + np.arange(count)) % len(samples)]


def room_tone(_: "Joined", count: int, rng: np.random.Generator) -> np.ndarray:
    return coloured_noise(rng, count, 1.0) * 10 ** (ROOM_DBFS / 20)


def babble(joined: "Joined", count: int, rng: np.random.Generator) -> np.ndarray:
    voices = [unit_power(loop(samples_of(clip) / SCALE, count, rng)) for clip in joined.voices]
    return unit_power(np.sum(voices, 0)) * joined.speech_level() * 10 ** (-BELOW_SPEECH_DB / 20)


def music(joined: "Joined", count: int, rng: np.random.Generator) -> np.ndarray:
    return unit_power(loop(chords(rng), count, rng)) * joined.speech_level() * 10 ** (-BELOW_SPEECH_DB / 20)


FILLERS: dict[str, Filler] = {"room tone": room_tone, "babble": babble, "music": music}


@dataclass(frozen=True)
class Joined:
    """Clips one after another, with `pause` seconds of digital silence or of `filler` between two of them."""

    clips: tuple[Clip, ...]
    pause: float
    filler: str | None = None  # of FILLERS
    voices: tuple[Clip, ...] = ()  # other speakers, of the babble
    cut: float | None = None  # seconds

    @property
    def corpus(self) -> str:
        return self.clips[0].corpus

    def bounds(self) -> list[tuple[float, float]]:
        """Start and end of each clip, seconds."""
        lengths = [len(samples_of(clip)) / SAMPLE_RATE for clip in self.clips]
        starts = np.cumsum([0, *lengths[:-1]]) + self.pause * np.arange(len(lengths))
        return [(float(start), float(start + length)) for start, length in zip(starts, lengths)]

    def seconds(self) -> float:
        return self.bounds()[-1][1]

    def speech_level(self) -> float:
        """RMS of the frames with speech."""
        samples = np.concatenate([samples_of(clip) for clip in self.clips]) / SCALE
        frames = samples[: len(samples) // HOP_LENGTH * HOP_LENGTH].reshape(-1, HOP_LENGTH)
        return float(np.sqrt(gated_power((frames**2).mean(1))))

    def samples(self) -> np.ndarray:
        """int16"""
        rng = np.random.default_rng(zlib.crc32(" ".join(clip.path for clip in self.clips).encode()))
        count = round(self.pause * SAMPLE_RATE)
        parts = [samples_of(self.clips[0])]
        for clip in self.clips[1:]:
            between = np.zeros(count) if self.filler is None else FILLERS[self.filler](self, count, rng)
            parts += [np.round(np.clip(between, -1, 1) * SCALE).astype(np.int16), samples_of(clip)]
        joined = np.concatenate(parts)
        return joined if self.cut is None else joined[: round(self.cut * SAMPLE_RATE)]

    def write(self, path: Path) -> None:
        soundfile.write(path, self.samples(), SAMPLE_RATE, "PCM_16")


def by_speaker(clips: list[Clip]) -> dict[str, dict[str, list[Clip]]]:
    """Corpus -> speaker -> clips, each in the order of the names."""
    found: dict[str, dict[str, list[Clip]]] = {name: {} for name in CORPORA}
    for clip in sorted(clips, key=lambda clip: (clip.corpus, clip.speaker, clip.path)):
        found[clip.corpus].setdefault(clip.speaker, []).append(clip)
    return {name: speakers for name, speakers in found.items() if speakers}


def shuffled(clips: list[Clip], rng: np.random.Generator) -> list[Clip]:
    return [clips[i] for i in rng.permutation(len(clips))]


def one_speaker(clips: list[Clip]) -> list[tuple[Clip, ...]]:
    """Every clip once, about CLIPS of a speaker together."""
    rng = np.random.default_rng(settings.SEED)
    groups = []
    for speakers in by_speaker(clips).values():
        for own in speakers.values():
            order = shuffled(own, rng)
            groups += [tuple(order[i] for i in part) for part in np.array_split(np.arange(len(order)), max(1, round(len(order) / CLIPS)))]
    return groups


def sample(groups: list[tuple[Clip, ...]], count: int) -> list[tuple[Clip, ...]]:
    """At most `count` of each corpus."""
    sampled = []
    for name in CORPORA:
        sampled += evenly_spaced([group for group in groups if group[0].corpus == name], count)
    return sampled


def in_turns(clips: list[Clip]) -> list[Joined]:
    """TURNS clips of two speakers of a corpus, the one and the other."""
    rng = np.random.default_rng(settings.SEED + 1)
    found = []
    for speakers in by_speaker(clips).values():
        names = list(speakers)
        pairs = list(zip(names, [*names[1:], *names[:1]]))  # each speaker and the next, the last and the first
        if len(names) < 3:
            pairs = pairs[: len(names) - 1]
        for pair in pairs:
            one, other = (shuffled(speakers[name], rng) for name in pair)
            both = list(zip(one, other))[: MAX_RECORDINGS // len(pairs) * TURNS // 2]
            groups = [both[at : at + TURNS // 2] for at in range(0, len(both) - TURNS // 2 + 1, TURNS // 2)]
            for group in groups:
                clips_in_turn = tuple(clip for turn in group for clip in turn)
                found.append(Joined(clips_in_turn, TURN_PAUSE))
    return found


def with_noise(groups: list[tuple[Clip, ...]], filler: str) -> list[Joined]:
    """The same recordings with FILLED_PAUSE of something else than silence."""
    rng = np.random.default_rng(settings.SEED + 2)
    everybody = [clip for group in groups for clip in group]
    found = []
    for group in sample(groups, MAX_RECORDINGS):
        others = [clip for clip in everybody if (clip.corpus, clip.speaker) != (group[0].corpus, group[0].speaker)]
        found.append(Joined(group, FILLED_PAUSE, filler, tuple(shuffled(others, rng)[:VOICES])))
    return found


def anger(clip: Clip) -> tuple[float, bool]:
    """How strong it is: listeners' votes, then acted intensity."""
    return (clip.votes[EMOTIONS.index("angry")] if clip.votes else 0, is_strong(clip))


def angry_among_neutral(clips: list[Clip]) -> list[Joined]:
    """The strongest angry clips of each speaker, each amid others that are neutral, also to listeners who voted. Pauses come later."""
    rng = np.random.default_rng(settings.SEED + 3)
    found = []
    for speakers in by_speaker(clips).values():
        for own in speakers.values():
            neutral = [clip for clip in own if clip.emotion == "neutral" and np.argmax(clip.distribution) == EMOTIONS.index("neutral")]
            angry = sorted((clip for clip in own if clip.emotion == "angry"), key=anger, reverse=True)[:ANGRY]
            for clip in angry if len(neutral) >= NEUTRAL else ():
                others = shuffled(neutral, rng)[:NEUTRAL]
                at = rng.integers(1, NEUTRAL)
                found.append(Joined((*others[:at], clip, *others[at:]), 0))
    return found


def cuts(groups: list[tuple[Clip, ...]]) -> list[list[Joined]]:
    """Of each recording the whole, then CUTS that end anywhere. All pauses take turns."""
    rng = np.random.default_rng(settings.SEED + 4)
    found = []
    for index, group in enumerate(sample(groups, MAX_CUT)):
        whole = Joined(group, PAUSES[index % len(PAUSES)])
        ends = rng.uniform(MIN_CUT, whole.seconds(), CUTS)
        found.append([whole, *(Joined(group, whole.pause, cut=float(end)) for end in ends)])
    return found
