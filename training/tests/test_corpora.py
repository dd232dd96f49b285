"""Corpora, their labels and their splits, on rows written here."""

import json

import pytest

from training.corpora.corpus import EMOTIONS, SPLITS, Clip, Part
from training.corpora.recipe import RESEARCH, SOLD
from training.corpora.registry import CORPORA, count_syllables, read_clips


def make_clip(corpus: str, index: int = 0, **row: str) -> Clip:
    columns = {"path": f"{corpus}/a.opus", "speaker": "s1", "gender": "F", "lang": "en", "label": "", "extra": "", "text": ""} | row
    return Clip(index, CORPORA[corpus], columns["path"], CORPORA[corpus].speaker(columns), columns)


def test_every_corpus_states_a_licence_and_the_recipes_know_only_registered_ones():
    assert all(corpus.licence and corpus.name == name for name, corpus in CORPORA.items())
    assert set(SOLD.corpora) < set(RESEARCH.corpora) == set(CORPORA)


def test_what_may_be_sold_has_no_corpus_whose_licence_forbids_it_or_shares_alike():
    bound = ("NC", "non-commercial", "unstated", "research", "SA", "disputed", "AGPL")
    assert not [name for name in SOLD.corpora if any(word in CORPORA[name].licence for word in bound)]


def test_no_speaker_is_in_two_parts():
    for name, parts in json.loads(SPLITS.read_text()).items():
        speakers = [speaker for listed in parts.values() for speaker in listed]
        assert name in CORPORA and len(speakers) == len(set(speakers))
        assert set(parts) <= {part.value for part in Part}


def test_unlisted_speakers_are_trained_on():
    held_out = make_clip("RAVDESS", speaker="03")
    other = make_clip("RAVDESS", speaker="01")
    assert (held_out.part, held_out.held_out) == (Part.TEST, True)
    assert (other.part, other.held_out) == (Part.TRAIN, False)


def test_four_parts_of_crema_d():
    speakers = json.loads(SPLITS.read_text())["CREMA-D"]
    assert {CORPORA["CREMA-D"].part(listed[0]) for listed in speakers.values()} == {Part.DEV, Part.CALIBRATION, Part.TEST}


def test_votes_of_crema_d_are_a_soft_target():
    clip = make_clip("CREMA-D", label="sad", extra="age=62;votes=neutral:7,happy:0,sad:2,angry:0,fearful:0,disgust:1;level=55.1")
    votes = dict(zip(EMOTIONS, clip.votes))
    assert votes["neutral"] == 0.7 and votes["disgusted"] == 0.1 and sum(clip.votes) == pytest.approx(1)
    assert clip.emotion == "sad" and clip.age == 62


def test_dimensions_follow_from_the_category_the_level_or_ratings():
    normal, strong = (make_clip("RAVDESS", label="happy", extra=f"intensity={i}").dimensions for i in (1, 2))
    assert strong.arousal == pytest.approx(normal.arousal + 0.1) and not normal.rated
    level = make_clip("BAVED", label="high").dimensions
    assert (level.arousal, level.valence_weight) == (0.8, 0)
    rated = make_clip("TAVA", label="dark", valence="0.3", arousal="0.6")
    assert rated.emotion is None and rated.dimensions.rated and rated.dimensions.valence == 0.3


def test_every_language_of_the_index_has_a_name():
    assert make_clip("VoxLingua107", lang="hy").language == "Armenian" and make_clip("ESC10", lang="noise").language == "none"


def test_a_reader_is_in_the_same_part_of_both_corpora_of_audiobooks():
    readers = json.loads(SPLITS.read_text())["LibriSpeech"]
    found = {part: make_clip("LibriSpeechMany", speaker=f"libri_{speakers[0]}").part.value for part, speakers in readers.items()}
    assert found == {part: part for part in readers}


def test_clarity_is_the_mean_of_both_scores():
    assert make_clip("speechocean762", fluency="8", prosody="6").clarity == pytest.approx(0.7)


def test_read_clips_numbers_the_clips_of_the_asked_corpora(tmp_path):
    header = "set,path,dur_s,speaker,gender,lang,label,extra,text"
    rows = ["CASIA,CASIA/1.opus,1,a,,zh,sad,,", "SAVEE,SAVEE/1.opus,1,DC,M,en,disgust,,", "ESC10,ESC10/1.opus,5,,,noise,Rain,fold=1,"]
    (tmp_path / "index.csv").write_text("\n".join([header, *rows]) + "\n")
    clips = read_clips(("SAVEE", "ESC10"), data=tmp_path)
    assert [(clip.index, clip.corpus, clip.label) for clip in clips] == [(0, "SAVEE", "disgusted"), (1, "ESC10", "Rain")]
    assert clips[1].speaker == "1" and clips[1].held_out
    assert len(read_clips(CORPORA, tmp_path)) == 3


@pytest.mark.parametrize(("text", "count"), [("still waiting for it to happen", 8), ("the little table", 5), ("a", 1)])
def test_syllables(text, count):
    assert count_syllables(text) == count


def test_the_statement_of_crema_d_gives_its_syllables():
    assert make_clip("CREMA-D", extra="stmt=ITH").syllables == 10
