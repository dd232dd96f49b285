"""Moments and turns of calls: built from clips of speakers of the test part, a channel for each of two or one for both, and moments of talk
as it is.

results/calls.json has the last run of each set of models; docs/results/calls.md has the tables.
"""

import json
import tempfile
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import soundfile

from training import settings
from training.calibration.moments import FIRST, MIN_SOUGHT_S, MIN_UTTERANCES, PLAIN, PLAIN_IN_CALL, SOUGHT, SOUGHT_IN_CALL, label_of
from training.corpora.corpus import Clip
from training.corpora.recipe import RESEARCH
from training.corpora.registry import read_clips
from training.evaluation import results
from training.evaluation.joined import Joined, samples_of
from training.evaluation.metrics import Metric, make_metrics
from training.evaluation.recordings import analyze_joined, overlap
from training.evaluation.reports import BOTH, analyze
from training.evaluation.statistics import mean
from training.reporting.tables import interval_cell, replace_between, table
from training.settings import SAMPLE_RATE

PATH = settings.RESULTS / "calls.json"
PAGE = settings.RESULT_PAGES / "calls.md"
CALLS = 6  # of each speaker
SECONDS = 120  # of a call at most
GAP_S = 0.6  # between two turns
TALK = ("AMI", "Frisian", "VoxLingua107", "speechocean762", "LibriSpeech")  # nobody acted it
FOUND = f"found among the first {FIRST} moments"
EVEN = "moments per minute, even calls"
PER_MINUTE = "moments per minute, talk"
READERS = "speechocean762"  # speakers who read
READ_CLIPS = 12  # of a monologue
TURN_CLIPS = 4  # of a turn
READ_PAUSE_S = 0.6  # between two clips
MAX_MONOLOGUES = 20
COMPARED = {"cognitive_load": "load", "processing": "processing", "clarity": "clarity"}
CHANGES = tuple(f"change of {name} by the turns of another" for name in COMPARED.values())
AGREEING = "clarity by channel and by segments inside each other's interval"
ALL = "all"


@dataclass(frozen=True)
class Turn:
    clip: Clip
    channel: int
    start: float  # seconds

    @property
    def end(self) -> float:
        return self.start + len(samples_of(self.clip)) / SAMPLE_RATE

    @property
    def sought(self) -> bool:
        return self.clip.emotion in SOUGHT


@dataclass(frozen=True)
class Call:
    turns: list[Turn]

    @property
    def corpus(self) -> str:
        return self.turns[0].clip.corpus

    @property
    def seconds(self) -> float:
        return max(turn.end for turn in self.turns)

    def without_sought(self) -> "Call":
        """The same with a pause in place of each emotional utterance."""
        return Call([turn for turn in self.turns if not turn.sought])

    def write(self, path: Path, mixed: bool = False) -> None:
        """`mixed`: both speakers on one channel"""
        samples = np.zeros((round(self.seconds * SAMPLE_RATE) + 1, 1 if mixed else 2), np.int16)
        for turn in self.turns:
            own = samples_of(turn.clip)
            at = round(turn.start * SAMPLE_RATE)
            samples[at : at + len(own), 0 if mixed else turn.channel] = own
        soundfile.write(path, samples, SAMPLE_RATE, "PCM_16")


def take_turns(customer: list[Clip], other: list[Clip]) -> Call:
    """The one and the other, with GAP_S between; without `other` the one alone. At most SECONDS."""
    turns = []
    at = 0.0
    for index, clip in enumerate(customer):
        for channel, spoken in enumerate([clip, *other[index % len(other) :][:1]] if other else [clip]):
            turn = Turn(spoken, channel, at)
            if turn.end <= SECONDS:
                turns.append(turn)
                at = turn.end + GAP_S
    return Call(turns)


def by_speaker(clips: list[Clip]) -> dict[str, list[Clip]]:
    return {name: [clip for clip in clips if clip.speaker == name] for name in {clip.speaker for clip in clips}}


