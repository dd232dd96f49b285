"""Evaluates the shipped pipeline on the test part, as recorded and under corruptions, beside a hand-crafted baseline.

The baseline: eGeMAPSv02 functionals of openSMILE, and linear regressions on the training speakers. Emotion has the loss, the targets and the
weights of the shipped linear head, and valence and arousal the calibration on rated speakers that it was not fitted on.
"""

import json
from collections import Counter
from pathlib import Path

import numpy as np
import opensmile
import torch
from scipy.special import softmax
from sklearn.linear_model import Ridge
from sklearn.preprocessing import StandardScaler
from tqdm import tqdm

from training import cache, settings
from training.augment.audio import read_audio
from training.calibration.affine import match_moments
from training.corpora.corpus import Clip
from training.corpora.recipe import RECIPE
from training.corpora.registry import read_clips
from training.evaluation import calls, invariances, recordings, relative, reports, results
from training.evaluation.metrics import Metric, all_metrics, make_metrics, mean_metric, natural_metrics
from training.evaluation.reports import CLEAN, Predictions, Reports, evenly_spaced, is_ok
from training.evaluation.statistics import pcc, relative_error, sigmoid
from training.heads import emotion
from training.heads.fit import minimize_linear
from training.pipeline import RATED_FOLDS
from training.reporting import cards, evaluation_page, recordings_page, sets_table
from training.reporting.tables import comparison_table, replace_between
from training.settings import SAMPLE_RATE

CLARITY_PENALTY = 30.0
MAX_DEVIATIONS = 5  # standardised features are clipped to it
SAVE_EVERY = 500  # recordings
MAX_TRAINED = 300  # clips of a corpus, weighing as much as all of them
Linear = tuple[np.ndarray, np.ndarray]  # weight [88,outputs], bias [outputs]
COMPARED = [
    *sets_table.NATURAL_AND_LEFT_OUT,
    "emotion: UAR, calm as neutral, RAVDESS",
    "emotion: UAR of its 8 labels, RAVDESS",
    "emotion: UAR of its 7 labels, SAVEE",
    "emotion: UAR of its 7 labels, EMOVO",
    "emotion: UAR of its 6 labels, nEMO",
    "emotion: UAR of its 5 labels, ASED",
    "emotion: UAR of its 4 labels, EmotionTTSKorean",
    "emotion: UAR of its 6 labels, CREMA-D",
    "emotion: CCC of the share of votes for neutral, CREMA-D",
    "emotion: UAR of its 6 labels, CASIA",
    "emotion: CCC of valence, TAVA",
    "emotion: CCC of arousal, TAVA",
    "emotion: PCC of arousal, BAVED",
    "cognitive: PCC of clarity with fluency, speechocean762",
    "cognitive: PCC of clarity with prosody, speechocean762",
    "cognitive: PCC of clarity with their mean, speechocean762",
    "emotion: calibration error of confidence, speakers left out",
]


def trained_clips(clips: list[Clip]) -> dict[str, list[Clip]]:
    """Corpus -> clips that the baseline is fitted on."""
    by_corpus = {name: [clip for clip in clips if clip.corpus == name and clip.refitted] for name in RECIPE.labelled}
    return {name: evenly_spaced(own, MAX_TRAINED) for name, own in by_corpus.items()}


def extract_functionals() -> dict[str, np.ndarray]:
    """Path of a clip -> 88 functionals. The cache is keyed by the content of each recording; an interrupted call continues."""
    path = settings.CACHE / "egemaps.npz"
    values = {}
    if path.exists():
        with np.load(path) as archive:
            values = dict(zip(archive["keys"].tolist(), archive["values"]))
    clips = read_clips()
    chosen = [clip for clip in clips if clip.corpus in RECIPE.labelled and clip.tested] + sum(trained_clips(clips).values(), [])
    keys = {clip.path: cache.file_hash(settings.DATA / clip.path) for clip in chosen}
    missing = [name for name, key in keys.items() if key not in values]
    smile = opensmile.Smile(opensmile.FeatureSet.eGeMAPSv02, opensmile.FeatureLevel.Functionals)
    for count, name in enumerate(tqdm(missing, "eGeMAPS", mininterval=10), 1):
        samples = read_audio(settings.DATA / name).astype(np.float32)
        values[keys[name]] = smile.process_signal(samples, SAMPLE_RATE).to_numpy(np.float32)[0]
        if count % SAVE_EVERY == 0 or count == len(missing):
            partial = path.with_suffix(".part.npz")
            np.savez(partial, keys=np.array(list(values)), values=np.stack(list(values.values())))
            partial.replace(path)
    return {name: values[key] for name, key in keys.items()}


