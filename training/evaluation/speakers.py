"""Two voices on one channel: calls of speakers of the test part, separated by the command with `--speakers`."""

import tempfile
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import soundfile

from training import settings
from training.corpora.corpus import Clip, Part
from training.corpora.registry import read_clips
from training.evaluation.joined import SCALE, samples_of
from training.evaluation.metrics import Metric, make_metrics
from training.evaluation.reports import BOTH, analyze
from training.evaluation.statistics import mean
from training.features.spec import FRAMES_PER_SECOND, HOP_LENGTH
from training.heads.speaker import UNRELIABLE
from training.settings import SAMPLE_RATE

MIN_CLIP_S = 1.5
CLIPS = 8  # of each speaker, at most
MIN_CLIPS = 6  # of each speaker, at least
CALLS = 12  # of a corpus
GAP_S = 0.6  # between turns
TIGHT_S = 0.15  # at most between turns without a pause
START_S = 0.3  # before the first
QUIET_DB = 30  # below the peak: cut off from both ends of a clip in a call without pauses
ROOM = 3 / SCALE  # noise
UNSTATED = "unstated"
SEXES = {True: "same sex", False: "other sex"}
RIGHT = "seconds of the right voice, of those assigned"
ASSIGNED = "seconds assigned"
PAUSES = {GAP_S: "pauses between turns", TIGHT_S: "none between turns"}
ONE_AS_TWO = "one voice reported as two, `auto`"
FIGURES = (*(f"{name}: {sex}, {pauses}" for name in (RIGHT, ASSIGNED) for sex in SEXES.values() for pauses in PAUSES.values()), ONE_AS_TWO)


