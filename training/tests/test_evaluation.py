"""Metrics, rows of the evaluation, and utterances judged in recordings."""

from pathlib import Path

import numpy as np
import pytest
from sklearn.metrics import balanced_accuracy_score

from training.corpora.corpus import EMOTIONS, Clip
from training.corpora.recipe import RESEARCH
from training.evaluation import joined, recordings, rows
from training.evaluation.joined import Joined
from training.evaluation.metrics import CORPUS, SPEAKERS, Metric, confidence_metrics, coverage_metrics, emotion_metrics, natural_metrics, recall_metrics
from training.evaluation.recordings import compare_cut, counterpart, judge, judge_all, place_metrics, settled
from training.evaluation.reports import Predictions, Reports
from training.evaluation.statistics import bootstrap_interval, ccc, ece, pcc, uar
from training.reporting import recordings_page
from training.reporting.tables import replace_between, table
from training.settings import SAMPLE_RATE
from training.tests.test_corpora import make_clip



def make_predictions(count: int = 60) -> Predictions:
    rng = np.random.default_rng(0)
    labels = ["angry", "sad", "happy"]
    clips = [make_clip("SAVEE", i, label=labels[i % 3], speaker=f"s{i % 4}", gender="M") for i in range(count)]
    probabilities = rng.dirichlet(np.ones(8), count)
    return Predictions(clips, probabilities, rng.random((count, 2)), np.full(count, np.nan))


def test_scores_against_other_implementations():
    rng = np.random.default_rng(1)
    truth = rng.integers(0, 4, 300)
    predicted = rng.integers(0, 4, 300)
    assert uar(truth, predicted) == pytest.approx(balanced_accuracy_score(truth, predicted))
    x = rng.normal(0, 1, 300)
    y = rng.normal(1, 2, 300)
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
    own = found["emotion: UAR of its 3 labels, speakers left out, SAVEE"]
    assert (own.clips, own.speakers) == (60, 4) and own.interval[0] <= own.value <= own.interval[1]
    assert "emotion: UAR of the corpus's labels, English, male" in found


def test_coverage_of_intervals():
    clips = [make_clip("TAVA", i, valence="0.5", arousal="0.5", speaker=f"s{i % 5}") for i in range(50)]
    predicted = np.full((50, 2), 0.5)
    predicted[:10, 0] = 0.9
    intervals = np.stack([predicted[:, :1] - 0.1, predicted[:, :1] + 0.1], -1).repeat(3, 1)
    part = Predictions(clips, np.zeros((50, 8)), predicted, np.zeros(50), intervals)
    found = {metric.figure: metric for metric in coverage_metrics(part, RESEARCH)}
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
    assert len(found) == 6 and all(metric.interval for metric in found.values())


def test_risk_falls_with_coverage_where_confidence_orders_errors():
    clips = [make_clip("AESDD", i, label="sad", speaker=f"s{i % 2}") for i in range(40)]
    probabilities = np.zeros((40, 8))
    for i in range(40):  # the less certain half is wrong
        right = i < 20
        top = 0.9 - 0.01 * i
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
    assert predictions.labels.tolist() == [0] * 6 and found["emotion: UAR of its 1 labels, speakers left out, CREMA-D"] == 1
    assert found["emotion: UAR, as the actors intended, speakers left out, CREMA-D"] == 0


def test_a_row_names_what_leaked():
    clips = [make_clip("EmoDB", i, speaker=f"s{i}", label="sad") for i in range(3)]
    for word, leaked in ((SPEAKERS, [0]), (CORPUS, [0, 2])):
        row = rows.Row(word, Path(), clips[:2], frozenset())
        assert [clip.index for clip in rows.leaks(row, {0, 2}, clips)] == leaked


def test_calm_counts_as_neutral_where_it_has_no_probability():
    clips = [make_clip("RAVDESS", i, label="calm") for i in range(2)]
    without = np.array([[0.5, 0, 0.5, 0, 0, 0, 0, 0]] * 2)
    assert Predictions(clips, without, None, None).labels.tolist() == [0, 0]
    without[1] = [0.4, 0.2, 0.4, 0, 0, 0, 0, 0]
    assert Predictions(clips, without, None, None).labels.tolist() == [EMOTIONS.index("calm")] * 2


