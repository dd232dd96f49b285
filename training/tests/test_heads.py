"""Linear heads, their targets and weights, and what is left out of them, on embeddings written here."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.special import softmax
from sklearn.linear_model import Ridge

from training.calibration import emotion as calibration
from training.calibration.strangers import Answers, Fits, Recordings, acted_groups, corpora_groups, speakers_groups
from training.corpora.corpus import EMOTIONS
from training.corpora.recipe import RESEARCH, SOLD
from training.encoder.embeddings import Utterances
from training.export.head_graph import EmotionScale
from training.heads import clarity, emotion
from training.heads.linear import fit_logistic, fit_ridge
from training.tests.test_corpora import make_clip

RNG = np.random.default_rng(3)


def utterances(owners: list[int], means: np.ndarray) -> Utterances:
    count = len(owners)
    return Utterances(means.astype(np.float32), np.ones(means.shape, np.float32), np.ones(count, np.float32), np.full(count, 100), np.array(owners))


def test_logistic_regression_is_where_its_gradient_vanishes():
    x = RNG.normal(2, 3, (200, 5)).astype(np.float32)
    y = RNG.dirichlet(np.ones(3), 200).astype(np.float32)
    share = np.full(200, 1 / 200, np.float32)
    found = fit_logistic(x, y, share, 0.03)
    z = (x - x.mean(0)) / x.std(0)
    gradient = z.T @ ((softmax(found(x), 1) - y) * share[:, None]) + 0.06 * found.weight * x.std(0)[:, None]
    assert np.abs(gradient).max() < 1e-3


def test_ridge_regression_is_that_of_scikit_learn():
    x = RNG.normal(1, 2, (300, 6)).astype(np.float32)
    y = (x @ RNG.normal(0, 1, (6, 2)) + RNG.normal(0, 1, (300, 2))).astype(np.float32)
    found = fit_ridge(x, y, np.full((300, 2), 1 / 300, np.float32), 0.5)
    wanted = Ridge(0.5 * 300).fit((x - x.mean(0)) / x.std(0), y).predict((x - x.mean(0)) / x.std(0))
    assert np.allclose(found(x), wanted, atol=0.02)


def test_corpora_and_their_labels_have_equal_weight_in_the_loss():
    acted = [make_clip("nEMO", 0, label="angry"), *(make_clip("nEMO", i, label="sad") for i in range(1, 4)), make_clip("CASIA", 4, label="sad")]
    ordinary = [*(make_clip("LibriSpeech", i) for i in range(5, 14)), make_clip("AMI", 14)]
    clips = acted + ordinary
    share = emotion.shares_of(clips, emotion.targets_of(clips, RESEARCH).label)

    def of(name, label=None):
        return sum(share[clip.index] for clip in clips if clip.corpus == name and label in (None, clip.label))

    assert share.sum() == pytest.approx(1)
    assert of("nEMO") == pytest.approx(of("CASIA")) and of("nEMO", "angry") == pytest.approx(of("nEMO", "sad"))
    assert of("LibriSpeech") + of("AMI") == pytest.approx(emotion.CATEGORIES.ordinary_weight * (of("nEMO") + of("CASIA")))
    assert of("LibriSpeech") == pytest.approx(3 / emotion.EMOTIONAL_SHARE * of("AMI"))


def test_targets_are_of_the_recipe_alone():
    clips = [make_clip("EmoDB", 0, label="angry"), make_clip("EmoDB", 1, label="boredom"), make_clip("RAVDESS", 2, label="calm"), make_clip("AMI", 3)]
    sold, research = (emotion.targets_of(clips, recipe) for recipe in (SOLD, RESEARCH))
    assert sold.category_weight.tolist() == [1, 0, 0, 1] and research.category_weight.tolist() == [1, 0, 1, 1]
    assert sold.label.tolist() == [SOLD.labels.index("angry"), -1, -1, -1] and research.label[2] == EMOTIONS.index("calm")
    assert sold.distribution.sum(1) == pytest.approx(1) and sold.distribution[3].argmax() == 0
    voted = make_clip("CREMA-D", 0, label="sad", extra="votes=neutral:7,happy:0,sad:2,angry:0,fearful:0,disgust:1;level=55.1")
    assert emotion.targets_of([voted], SOLD).distribution[0].argmax() == SOLD.labels.index("sad"), "what was acted, not what most heard"


def test_no_head_is_fitted_on_the_group_that_it_is_asked_about(monkeypatch):
    clips = [make_clip(corpus, 6 * place + i, label="sad", speaker=f"s{i % 3}") for place, corpus in enumerate(SOLD.emotion) for i in range(6)]
    store = utterances([clip.index for clip in clips], RNG.normal(0, 1, (len(clips), 4)))
    seen = []
    monkeypatch.setattr(emotion, "fit", lambda store, targets, clips, rows, whole, params: seen.append(set(store.clips[rows])))
    monkeypatch.setattr(Answers, "of", staticmethod(lambda head, store, rows: Answers(rows, *np.zeros((3, len(rows), 1)))))
    fits = Fits(store, emotion.targets_of(clips, SOLD), clips, SOLD, frozenset({0, 1}))
    for groups in (corpora_groups(acted_groups(SOLD), clips), speakers_groups(clips, SOLD)):
        seen.clear()
        answers = fits.without_each(groups).answers(store)
        asked = [group - {0, 1} for group in groups if group - {0, 1}]
        assert all(not group & fitted and not {0, 1} & fitted for group, fitted in zip(asked, seen))
        assert sorted(store.clips[answers.rows]) == [clip.index for clip in clips if clip.index > 1]


def test_a_recording_is_the_mean_of_its_utterances_by_speech():
    store = replace(utterances([0, 0, 1], np.zeros((3, 2))), speech_frames=np.array([100, 300, 50]))
    answers = Answers(np.arange(3), np.log([[0.8, 0.2], [0.4, 0.6], [0.5, 0.5]]), np.array([[0.0, 1], [1, 0], [0.5, 0.5]]), np.array([1.0, 2, 3]))
    found = Recordings.of(answers, store)
    assert found.probabilities[0].tolist() == pytest.approx([0.5, 0.5]) and found.dimensions[0].tolist() == pytest.approx([0.75, 0.25])
    assert found.distance.tolist() == pytest.approx([1.75, 3])
    scale = EmotionScale(2, np.array([2.0, 1]), np.array([-1.0, 0]), np.ones(2))
    assert Recordings.of(answers, store, scale).dimensions[0].tolist() == pytest.approx([0.75, 0.25])
    assert Recordings.of(answers, store, scale).probabilities[1].tolist() == pytest.approx([0.5, 0.5])


def test_recordings_have_the_moments_of_all_their_embeddings():
    x = RNG.normal(1, 2, (50, 3))
    parts = [x[:20], x[20:]]
    store = Utterances(np.array([p.mean(0) for p in parts]), np.array([p.std(0) for p in parts]), np.array([20.0, 30]), np.array([40, 60]),
                       np.zeros(2, int))  # fmt: skip
    whole = store.by_recording()
    assert np.allclose(whole.means[0], x.mean(0)) and np.allclose(whole.deviations[0], x.std(0)) and whole.speech_frames.tolist() == [100]


def test_temperature_is_that_of_the_logits():
    logits = RNG.normal(0, 3, (4000, 4))
    p = softmax(logits / 2, 1)
    drawn = np.eye(4)[[RNG.choice(4, p=row) for row in p]]
    assert calibration.fit_temperature(logits, drawn, np.full(4000, 1 / 4000)) == pytest.approx(2, rel=0.1)


def test_low_confidence_bounds_the_negative_answers_of_ordinary_speech():
    corpora = np.repeat(["AMI", "LibriSpeech", "Frisian"], [600, 200, 20])
    probabilities = np.zeros((len(corpora), len(SOLD.labels)))
    probabilities[:, 0], probabilities[:100, SOLD.labels.index("angry")] = 0.1, np.linspace(0.2, 0.9, 100)
    found = Recordings(np.arange(len(corpora)), probabilities, np.zeros((len(corpora), 2)), np.zeros(len(corpora)))
    low = calibration.fit_low_confidence(found, corpora, SOLD.labels)
    assert low == pytest.approx(0.725, abs=0.011), "25 of 600 are above: two corpora weigh alike, and that of 20 recordings a tenth"


def test_clarity_is_linear_in_moments_and_bounded_timing():
    moments = RNG.normal(0, 1, (400, 4)).astype(np.float32)
    timing = RNG.normal(0, 1, (400, 3))
    truth = np.clip(0.5 + 0.1 * moments[:, 0] + 0.05 * timing[:, 1], 0, 1).astype(np.float32)
    head = clarity.fit(moments, timing, truth)
    assert np.corrcoef(head.predict(moments, timing), truth)[0, 1] > 0.95
    far = head.predict(moments[:1], np.array([[0, 99.0, 0]])) - head.predict(moments[:1], np.array([[0, 2.5, 0]]))
    assert far == pytest.approx(0, abs=0.01)
