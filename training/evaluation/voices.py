"""Voices on one channel: calls that are built from clips of speakers of the test part, separated by the command with `--speakers`.

results/voices.json has the last run, of models/standard: all sets have its voice model. docs/results/calls.md has the table.
"""

import json
import subprocess
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import soundfile
from scipy.optimize import linear_sum_assignment

from training import settings
from training.corpora.corpus import Clip, Part
from training.corpora.registry import read_clips
from training.evaluation import results
from training.evaluation.joined import SCALE, samples_of
from training.evaluation.metrics import Metric, make_metrics
from training.evaluation.reports import BOTH, analyze, command_environment
from training.evaluation.statistics import mean
from training.features.spec import FRAMES_PER_SECOND, HOP_LENGTH
from training.heads.speaker import UNRELIABLE
from training.reporting.tables import interval_cell, replace_between, table
from training.settings import SAMPLE_RATE

PATH = settings.RESULTS / "voices.json"
PAGE = settings.RESULT_PAGES / "calls.md"
MIN_CLIP_S = 1.5
CLIPS = 8  # of each speaker, at most
MIN_CLIPS = 6  # of each speaker, at least
CALLS = 12  # of a corpus, of each number of speakers
ALONE_S = 120.0  # of a speaker alone
START_S = 0.3  # before the first
QUIET_DB = 30  # below the peak: cut off from both ends of a clip that is trimmed
ROOM = 3 / SCALE  # noise
UNSTATED = "unstated"
NOBODY, SEVERAL = -1, -2  # in the truth
PAUSES, NONE, TURNS = "pauses between turns", "none between turns", "turns of talk"
STYLES = (PAUSES, NONE, TURNS)
GAP_S = 0.6  # of PAUSES
TIGHT_S = 0.15  # at most, of NONE
# Of TURNS: gaps and overlaps are normal around a fifth of a second (Heldner & Edlund 2010, doi:10.1016/j.wocn.2010.08.002), answers may be a word,
# and one voice is quieter than the other.
TALK_GAP_S, TALK_SPREAD_S, TALK_LIMITS_S = 0.2, 0.4, (-0.6, 1.5)
SHORT, SHORT_S = 0.2, (0.5, 1.0)
LEVEL_DB = 10.0
SEXES = {True: "same sex", False: "other sex"}
COUNTS = {2: "two", 3: "three", 4: "four"}
MORE = tuple(count for count in COUNTS if count > 2)
ERROR, ASSIGNED, LIVE, COUNTED = "error", "seconds assigned", "error of live turns", "counted right by `auto`"
LIVE_SHARE = 4  # of so many calls one is streamed
ONE = f"one voice, {ALONE_S:.0f} s"
ALONE = f"{COUNTED}: {ONE}"
OF_TWO = tuple(f"{sex}, {style}" for sex in SEXES.values() for style in STYLES)
OF_MORE = tuple(f"{COUNTS[count]} voices, {TURNS}" for count in MORE)
FIGURES = (*(f"{name}: {kind}" for name in (ERROR, ASSIGNED, LIVE, COUNTED) for kind in (*OF_TWO, *OF_MORE)), ALONE)


@dataclass(frozen=True)
class Turn:
    clip: Clip
    speaker: int
    samples: np.ndarray  # [-1, 1]
    gap: int  # samples from the end of the turn before; negative: an overlap


