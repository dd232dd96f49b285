"""Scores against scikit-learn and NumPy, and predictions in the shape that evaluation uses."""

import numpy as np
import pytest
from sklearn.metrics import balanced_accuracy_score

from training.corpora.labels import EMOTIONS
from training.evaluation.metrics import covered, covered_by_others, emotion_metrics
from training.evaluation.predictions import Predictions
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
    inside, width = covered(part, "valence")
    assert inside.sum() == 40 and width == pytest.approx(0.2)
    assert covered_by_others(part, "valence").mean() >= 0.8


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
