"""Network and params of the warning `several_speakers` of a set of models.

The network is fitted on utterances of the parts train and dev. It reads the layers of CAM++ where a trunk has them, so that such sets share it.
The threshold comes from recordings that are composed of clips of one or two speakers of a corpus and pass through the shipped pipeline, on the
calibration part. results/several_speakers.json has the rates of each set on the test part.
"""

import json
import subprocess
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from training import cache, settings
from training.corpora.corpus import Clip, Part
from training.corpora.recipe import SOLD
from training.corpora.registry import read_clips
from training.encoder.embeddings import Utterances
from training.encoder.encoders import CAMPLUSPLUS, WIDTHS
from training.evaluation.results import describe_sources, save, source_of
from training.export.head_graph import write_voice
from training.export.manifest import update_manifest
from training.export.specs import ModelSet
from training.heads import speaker
from training.reporting.tables import replace_between, table

FILE = "voice.onnx"
RESULT = "several_speakers.json"
PAGE = settings.RESULT_PAGES / "calls.md"
MIN_UTTERANCES = 4  # of each speaker
UTTERANCE_PARAMS = {"minUtteranceSeconds": 0.8, "minUtterances": MIN_UTTERANCES}
RECORDINGS = 24  # per corpus, of one speaker and of two
SECONDS = (10.0, 30.0)  # of clips of each of two speakers; twice that of one speaker
MIN_RECORDINGS = 10  # of a corpus that counts
FALSE_ALARMS = 0.02  # on the calibration part: a smaller share rests on one recording
BOOTSTRAPS = 1000


@dataclass(frozen=True)
class Composed:
    """Clips that are played one after another."""

    corpus: str
    clips: list[Clip]

    @property
    def speakers(self) -> list[str]:
        return sorted({clip.speaker for clip in self.clips})


@dataclass(frozen=True)
class Scored:
    recording: Composed
    variance: float  # between the two groups of utterances

    @property
    def several(self) -> bool:
        return len(self.recording.speakers) > 1


def draw(clips: list[Clip], seconds: float, rng: np.random.Generator) -> list[Clip]:
    """Random clips that last `seconds`, or all."""
    drawn = []
    left = seconds
    for index in rng.permutation(len(clips)):
        if left > 0:
            drawn.append(clips[index])
            left -= float(clips[index].row["dur_s"])
    return drawn


def is_known_speaker(clip: Clip) -> bool:
    return clip.corpus in SOLD.speech and clip.corpus not in speaker.UNRELIABLE and bool(clip.row["speaker"])


def compose(part: Part) -> list[Composed]:
    """RECORDINGS of one speaker and as many of two, per corpus"""
    rng = np.random.default_rng(settings.SEED)
    corpora = {}
    for clip in read_clips():
        if clip.part is part and is_known_speaker(clip):
            corpora.setdefault(clip.corpus, {}).setdefault(clip.speaker, []).append(clip)
    recordings = []
    for corpus, speakers in corpora.items():
        names = sorted(speakers)
        for index in range(RECORDINGS):
            recordings.append(Composed(corpus, draw(speakers[names[index % len(names)]], 2 * rng.uniform(*SECONDS), rng)))
        for index in range(RECORDINGS if len(names) > 1 else 0):
            one = names[index % len(names)]
            other = rng.choice([name for name in names if name != one])
            clips = [clip for name in (one, other) for clip in draw(speakers[name], rng.uniform(*SECONDS), rng)]
            recordings.append(Composed(corpus, [clips[i] for i in rng.permutation(len(clips))]))
    return recordings


def describe(models: Path, recordings: list[Composed]) -> Iterator[dict]:
    """Utterances of each recording, by the shipped pipeline (utterances.ts)."""
    listed = settings.CACHE / "several-speakers.list"
    listed.write_text("".join(json.dumps([clip.path for clip in recording.clips]) + "\n" for recording in recordings))
    command = ["node", "--import", "tsx", "training/calibration/utterances.ts", str(listed), str(settings.DATA), str(models)]
    with subprocess.Popen(command, cwd=settings.REPOSITORY, stdout=subprocess.PIPE, text=True) as run:
        yield from map(json.loads, run.stdout)
    if run.returncode:
        raise subprocess.CalledProcessError(run.returncode, command)


def columns_of(models: ModelSet) -> np.ndarray:
    """Places of the values that the network reads, among those of an embedding of the trunk."""
    names = np.repeat(models.layers, [WIDTHS[name] for name in models.layers])
    return np.flatnonzero(np.isin(names, CAMPLUSPLUS)) if set(CAMPLUSPLUS) <= set(models.layers) else np.arange(len(names))


def training_utterances(store: Utterances, columns: np.ndarray) -> list[speaker.Utterance]:
    clips = read_clips()
    rows = [row for row, clip in enumerate(store.clips) if clips[clip].part in (Part.TRAIN, Part.DEV) and is_known_speaker(clips[clip])]
    return [speaker.Utterance(clips[store.clips[row]].corpus, clips[store.clips[row]].speaker, store.means[row, columns]) for row in rows]


