"""Scores against scikit-learn and NumPy, and predictions in the shape that evaluation uses."""

import numpy as np
import pytest
from sklearn.metrics import balanced_accuracy_score

from training.corpora.corpus import EMOTIONS
from training.evaluation import results
from training.evaluation.metrics import confidence_metrics, coverage_metrics, emotion_metrics, natural_metrics
from training.evaluation.predictions import Predictions, Reports
from training.evaluation.statistics import bootstrap_interval, ccc, ece, pcc, uar
from training.reporting.tables import replace_between, table
from training.tests.test_corpora import make_clip


def make_predictions(count: int = 60) -> Predictions:
    rng = np.random.default_rng(0)
    labels = ["angry", "sad", "happy"]
    clips = [make_clip("SAVEE", i, label=labels[i % 3], speaker=f"s{i % 4}", gender="M") for i in range(count)]
    probabilities = rng.dirichlet(np.ones(8), count)
    return Predictions(clips, probabilities, rng.random((count, 2)), np.full(count, np.nan))


def test_scores_against_other_implementations():
    rng = np.random.default_rng(1)
    truth, predicted = rng.integers(0, 4, 300), rng.integers(0, 4, 300)
    assert uar(truth, predicted) == pytest.approx(balanced_accuracy_score(truth, predicted))
    x, y = rng.normal(0, 1, 300), rng.normal(1, 2, 300)
    assert pcc(x, y) == pytest.approx(np.corrcoef(x, y)[0, 1])
    assert ccc(x, y) == pytest.approx(2 * np.cov(x, y, ddof=0)[0, 1] / (x.var() + y.var() + (x.mean() - y.mean()) ** 2))
    assert ece(np.ones(10), np.full(10, 0.75)) == pytest.approx(0.25)


def test_the_bootstrap_interval_holds_the_score():
    rng = np.random.default_rng(2)
    truth = rng.normal(0, 1, 400)
    low, high = bootstrap_interval(pcc, truth, truth + rng.normal(0, 1, 400), rng.integers(0, 20, 400))
    assert low < pcc(truth, truth + rng.normal(0, 1, 400)) + 0.1 and 0 < low < high < 1


def test_the_best_label_is_one_that_the_corpus_has():
    predictions = make_predictions()
    allowed = {EMOTIONS.index(name) for name in ("angry", "sad", "happy")}
    assert set(predictions.best_in_corpus()) <= allowed
    assert set(predictions.probabilities.argmax(1)) - allowed


def test_metrics_by_group():
    found = {metric.key: metric for metric in emotion_metrics(make_predictions())}
    own = found["emotion: UAR of its 3 labels, SAVEE"]
    assert (own.clips, own.speakers) == (60, 4) and own.interval[0] <= own.value <= own.interval[1]
    assert "emotion: UAR of the corpus's labels, English, male" in found


def test_coverage_of_intervals():
    clips = [make_clip("TAVA", i, valence="0.5", arousal="0.5", speaker=f"s{i % 5}") for i in range(50)]
    predicted = np.full((50, 2), 0.5)
    predicted[:10, 0] = 0.9
    intervals = np.stack([predicted[:, :1] - 0.1, predicted[:, :1] + 0.1], -1).repeat(3, 1)
    part = Predictions(clips, np.zeros((50, 8)), predicted, np.zeros(50), intervals)
    found = {metric.figure: metric for metric in coverage_metrics(part)}
    assert found["share of valence inside its 80 % interval"].value == 0.8
    assert found["mean width of the 80 % interval of valence"].value == pytest.approx(0.2)


def make_reports(corpus: str, dominant: list[str | None], warnings: list[list[str]]) -> Reports:
    """A dominant emotion of None is a report without scores."""
    clips = [make_clip(corpus, i, path=f"{corpus}/{i}-1.opus", speaker=f"s{i % 3}") for i in range(len(dominant))]
    reports = [
        {"emotion": {"status": "ok" if name else "insufficient_speech", "signals": {"dominant_emotion": name}, "warnings": listed}}
        for name, listed in zip(dominant, warnings)
    ]
    return Reports(clips, reports)


def test_natural_speech_counts_recordings_with_neither_warning():
    dominant = ["neutral", "sad", "sad", "angry", "happy", None]
    warnings = [[], [], ["low_confidence"], ["unlike_training"], ["low_snr"], ["low_snr"]]
    found = {metric.key: metric for metric in natural_metrics(make_reports("AMI", dominant, warnings))}
    assert found["emotion: answered without a warning, AMI"].value == 0.5
    assert found["emotion: negative without a warning, AMI"].value == pytest.approx(1 / 6, abs=1e-3)
    assert found["emotion: neither neutral nor calm without a warning, AMI"].value == pytest.approx(2 / 6, abs=1e-3)
    assert len(found) == 3 and all(metric.interval for metric in found.values())


def test_risk_falls_with_coverage_where_confidence_orders_errors():
    clips = [make_clip("AESDD", i, label="sad", speaker=f"s{i % 2}") for i in range(40)]
    probabilities = np.zeros((40, 8))
    for i in range(40):  # the less certain half is wrong
        right, top = i < 20, 0.9 - 0.01 * i
        probabilities[i, EMOTIONS.index("sad" if right else "happy")] = top
    found = {metric.figure: metric.value for metric in confidence_metrics(Predictions(clips, probabilities, None, None), "x")}
    errors = [found[f"error of the dominant emotion at {share} % coverage"] for share in (100, 75, 50, 25)]
    assert errors == pytest.approx([0.5, 0.333, 0, 0], abs=1e-3)
    assert found["confidence less accuracy"] == pytest.approx(probabilities.max(1).mean() - 0.5, abs=1e-3)


def test_listeners_votes_are_the_label():
    extra = "votes=neutral:7,happy:0,sad:2,angry:0,fearful:0,disgust:1;level=55.1"
    clips = [make_clip("CREMA-D", i, label="sad", extra=extra) for i in range(6)]
    predictions = Predictions(clips, np.eye(8)[[0] * 6] * 0.7, np.zeros((6, 2)), np.zeros(6))
    found = {metric.key: metric.value for metric in emotion_metrics(predictions)}
    assert predictions.labels.tolist() == [0] * 6 and found["emotion: UAR of its 1 labels, CREMA-D"] == 1
    assert found["emotion: UAR, as the actors intended, CREMA-D"] == 0


def test_runs_over_other_recordings_are_dropped():
    old, new = ({"commit": name, "models": {"a": {"version": name}}, "recordings": name, "figures": []} for name in ("old", "new"))
    stored = {"shipped": old, "egemaps_baseline": old, "alternatives": {"fast": old, "other": new}}
    assert results.add_run(stored, None, new) == {"shipped": new, "alternatives": {"other": new}}
    later = new | {"models": {"a": {"version": "later"}}}
    assert results.add_run({"shipped": new}, None, later)["previous"] == new


def test_parts_are_selected():
    predictions = make_predictions()
    angry = predictions.where(lambda clip: clip.label == "angry")
    assert len(angry) == 20 and len(predictions.of("TESS")) == 0


def test_tables_and_page_markers(tmp_path):
    assert table(["a", "b"], [["1", "2"]]) == "| a | b |\n| --- | --- |\n| 1 | 2 |"
    page = tmp_path / "page.md"
    page.write_text("x\n<!-- t -->\nold\n<!-- end of t -->\ny\n")
    replace_between(page, "t", "new")
    assert page.read_text() == "x\n<!-- t -->\n\nnew\n\n<!-- end of t -->\ny\n"
    with pytest.raises(ValueError, match="markers"):
        replace_between(page, "other", "new")