def calls_of(clips: list[Clip]) -> list[Call]:
    """CALLS of each speaker of the test part with enough clips: plain ones, and one to three that are angry or sad."""
    rng = np.random.default_rng(settings.SEED)
    calls = []
    for name in RESEARCH.emotion:
        own = [clip for clip in clips if clip.corpus == name and clip.tested]
        plain = by_speaker([clip for clip in own if label_of(clip) in PLAIN])
        sought = by_speaker([clip for clip in own if label_of(clip) in SOUGHT and float(clip.row["dur_s"]) >= MIN_SOUGHT_S])
        names = sorted(plain)
        for speaker in names:
            if len(plain[speaker]) < PLAIN_IN_CALL[0] or len(sought.get(speaker, [])) < SOUGHT_IN_CALL[1]:
                continue
            others = [other for other in names if other != speaker]
            for _ in range(CALLS):
                count = rng.integers(SOUGHT_IN_CALL[0], SOUGHT_IN_CALL[1] + 1)
                drawn = [plain[speaker][i] for i in rng.permutation(len(plain[speaker]))[: PLAIN_IN_CALL[1]]]
                drawn += [sought[speaker][i] for i in rng.choice(len(sought[speaker]), count, replace=False)]
                partner = plain[others[rng.integers(len(others))]] if others else []
                calls.append(take_turns([drawn[i] for i in rng.permutation(len(drawn))], partner))
    return calls


def analyze_calls(calls: list[Call], models: Path) -> list[list[list[dict]]]:
    """-> moments of each channel of each call. The files are gone afterwards."""
    with tempfile.TemporaryDirectory(prefix="undertone-calls-") as folder:
        paths = [Path(folder) / f"{index:04}.wav" for index in range(len(calls))]
        for call, path in zip(calls, paths):
            call.write(path)
        reports = analyze(paths, BOTH, models, ["--channels", "split"])
    return [[channel["emotion"]["moments"] or [] for channel in report["channels"]] for report in reports]


def is_found(turn: Turn, moments: list[dict]) -> bool:
    """Whether one of the first moments lies mostly in the turn."""
    return any(overlap(one, turn.start, turn.end) > (one["end_s"] - one["start_s"]) / 2 for one in moments[:FIRST])


def built_metrics(models: Path) -> list[Metric]:
    calls = calls_of(read_clips())
    found = []
    for call, channels in zip(calls, analyze_calls(calls, models)):
        found += [(turn.clip, is_found(turn, channels[0])) for turn in call.turns if turn.sought]
    even = [call.without_sought() for call in calls]
    alarms = [sum(map(len, channels)) / call.seconds * 60 for call, channels in zip(even, analyze_calls(even, models))]
    return group_metrics(FOUND, *zip(*found)) + group_metrics(EVEN, [call.turns[0].clip for call in even], alarms)