class EgemapsBaseline:
    def __init__(self, values: dict[str, np.ndarray]):
        """values: path of a clip -> functionals"""
        clips = read_clips()
        self.values = values
        counts = Counter(clip.corpus for clip in clips if clip.refitted)
        by_corpus = trained_clips(clips)
        known = sum(by_corpus.values(), [])
        self.scaler = StandardScaler().fit(self.stack(known))
        self.targets = emotion.targets_of(clips)
        for clip in known:
            self.targets.dimensions_weight[clip.index] *= counts[clip.corpus] / len(by_corpus[clip.corpus])
        self.categories = self.fit_categories([clip for clip in known if clip.distribution is not None])
        self.dimensions = self.fit_dimensions(known)
        self.lines = self.fit_lines(known)
        scored = [clip for clip in known if clip.clarity is not None]
        self.clarity = Ridge(CLARITY_PENALTY).fit(self.features(scored), [clip.clarity for clip in scored])

    def stack(self, clips: list[Clip]) -> np.ndarray:
        return np.nan_to_num(np.stack([self.values[clip.path] for clip in clips]))

    def features(self, clips: list[Clip]) -> np.ndarray:
        return np.clip(self.scaler.transform(self.stack(clips)), -MAX_DEVIATIONS, MAX_DEVIATIONS)

    def fit_categories(self, clips: list[Clip]) -> Linear:
        rows = [clip.index for clip in clips]
        share = emotion.label_shares(clips, self.targets.label[rows]) * len(rows)
        columns = [torch.from_numpy(values) for values in (self.targets.mask[rows], self.targets.distribution[rows], share)]
        return minimize_linear(self.features(clips), lambda logits: emotion.category_loss(logits, *columns), [emotion.CATEGORY_DECAY] * 8)

    def fit_dimensions(self, known: list[Clip]) -> Linear:
        clips = [clip for clip in known if self.targets.dimensions_weight[clip.index].any()]
        rows = [clip.index for clip in clips]
        columns = [torch.from_numpy(values[rows]) for values in (self.targets.dimensions, self.targets.dimensions_weight)]
        return minimize_linear(self.features(clips), lambda values: emotion.dimension_loss(values, *columns), [emotion.DIMENSION_DECAY] * 2)

    def fit_lines(self, known: list[Clip]) -> list[tuple[float, float]]:
        """Slope and intercept of valence and of arousal, on rated speakers by regressions without a fourth of them."""
        rated = [clip for clip in known if clip.dimensions and clip.dimensions.rated]
        speakers = sorted({clip.speaker for clip in rated})
        truth = []
        predicted = []
        for fold in range(RATED_FOLDS):
            held = [clip for clip in rated if clip.speaker in speakers[fold::RATED_FOLDS]]
            if held:
                own = self.fit_dimensions([clip for clip in known if clip not in held])
                truth.append(self.targets.dimensions[[clip.index for clip in held]])
                predicted.append(self.dimensions_of(held, own))
        columns = zip(np.concatenate(truth).T, np.concatenate(predicted).T)
        return [match_moments(*pair) for pair in columns]

    def dimensions_of(self, clips: list[Clip], linear: Linear) -> np.ndarray:
        """[n,2], before the affine calibration"""
        return sigmoid(self.features(clips) @ linear[0] + linear[1])

    def predict(self, clips: list[Clip]) -> Predictions:
        """Predictions for the clips that have functionals."""
        clips = [clip for clip in clips if clip.path in self.values]
        x = self.features(clips)
        slopes, intercepts = np.array(self.lines).T
        probabilities = softmax(x @ self.categories[0] + self.categories[1], 1)
        dimensions = np.clip(slopes * self.dimensions_of(clips, self.dimensions) + intercepts, 0, 1)
        return Predictions(clips, probabilities, dimensions, self.clarity.predict(x))