@dataclass(frozen=True)
class Call:
    turns: list[Turn]
    style: str

    @property
    def speakers(self) -> int:
        return len({turn.speaker for turn in self.turns})

    @property
    def kind(self) -> str:
        if self.speakers == 1:
            return ONE
        if self.speakers != 2:
            return f"{COUNTS[self.speakers]} voices, {self.style}"
        return f"{SEXES[len({turn.clip.sex for turn in self.turns}) == 1]}, {self.style}"

    @property
    def owner(self) -> Clip:
        """A clip of the speaker that intervals count it for: all calls of a pair have the same."""
        return min((turn.clip for turn in self.turns), key=lambda clip: clip.speaker)

    def write(self, path: Path) -> np.ndarray:
        """-> speaker of each frame, NOBODY or SEVERAL"""
        starts, end = [], round(START_S * SAMPLE_RATE)
        for turn in self.turns:
            starts.append(max(starts[-1] if starts else 0, end + turn.gap) // HOP_LENGTH * HOP_LENGTH)
            end = max(end, starts[-1] + len(turn.samples))
        samples, truth = np.zeros(end + HOP_LENGTH), np.full(end // HOP_LENGTH + 1, NOBODY)
        for start, turn in zip(starts, self.turns):
            samples[start : start + len(turn.samples)] += turn.samples
            frames = truth[start // HOP_LENGTH :][: len(turn.samples) // HOP_LENGTH]
            frames[:] = np.where((frames == NOBODY) | (frames == turn.speaker), turn.speaker, SEVERAL)
        rng = np.random.default_rng(settings.SEED)
        soundfile.write(path, np.clip(samples + rng.normal(0, ROOM, len(samples)), -1, 1), SAMPLE_RATE, "PCM_16")
        return truth


def trimmed(samples: np.ndarray) -> np.ndarray:
    peaks = np.abs(samples[: len(samples) // HOP_LENGTH * HOP_LENGTH].reshape(-1, HOP_LENGTH)).max(1)
    loud = np.flatnonzero(peaks > peaks.max() * 10 ** (-QUIET_DB / 20))
    return samples[loud[0] * HOP_LENGTH : (loud[-1] + 1) * HOP_LENGTH]


def build(order: Sequence[tuple[Clip, int]], style: str, rng: np.random.Generator) -> Call:
    """`order`: clips and their speakers"""
    levels = -rng.uniform(0, LEVEL_DB) * (np.arange(max(speaker for _, speaker in order) + 1) > 0)
    turns = []
    for clip, speaker in order:
        samples = samples_of(clip) / SCALE
        gap = GAP_S
        if style != PAUSES:
            samples = trimmed(samples)
            gap = rng.uniform(0, TIGHT_S)
        if style == TURNS:
            if rng.uniform() < SHORT:
                samples = samples[: round(rng.uniform(*SHORT_S) * SAMPLE_RATE)]
            samples = samples * 10 ** (levels[speaker] / 20)
            gap = np.clip(rng.normal(TALK_GAP_S, TALK_SPREAD_S), *TALK_LIMITS_S)
        turns.append(Turn(clip, speaker, samples, round(gap * SAMPLE_RATE)))
    return Call(turns, style)


def known_speakers(parts: Sequence[Part]) -> dict[str, dict[str, list[Clip]]]:
    """Corpus -> speaker -> clips, of those with enough"""
    corpora: dict[str, dict[str, list[Clip]]] = {}
    for clip in read_clips():
        known = clip.definition.is_speech and clip.speaker and clip.sex != UNSTATED and clip.corpus not in UNRELIABLE
        if clip.part in parts and known and float(clip.row["dur_s"]) >= MIN_CLIP_S:
            corpora.setdefault(clip.corpus, {}).setdefault(clip.speaker, []).append(clip)
    return {corpus: {name: own for name, own in sorted(speakers.items()) if len(own) >= MIN_CLIPS} for corpus, speakers in corpora.items()}


def calls_of(parts: Sequence[Part] = (Part.TEST,)) -> list[Call]:
    """Of each corpus, of several speakers in each style."""
    rng = np.random.default_rng(settings.SEED)
    calls = []
    for speakers in known_speakers(parts).values():
        for count in COUNTS:
            for _ in range(CALLS if len(speakers) >= count else 0):
                chosen = rng.choice(list(speakers), count, replace=False)
                drawn = [[speakers[name][i] for i in rng.permutation(len(speakers[name]))[:CLIPS]] for name in chosen]
                by_turns = [(own[place], speaker) for place in range(CLIPS) for speaker, own in enumerate(drawn) if place < len(own)]
                mixed = [by_turns[i] for i in rng.permutation(len(by_turns))]
                for style in STYLES if count == 2 else (TURNS,):
                    calls.append(build(mixed if style == PAUSES else by_turns, style, rng))
    return calls


def alone(parts: Sequence[Part] = (Part.TEST,)) -> list[Call]:
    """Of each corpus, of one speaker in any affect"""
    rng = np.random.default_rng(settings.SEED)
    calls = []
    for speakers in known_speakers(parts).values():
        for own in list(speakers.values())[:CALLS]:
            chosen, left = [], ALONE_S
            for i in rng.permutation(len(own)):
                if left > 0:
                    chosen.append((own[i], 0))
                    left -= float(own[i].row["dur_s"])
            calls.append(build(chosen, PAUSES, rng))
    return calls


def write_calls(calls: Sequence[Call], folder: Path) -> tuple[list[Path], list[np.ndarray]]:
    """-> WAV files, speakers of the frames of each"""
    paths = [folder / f"{index:04}.wav" for index in range(len(calls))]
    return paths, [call.write(path) for call, path in zip(calls, paths)]


Spans = list[tuple[float, float, int]]  # seconds, and the speaker; NOBODY for speech of none of them


def spans_of(report: dict) -> Spans:
    spans = [(one["start_s"], one["end_s"], index) for index, speaker in enumerate(report.get("speakers", []))
             for one in speaker["segments"] if one["type"] == "speech"]  # fmt: skip
    return spans + [(one["start_s"], one["end_s"], NOBODY) for one in report.get("unassigned", [])]


def count_of(spans: Spans) -> int:
    return max(1, len({speaker for *_, speaker in spans if speaker != NOBODY}))


def judge(truth: np.ndarray, spans: Spans) -> tuple[float, float]:
    """-> error, share assigned: of the frames of detected speech in which one speaks"""
    found = np.full(len(truth), SEVERAL)
    for start, end, speaker in spans:
        found[round(start * FRAMES_PER_SECOND) : round(end * FRAMES_PER_SECOND)] = speaker
    spoken = (truth >= 0) & (found != SEVERAL)
    assigned = spoken & (found >= 0)
    size = max(truth.max(), found.max()) + 1
    pairs = np.zeros((size, size))
    np.add.at(pairs, (truth[assigned], found[assigned]), 1)
    right = pairs[linear_sum_assignment(pairs, maximize=True)].sum()
    return 1 - right / max(1, spoken.sum()), assigned.sum() / max(1, spoken.sum())


def separate(paths: list[Path], models: Path, mode: str) -> list[Spans]:
    """`mode`: a number of voices, or `auto`"""
    return [spans_of(report) for report in analyze(paths, BOTH, models, ["--speakers", mode])]


def stream(path: Path, models: Path, mode: str) -> Spans:
    """Of the turns of a live session"""
    command = ["node", "dist/src/cli.js", "listen", "-", "--json", "--speakers", mode, "--models-dir", str(models.resolve())]
    with path.open("rb") as samples:
        run = subprocess.run(command, cwd=settings.REPOSITORY, env=command_environment(), stdin=samples, stdout=subprocess.PIPE, text=True, check=True)
    turns = [message for message in map(json.loads, run.stdout.splitlines()) if message["type"] == "turn"]
    return [(turn["start_s"], turn["end_s"], NOBODY if turn["speaker"] is None else int(turn["speaker"]) - 1) for turn in turns]


def speaker_metrics(models: Path) -> list[Metric]:
    calls, ones = calls_of(), alone()
    figures: dict[str, list[tuple[Clip, float]]] = {}
    with tempfile.TemporaryDirectory(prefix="undertone-speakers-") as folder:
        paths, truths = write_calls((*calls, *ones), Path(folder))
        for count in COUNTS:
            chosen = [index for index, call in enumerate(calls) if call.speakers == count]
            for index, spans in zip(chosen, separate([paths[i] for i in chosen], models, str(count))):
                for name, value in zip((ERROR, ASSIGNED), judge(truths[index], spans)):
                    figures.setdefault(f"{name}: {calls[index].kind}", []).append((calls[index].owner, value))
        for index in range(0, len(calls), LIVE_SHARE):
            error, _ = judge(truths[index], stream(paths[index], models, str(calls[index].speakers)))
            figures.setdefault(f"{LIVE}: {calls[index].kind}", []).append((calls[index].owner, error))
        counts = [count_of(spans) for spans in separate(paths, models, "auto")]
    for call, count in zip((*calls, *ones), counts):
        figures.setdefault(f"{COUNTED}: {call.kind}", []).append((call.owner, float(count == call.speakers)))
    metrics = []
    for figure in FIGURES:
        clips, values = zip(*figures[figure])
        metrics += make_metrics("emotion", figure, "all", mean, list(clips), np.array(values), np.array(values))
    return metrics


def run(models: Path) -> None:
    """Into the results and docs/results/calls.md."""
    found = results.save({models.name: results.new_run(models, speaker_metrics(models))}, PATH)
    rows = [[metric.figure, interval_cell(metric)] for metric in results.metrics_of(found[models.name])]
    replace_between(PAGE, "speakers", f"{results.describe_sources(found)}\n\n{table(['figure', 'value'], rows)}")