def test_the_first_figure_is_the_mean_over_corpora_left_out():
    clips = [make_clip(corpus, i, label=label, speaker=f"s{i % 3}") for corpus in ("EmoDB", "EMOVO") for i, label in enumerate(["sad", "angry"] * 6)]
    right = np.eye(8)[[EMOTIONS.index(clip.emotion) for clip in clips]]
    right[12:] = np.eye(8)[EMOTIONS.index("sad")]
    first, *others = recall_metrics(Predictions(clips, right, None, None), CORPUS)
    assert (first.figure, first.value, first.clips) == ("mean UAR, corpus left out", 0.75, 24)
    assert {metric.group: metric.value for metric in others if metric.figure == "recall, corpus left out"} == {"sad": 1, "angry": 0.5}


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


@pytest.fixture(autouse=True)
def samples(monkeypatch):
    """Half a second of noise per clip."""
    monkeypatch.setattr(joined, "samples_of", lambda clip: np.random.default_rng(clip.index).integers(-3000, 3000, SAMPLE_RATE // 2, np.int16))


def make_clips(count: int, speaker: str = "s1", label: str = "neutral", corpus: str = "EMOVO") -> list[Clip]:
    return [make_clip(corpus, i, path=f"{corpus}/{speaker}-{label}-{i:02}.opus", speaker=speaker, label=label) for i in range(count)]


def entry(start: float, end: float, label: str = "neutral", valence: float = 0.5, arousal: float = 0.5) -> dict:
    emotions = {name: float(name == label) for name in EMOTIONS}
    return {"start_s": start, "end_s": end, "valence": valence, "arousal": arousal, "emotions": emotions, "dominant_emotion": label}


def test_the_clips_stand_where_the_bounds_say_with_silence_between():
    recording = Joined(tuple(make_clips(3)), 0.9)
    found = recording.samples()
    assert recording.bounds() == [pytest.approx(span) for span in [(0, 0.5), (1.4, 1.9), (2.8, 3.3)]] and len(found) == 3.3 * SAMPLE_RATE
    for clip, (start, end) in zip(recording.clips, recording.bounds()):
        assert np.array_equal(found[round(start * SAMPLE_RATE) : round(end * SAMPLE_RATE)], joined.samples_of(clip))
    assert not found[round(0.5 * SAMPLE_RATE) : round(1.4 * SAMPLE_RATE)].any()
    assert np.array_equal(Joined(recording.clips, 0.9, cut=1.0).samples(), found[:SAMPLE_RATE])


@pytest.mark.parametrize("filler, dbfs", [("room tone", -60), ("babble", None), ("music", None)])
def test_pauses_are_filled_at_their_level(filler, dbfs):
    recording = Joined(tuple(make_clips(2)), 3.0, filler, tuple(make_clips(6, "s2")))
    pause = recording.samples()[SAMPLE_RATE // 2 : -SAMPLE_RATE // 2] / joined.SCALE
    expected = dbfs or 20 * np.log10(recording.speech_level()) - joined.BELOW_SPEECH_DB
    assert 20 * np.log10(np.sqrt((pause**2).mean())) == pytest.approx(expected, abs=0.3)
    assert np.array_equal(recording.samples(), recording.samples())


def test_recordings_of_one_speaker_have_every_clip_once():
    clips = make_clips(20, "s1") + make_clips(13, "s2")
    groups = joined.one_speaker(clips)
    assert sorted(clip.path for group in groups for clip in group) == sorted(clip.path for clip in clips)
    assert all(5 <= len(group) <= 7 and len({clip.speaker for clip in group}) == 1 for group in groups)
    assert groups == joined.one_speaker(clips[::-1]), "the order is drawn by the seed"


def test_two_speakers_speak_in_turns():
    found = joined.in_turns([clip for name in ("s1", "s2", "s3") for clip in make_clips(9, name)])
    assert len(found) == 6 and joined.in_turns(make_clips(9)) == []
    for recording in found:
        speakers = [clip.speaker for clip in recording.clips]
        assert len(speakers) == joined.TURNS and speakers[0::2] == speakers[:1] * 4 and speakers[1::2] == speakers[1:2] * 4 != speakers[0::2]


def test_the_angry_clips_are_those_that_most_listeners_heard_as_angry():
    votes = "votes=neutral:{},happy:0,sad:0,angry:{},fearful:0,disgust:0"
    angry = [make_clip("CREMA-D", i, path=f"CREMA-D/a{i}.opus", label="angry", extra=votes.format(9 - i, i)) for i in range(8)]
    heard = [(9, 0)] * 9 + [(0, 1)] * 2
    neutral = [make_clip("CREMA-D", i, path=f"CREMA-D/n{i}.opus", label="neutral", extra=votes.format(*pair)) for i, pair in enumerate(heard)]
    found = joined.angry_among_neutral(angry + neutral)
    chosen = [[clip for clip in recording.clips if clip.emotion == "angry"] for recording in found]
    assert chosen == [[clip] for clip in angry[:3:-1]]
    for recording in found:
        others = {clip.path for clip in recording.clips if clip.emotion == "neutral"}
        assert len(others) == 8 and others <= {clip.path for clip in neutral[:9]}
        assert recording.clips[0].emotion == recording.clips[-1].emotion == "neutral"


def test_a_clip_is_judged_by_the_entries_that_overlap_it():
    timeline = [entry(0, 1, "angry", 0.2, 0.8), entry(1.5, 2.5, "neutral", 0.6, 0.4)]
    row = judge(timeline, 0.5, 3)
    assert row[EMOTIONS.index("angry")] == pytest.approx(1 / 3) and row[8:] == pytest.approx([0.2 / 3 + 0.4, 0.8 / 3 + 0.8 / 3])
    assert np.isnan(judge(timeline, 1.1, 1.4)).all() and np.isnan(judge([], 0, 1)).all()


def test_clips_without_an_utterance_are_wrong_and_have_no_change(monkeypatch):
    clips = make_clips(4, label="angry") + make_clips(4, label="sad")

    class Alone(recordings.Alone):
        def __init__(self):
            self.rows = {clip.path: recordings.row_of(entry(0, 1, clip.label)) for clip in clips[1:]}

    whole = Joined(tuple(clips), 0.5)
    heard = [clip.label for clip in clips[:6]] + ["angry"] * 2
    timeline = [entry(*bounds, label, 0.4) for i, (label, bounds) in enumerate(zip(heard, whole.bounds())) if i != 5]
    monkeypatch.setattr(recordings, "analyze_joined", lambda found, models: [{"timeline": timeline} for _ in found])
    found = {metric.figure: metric for metric in place_metrics(*judge_all([whole], None, Alone()), "here")}
    assert {metric.group for metric in found.values()} == {"EMOVO, here"} and found["UAR alone"].clips == 7, "one has no scores alone"
    assert (found["UAR alone"].value, found["UAR in a recording"].value) == (1, pytest.approx((1 + 1 / 4) / 2, abs=1e-3))
    assert found["UAR in a recording less alone"].value == pytest.approx((1 + 1 / 4) / 2 - 1, abs=1e-3)
    assert found["change of valence"].value == 0.1 and found["change of arousal"].value == 0


def test_a_cut_is_compared_with_the_entry_that_overlaps_most():
    whole = [entry(0.2, 1.4, "sad", 0.3), entry(2, 3)]
    assert settled(whole, 1.9) == whole[:1] and settled(whole, 1.8) == []
    same = entry(0.21, 1.39, "sad", 0.35)
    moved = entry(0.2, 1.5, "sad", 0.3)
    other = entry(0.2, 1.4, "angry", 0.3)
    assert counterpart(whole[0], [entry(0, 0.4), same]) == same and counterpart(whole[1], [same]) is None
    assert compare_cut(whole[0], same) == [True, True, pytest.approx(0.05), 0]
    assert [compare_cut(whole[0], one)[:2] for one in (moved, other, None)] == [[False, False], [True, False], [0, 0]]


def test_a_grid_has_a_column_per_figure():
    run = {"figures": [vars(Metric("emotion", "UAR alone", group, 0.4, None, 1, 9)) for group in ("a", "b")]}
    text = recordings_page.grid(run, ["of"], {"a": ["one"], "b": ["two"], "c": ["three"]}, ("UAR alone",))
    assert text.splitlines() == ["| of | UAR alone |", "| --- | --- |", "| one | 0.400 |", "| two | 0.400 |"]