def divide(models: Path, part: Part) -> list[Scored]:
    """Without recordings with too few utterances, and corpora of which fewer than MIN_RECORDINGS remain."""
    recordings = compose(part)
    variances = [described["variance"] for described in describe(models, recordings)]
    scored = [Scored(recording, variance) for recording, variance in zip(recordings, variances) if variance is not None]
    count = Counter((item.recording.corpus, item.several) for item in scored)
    return [item for item in scored if count[item.recording.corpus, item.several] >= MIN_RECORDINGS]


def fit_threshold(scored: list[Scored]) -> float:
    """Score that FALSE_ALARMS of the recordings of one speaker exceed. Corpora weigh alike."""
    ones = [item for item in scored if not item.several]
    sizes = Counter(item.recording.corpus for item in ones)
    scores = np.array([item.variance for item in ones])
    weights = np.array([1 / sizes[item.recording.corpus] for item in ones])
    order = np.argsort(scores)
    return round(float(np.interp(1 - FALSE_ALARMS, np.cumsum(weights[order]) / weights.sum(), scores[order])), 3)


def rates(scored: list[Scored], warned: np.ndarray) -> dict[str, tuple[float, float]]:
    """Corpus, or `all` with corpora alike -> share of recordings of two speakers and of one with the warning"""
    found = {}
    for corpus in sorted({item.recording.corpus for item in scored}):
        chosen = [np.array([item.recording.corpus == corpus and item.several is several for item in scored]) for several in (True, False)]
        found[corpus] = tuple(float(warned[rows].mean()) if rows.any() else float("nan") for rows in chosen)
    return {**found, "all": tuple(float(v) for v in np.nanmean(list(found.values()), 0))}


def bootstrap(scored: list[Scored], warned: np.ndarray) -> np.ndarray:
    """95 % intervals of `all` over corpora, and over speakers of each: [2,2]"""
    rng = np.random.default_rng(settings.SEED)
    owners: dict[tuple[str, str], list[int]] = {}
    for index, item in enumerate(scored):
        owners.setdefault((item.recording.corpus, item.recording.speakers[0]), []).append(index)
    corpora: dict[str, list[list[int]]] = {}
    for (corpus, _), rows in owners.items():
        corpora.setdefault(corpus, []).append(rows)
    draws = []
    for _ in range(BOOTSTRAPS):
        pairs = []
        for name in rng.choice(list(corpora), len(corpora)):
            groups = corpora[name]
            rows = [row for index in rng.integers(len(groups), size=len(groups)) for row in groups[index]]
            pairs.append(rates([scored[row] for row in rows], warned[rows])["all"])
        draws.append(np.nanmean(pairs, 0))
    return np.nanquantile(draws, [0.025, 0.975], axis=0).T


def report(scored: list[Scored], threshold: float) -> dict:
    warned = np.array([item.variance > threshold for item in scored])
    found = rates(scored, warned)
    count = {}
    for corpus in found:
        rows = [item for item in scored if corpus in (item.recording.corpus, "all")]
        count[corpus] = (sum(item.several for item in rows), sum(not item.several for item in rows))
    known = {corpus: [None if np.isnan(rate) else round(rate, 4) for rate in pair] for corpus, pair in found.items()}
    return {"rates": known, "recordings": count, "intervals": bootstrap(scored, warned).round(3).tolist()}


def write_page(results: dict) -> None:
    """Table of the sets in docs/results/calls.md. They share the VAD model, and so the recordings that count."""

    def shown(rate: float | None) -> str:
        return "" if rate is None else f"{rate:.2f}"

    warned = [f"warned, {name}" for name in results]
    titles = ["corpus", "of two speakers", *warned, "of one speaker", *warned]
    rows = []
    for corpus, (of_two, of_one) in next(iter(results.values()))["recordings"].items():
        two, one = zip(*(result["rates"][corpus] for result in results.values()))
        rows.append([corpus, of_two, *map(shown, two), of_one, *map(shown, one)])
    replace_between(PAGE, "several-speakers", f"{describe_sources(results)}\n\n{table(titles, rows)}")


def fit(models: ModelSet, folder: Path, store: Utterances) -> None:
    """`store`: by the trunk in the folder."""
    trunk = folder / "trunk"
    columns = columns_of(models)
    write_voice(speaker.fit(training_utterances(store, columns)), columns, store.means.shape[1], trunk / FILE)
    write_params(trunk, 0)
    threshold = fit_threshold(divide(folder, Part.CALIBRATION))
    write_params(trunk, threshold)
    path = settings.results_folder() / RESULT
    results = save({models.name: source_of(folder) | report(divide(folder, Part.TEST), threshold)}, path)
    if path.is_relative_to(settings.RESULTS):
        write_page(results)


def write_params(folder: Path, threshold: float) -> None:
    weights = {"file": FILE, "sha256": cache.file_hash(folder / FILE)}
    update_manifest(folder, {"severalSpeakers": {"weights": weights, **UTTERANCE_PARAMS, "threshold": threshold}})