def cut_into_turns(clips: list[Clip], other: list[Clip]) -> Call:
    """TURN_CLIPS with READ_PAUSE_S between two of them, then one of the other with GAP_S on both sides, and so on."""
    turns = []
    at = 0.0
    for index, clip in enumerate(clips, 1):
        turns.append(Turn(clip, 0, at))
        is_last = index % TURN_CLIPS == 0
        at = turns[-1].end + (GAP_S if is_last else READ_PAUSE_S)
        if is_last and index < len(clips):
            turns.append(Turn(other[index // TURN_CLIPS], 1, at))
            at = turns[-1].end + GAP_S
    return Call(turns)


def monologues_and_calls() -> list[tuple[Joined, Call]]:
    """The same clips of a reader alone, and in turns with another reader."""
    clips = sorted((clip for clip in read_clips() if clip.corpus == READERS and clip.tested), key=lambda clip: clip.path)
    readers = [own[:READ_CLIPS] for _, own in sorted(by_speaker(clips).items()) if len(own) >= READ_CLIPS]
    pairs = list(zip(readers, [*readers[1:], *readers[:1]]))[:MAX_MONOLOGUES]
    return [(Joined(tuple(own), READ_PAUSE_S), cut_into_turns(own, other)) for own, other in pairs]


def turn_metrics(models: Path) -> list[Metric]:
    """How load, processing and clarity of a monologue change when another speaker takes turns in it."""
    rows = []
    clips = []
    with tempfile.TemporaryDirectory(prefix="undertone-turns-") as folder:
        recording = Path(folder) / "call.wav"
        segments = Path(folder) / "segments.json"
        for monologue, call in monologues_and_calls():
            monologue.write(recording)
            (alone,) = analyze([recording], BOTH, models)
            call.write(recording)
            (split,) = analyze([recording], BOTH, models, ["--channels", "split"])
            spans = [{"start": turn.start, "end": turn.end, "speaker": str(turn.channel)} for turn in call.turns]
            segments.write_text(json.dumps(spans))
            call.write(recording, mixed=True)
            (spoken,) = analyze([recording], BOTH, models, ["--segments", str(segments)])
            one, two, three = (report["cognitive"]["signals"] for report in (alone, split["channels"][0], spoken["speakers"][0]))
            changes = [abs(two[name] - one[name]) for name in COMPARED]
            rows.append([*changes, inside(two["clarity"], three) and inside(three["clarity"], two)])
            clips.append(call.turns[0].clip)
    return [metric for figure, values in zip((*CHANGES, AGREEING), zip(*rows)) for metric in group_metrics(figure, clips, values, (READERS,))]


def inside(value: float, signals: dict) -> bool:
    lower, upper = signals["intervals"]["clarity"]
    return lower <= value <= upper


def talk_metrics(models: Path) -> list[Metric]:
    """All recordings of a speaker, one after another: most have too few utterances for moments. Of the test part."""
    clips = [clip for clip in sorted(read_clips(), key=lambda clip: clip.path) if clip.corpus in TALK and clip.tested]
    speakers = [own for name in TALK for own in by_speaker([clip for clip in clips if clip.corpus == name]).values()]
    sides = [Joined(tuple(own), READ_PAUSE_S) for own in speakers]
    known = [(side, report) for side, report in zip(sides, analyze_joined(sides, models)) if len(report["timeline"]) >= MIN_UTTERANCES]
    rates = [len(report["moments"] or []) / side.seconds() * 60 for side, report in known]
    return group_metrics(PER_MINUTE, [side.clips[0] for side, _ in known], rates, TALK)


def group_metrics(figure: str, clips: list[Clip], values: list[float], names: tuple[str, ...] = (*RESEARCH.emotion, ALL)) -> list[Metric]:
    rows = np.array(values, float)
    metrics = []
    for name in names:
        own = np.array([name in (ALL, clip.corpus) for clip in clips])
        chosen = [clip for clip, wanted in zip(clips, own) if wanted]
        metrics += make_metrics("emotion", figure, name, mean, chosen, rows[own], rows[own])
    return metrics


def run(folders: dict[str, Path]) -> None:
    """Set of models -> folder of its row of speakers. Into the results and docs/results/calls.md."""
    runs = {}
    for name, folder in folders.items():
        metrics = built_metrics(folder) + talk_metrics(folder) + turn_metrics(folder)
        runs[name] = results.new_run(settings.MODELS.with_name(name), metrics)
    write_page(results.save(runs, PATH))


def write_page(found: dict[str, dict]) -> None:
    by_set = {name: {(metric.figure, metric.group): metric for metric in results.metrics_of(run)} for name, run in found.items()}
    sources = results.describe_sources(found)
    keys = list(next(iter(by_set.values())))
    for name, figures in (("moments", (FOUND, EVEN, PER_MINUTE)), ("turns", (*CHANGES, AGREEING))):
        chosen = [key for key in keys if key[0] in figures]
        rows = [[*key, *(interval_cell(metrics.get(key)) for metrics in by_set.values())] for key in chosen]
        replace_between(PAGE, name, f"{sources}\n\n{table(['figure', 'speech', *by_set], rows)}")
