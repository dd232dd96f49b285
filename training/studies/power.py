"""How many speakers and recordings an evaluation needs: draws from the test part, as a table in docs/results/adaptation.md."""

import numpy as np

from training import settings
from training.corpora.recipe import RECIPE
from training.evaluation import results
from training.evaluation.metrics import dominant_of
from training.evaluation.reports import analyze_clean
from training.evaluation.statistics import Score, accuracy, pcc
from training.reporting.tables import replace_between, table

PAGE = settings.RESULT_PAGES / "adaptation.md"
SPEAKERS = (5, 10, 20, 50)
CLIPS = (5, 20, 50)
ROUNDS = 2000
# Quantiles of the normal distribution.
NORMAL_95 = 1.96  # of 95 % intervals
NORMAL_80 = 0.84  # of a power of 80 %


def spread(score: Score, truth: np.ndarray, predicted: np.ndarray, owner: np.ndarray, speakers: int, clips: int) -> float:
    """Standard deviation of the score over evaluations with as many speakers, and recordings of each, drawn with replacement."""
    rng = np.random.default_rng(1)
    members = [np.flatnonzero(owner == name) for name in np.unique(owner)]
    rows = score.rows(truth, predicted)
    values = []
    for _ in range(ROUNDS):
        drawn = [rng.choice(members[i], clips) for i in rng.integers(len(members), size=speakers)]
        values.append(score.value(rows[np.concatenate(drawn)].sum(0)))
    return float(np.nanstd(values))


def run() -> None:
    predictions = analyze_clean(settings.MODELS).predictions()
    acted = predictions.of(*RECIPE.known, *RECIPE.unseen)
    rated = predictions.of(RECIPE.clarity)
    correct = dominant_of(acted)[1]
    owners = np.array([f"{clip.corpus} {clip.speaker}" for clip in acted.clips])
    rows = []
    for speakers in SPEAKERS:
        for clips in CLIPS:
            right = spread(accuracy, np.ones(len(correct)), correct, owners, speakers, clips)
            clarity = spread(pcc, rated.truth("clarity"), rated.clarity, rated.speakers, speakers, clips)
            detectable = (NORMAL_95 + NORMAL_80) * np.sqrt(2) * right
            rows.append([speakers, clips, f"±{NORMAL_95 * right:.2f}", f"{detectable:.2f}", f"±{NORMAL_95 * clarity:.2f}"])
    titles = ["speakers", "recordings of each", "share of right emotions", "difference of two groups that shows", "PCC of clarity"]
    text = f"{results.describe_sources({settings.RECIPE: results.source_of(settings.MODELS)})}\n\n{table(titles, rows)}"
    print(text)
    replace_between(PAGE, "power", text)