@dataclass(frozen=True)
class Call:
    clips: list[Clip]
    speakers: list[int]  # of each clip
    gap_s: float  # GAP_S, or at most TIGHT_S

    @property
    def kind(self) -> str:
        return SEXES[len({clip.sex for clip in self.clips}) == 1]

    @property
    def owner(self) -> Clip:
        """A clip of the speaker that intervals count it for: all calls of a pair have the same."""
        return min(self.clips, key=lambda clip: clip.speaker)

    def write(self, path: Path) -> np.ndarray:
        """-> speaker of each frame, -1 between turns"""
        rng = np.random.default_rng(settings.SEED)
        parts = [np.zeros(round(START_S * SAMPLE_RATE))]
        truth = [np.full(round(START_S * FRAMES_PER_SECOND), -1)]
        for clip, speaker in zip(self.clips, self.speakers):
            own = samples_of(clip) if self.gap_s == GAP_S else trimmed(samples_of(clip))
            own = own[: len(own) // HOP_LENGTH * HOP_LENGTH] / SCALE
            gap = round((self.gap_s if self.gap_s == GAP_S else rng.uniform(0, self.gap_s)) * FRAMES_PER_SECOND)
            parts += [own, np.zeros(gap * HOP_LENGTH)]
            truth += [np.full(len(own) // HOP_LENGTH, speaker), np.full(gap, -1)]
        samples = np.concatenate(parts)
        soundfile.write(path, np.clip(samples + rng.normal(0, ROOM, len(samples)), -1, 1), SAMPLE_RATE, "PCM_16")
        return np.concatenate(truth)


def trimmed(samples: np.ndarray) -> np.ndarray:
    peaks = np.abs(samples[: len(samples) // HOP_LENGTH * HOP_LENGTH].reshape(-1, HOP_LENGTH).astype(int)).max(1)
    loud = np.flatnonzero(peaks > peaks.max() * 10 ** (-QUIET_DB / 20))
    return samples[loud[0] * HOP_LENGTH : (loud[-1] + 1) * HOP_LENGTH]


def calls_of() -> list[Call]:
    """Of each corpus in the test part: of two speakers with pauses and without, and of one."""
    rng = np.random.default_rng(settings.SEED)
    calls = []
    corpora: dict[str, dict[str, list[Clip]]] = {}
    for clip in read_clips():
        known = clip.definition.is_speech and clip.speaker and clip.sex != UNSTATED and clip.corpus not in UNRELIABLE
        if clip.part is Part.TEST and known and float(clip.row["dur_s"]) >= MIN_CLIP_S:
            corpora.setdefault(clip.corpus, {}).setdefault(clip.speaker, []).append(clip)
    for speakers in corpora.values():
        names = sorted(speaker for speaker, own in speakers.items() if len(own) >= MIN_CLIPS)

        def draw(speaker: str, count: int) -> list[Clip]:
            own = speakers[speaker]
            return [own[i] for i in rng.permutation(len(own))[:count]]

        for index in range(CALLS if len(names) > 1 else 0):
            one, other = rng.choice(names, 2, replace=False)
            turns = [(clip, owner) for owner, speaker in enumerate((one, other)) for clip in draw(speaker, CLIPS)]
            mixed = [turns[i] for i in rng.permutation(len(turns))]
            by_turns = [turn for pair in zip(turns[: len(turns) // 2], turns[len(turns) // 2 :]) for turn in pair]
            calls += [Call(*map(list, zip(*order)), gap) for order, gap in ((mixed, GAP_S), (by_turns, TIGHT_S))]
        for speaker in names[:CALLS]:
            own = draw(speaker, 2 * CLIPS)
            calls.append(Call(own, [0] * len(own), GAP_S))
    return calls


Spans = list[tuple[float, float, int]]  # seconds, and the speaker; -1 for speech of neither


def spans_of(report: dict) -> Spans:
    spans = [(one["start_s"], one["end_s"], index) for index, speaker in enumerate(report.get("speakers", []))
             for one in speaker["segments"] if one["type"] == "speech"]  # fmt: skip
    return spans + [(one["start_s"], one["end_s"], -1) for one in report.get("unassigned", [])]


def judge(truth: np.ndarray, spans: Spans) -> tuple[float, float]:
    """-> right seconds of those assigned, assigned ones of all detected speech in turns"""
    found = np.full(len(truth), -2)
    for start, end, speaker in spans:
        found[round(start * FRAMES_PER_SECOND) : round(end * FRAMES_PER_SECOND)] = speaker
    spoken = (truth >= 0) & (found > -2)
    assigned = spoken & (found >= 0)
    right = max((assigned & (found == truth)).sum(), (assigned & (found == 1 - truth)).sum())
    return right / max(1, assigned.sum()), assigned.sum() / max(1, spoken.sum())


def separate(paths: list[Path], models: Path, mode: str) -> list[Spans]:
    """`mode`: `2` or `auto`"""
    return [spans_of(report) for report in analyze(paths, BOTH, models, ["--speakers", mode])]


def speaker_metrics(models: Path) -> list[Metric]:
    calls = calls_of()
    figures: dict[str, list[tuple[Clip, float]]] = {}
    with tempfile.TemporaryDirectory(prefix="undertone-speakers-") as folder:
        paths = [Path(folder) / f"{index:04}.wav" for index in range(len(calls))]
        truths = [call.write(path) for call, path in zip(calls, paths)]
        of_two = [index for index, call in enumerate(calls) if len(set(call.speakers)) == 2]
        for index, spans in zip(of_two, separate([paths[i] for i in of_two], models, "2")):
            call = calls[index]
            for name, value in zip((RIGHT, ASSIGNED), judge(truths[index], spans)):
                figures.setdefault(f"{name}: {call.kind}, {PAUSES[call.gap_s]}", []).append((call.owner, value))
        of_one = [index for index, call in enumerate(calls) if len(set(call.speakers)) == 1]
        for index, spans in zip(of_one, separate([paths[i] for i in of_one], models, "auto")):
            is_two = len({speaker for *_, speaker in spans if speaker >= 0}) > 1
            figures.setdefault(ONE_AS_TWO, []).append((calls[index].owner, float(is_two)))
    metrics = []
    for figure in FIGURES:
        clips, values = zip(*figures[figure])
        metrics += make_metrics("emotion", figure, "all", mean, list(clips), np.array(values), np.array(values))
    return metrics