def scored_share_metrics(reports: Reports) -> list[Metric]:
    """Share of clips with scores, by corpus."""
    by_group = {"all speech": reports.of(*RECIPE.labelled)}
    by_group |= {name: reports.of(name) for name in (*RECIPE.labelled, "ESC10", "EmoGator", *RECIPE.unlabelled)}
    return [mean_metric("vad", "share answered ok", group, own.has_scores(), own.clips) for group, own in by_group.items() if own.clips]


def syllable_metrics(reports: Reports) -> list[Metric]:
    """Syllables (articulation rate times speech) against those of the known text."""
    read = reports.of(RECIPE.clarity)
    clips = []
    counted = []
    for clip, report in zip(read.clips, read.reports):
        measures = report["cognitive"]["measures"] if is_ok(report, "cognitive") else {}
        if "articulation_rate" in measures:
            clips.append(clip)
            counted.append(measures["articulation_rate"]["value"] * report["audio"]["speech_s"])
    columns = clips, np.array([clip.syllables for clip in clips], float), np.array(counted)
    return [
        *make_metrics("vad", "PCC of syllables with the text's", RECIPE.clarity, pcc, *columns),
        *make_metrics("vad", "mean error of syllables, share of the mean", RECIPE.clarity, relative_error, *columns),
    ]


def figures_of(clean: Reports, predictions: Predictions) -> list[Metric]:
    return [*natural_metrics(clean), *all_metrics(predictions), *syllable_metrics(clean), *scored_share_metrics(clean)]


def evaluate_recordings(models: list[Path], out: Path | None = None) -> None:
    """Utterances in recordings. Shipped sets go into results and documents, unless `out` is the place of the figures."""
    runs = {folder.resolve().name: recordings.measure(folder) for folder in models}
    for name, run in runs.items():
        print(*recordings_page.section_of(name, recordings_page.runs_of(name) | {"after": run}), sep="\n\n")
    if out is not None:
        out.write_text(json.dumps(runs, indent=1) + "\n")
    elif all(recordings.is_shipped(folder) for folder in models):
        recordings_page.write(runs)


def evaluate(models: Path, write: bool) -> None:
    """Models other than the shipped ones become a column of the comparison. `write`: into results, documents, plots and cards."""
    by_condition = reports.analyze_all(models)
    clean = by_condition[CLEAN]
    predictions = clean.predictions()
    metrics = figures_of(clean, predictions)
    alternative = None if models.resolve() == settings.MODELS.resolve() else models.resolve().name
    checks = invariances.CHECKS if alternative is None else ()
    known = {metric.key for metric in metrics}
    responses = [metric for check in checks for metric in check(models) if metric.clips and metric.key not in known]
    run = results.new_run(models, clean.clips, [*metrics, *responses]) | {"failures": evaluation_page.failures_of(clean)}
    runs = results.add_run(results.read(), alternative, run)
    if alternative is None or "egemaps_baseline" not in runs:
        print("fitting the eGeMAPS baseline", flush=True)
        baseline = EgemapsBaseline(extract_functionals()).predict([clip for clip in predictions.clips if clip.corpus in RECIPE.labelled])
        runs["egemaps_baseline"] = {key: run[key] for key in ("commit", "recordings")} | {"figures": results.to_json(all_metrics(baseline))}
    columns = results.columns_of(runs)
    comparison = f"{results.describe_sources(results.runs_of(runs))}\n\n{comparison_table(columns, COMPARED)}"
    text = evaluation_page.sections(models, metrics, responses, by_condition)
    print(comparison, text, sep="\n\n")
    if write:
        results.save(runs)
        replace_between(evaluation_page.PAGE, "comparison", comparison)
        if recordings.is_shipped(models):
            evaluate_recordings([models])
            calls.run([models])
            relative.run([models.resolve().name])
        sets_table.write()
        cards.write_cards(models)
    if write and alternative is None:
        evaluation_page.write(by_condition, f"`npm run evaluate -- --write` at commit {run['commit']}.\n\n{text}")
