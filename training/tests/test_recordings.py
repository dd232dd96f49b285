"""Recordings of several clips, and how their utterances are judged; on samples and reports written here."""

import numpy as np
import pytest

from training.corpora.corpus import EMOTIONS, Clip
from training.evaluation import joined, recordings
from training.evaluation.joined import Joined
from training.evaluation.metrics import Metric
from training.evaluation.recordings import compare_cut, counterpart, judge, judge_all, place_metrics, settled
from training.reporting import recordings_page
from training.settings import SAMPLE_RATE
from training.tests.test_corpora import make_clip


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
    same, moved, other = entry(0.21, 1.39, "sad", 0.35), entry(0.2, 1.5, "sad", 0.3), entry(0.2, 1.4, "angry", 0.3)
    assert counterpart(whole[0], [entry(0, 0.4), same]) == same and counterpart(whole[1], [same]) is None
    assert compare_cut(whole[0], same) == [True, True, pytest.approx(0.05), 0]
    assert [compare_cut(whole[0], one)[:2] for one in (moved, other, None)] == [[False, False], [True, False], [0, 0]]


def test_the_section_has_before_beside_after():
    def run(value: float) -> dict:
        return {"figures": [vars(Metric("emotion", "UAR alone", group, value, None, 1, 9)) for group in ("a", "b")]}

    rows = {"a": ["one"], "b": ["two"], "c": ["three"]}
    text = recordings_page.grid({"before": run(0.4), "after": run(0.6)}, ["of"], rows, ("UAR alone",))
    titles = ["| of | UAR alone, before | UAR alone, after |", "| --- | --- | --- |"]
    assert text.splitlines() == [*titles, "| one | 0.400 | 0.600 |", "| two | 0.400 | 0.600 |"]
