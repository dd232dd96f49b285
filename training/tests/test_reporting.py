"""Pages of the corpora, and notes of the cards."""

import json
import re

import pytest

from training import settings
from training.corpora.corpus import SPLITS
from training.corpora.recipe import RESEARCH
from training.corpora.registry import CORPORA, read_clips
from training.evaluation import results
from training.export.specs import STANDARD
from training.reporting import cards, corpus_pages, sets_table
from training.reporting.tables import refresh_quotes


def test_every_corpus_has_a_page_with_its_licence_and_use():
    assert {path.name for path in corpus_pages.PAGES.iterdir()} == {corpus_pages.page(name).name for name in CORPORA}
    for name in CORPORA:
        text = corpus_pages.page(name).read_text()
        assert f"Licence: {CORPORA[name].licence}." in text and re.search(r"^Use: \w", text, re.M), name


def test_pages_count_the_speakers_of_the_split():
    for name, parts in json.loads(SPLITS.read_text()).items():
        text = corpus_pages.page(name).read_text()
        for part, speakers in parts.items():  # the recordings may lack one
            counted = int(re.search(rf"^\| {part} \| (\d+) \|", text, re.M)[1])
            assert len(speakers) - 1 <= counted <= len(speakers) and counted > 0, name


@pytest.mark.skipif(not (settings.DATA / "index.csv").exists(), reason="needs the recordings")
def test_pages_count_the_clips_of_the_index():
    clips = read_clips()
    for name in RESEARCH.corpora:
        assert corpus_pages.facts(name, clips) in corpus_pages.page(name).read_text()


def test_the_card_of_the_vad_model_names_the_parts_that_it_was_fitted_on():
    def split_of(kind: str) -> str:
        manifest = json.loads((settings.SHIPPED_MODELS / kind / "manifest.json").read_text())
        return cards.sections_of(manifest, STANDARD, settings.SHIPPED_MODELS)["Training recordings"][-1]

    assert split_of("vad") == cards.VAD_SPLIT_NOTE
    assert split_of("trunk") == cards.SPLIT_NOTE


def test_pages_have_the_table_of_sets_of_the_last_measurements():
    columns = results.columns_of(results.read())
    for page, text in ((sets_table.PAGE, sets_table.text_of(columns)), (sets_table.README, sets_table.plain_text_of(columns))):
        assert text in page.read_text(), f"{page.name}: run python -m training sets"


def test_quoted_rows_are_those_of_the_results(tmp_path):
    (tmp_path / "results").mkdir()
    (tmp_path / "results" / "calls.md").write_text(
        "| figure | of | a | b |\n| --- | --- | --- | --- |\n| x | y | 0.50 [0.1, 0.9] | 0.60 |\n| x | z | 0.70 | 0.80 |\n\n| corpus | n |\n| --- | --- |\n| all | 9 |\n"
    )
    page = tmp_path / "page.md"
    quoted = "<!-- rows of results/calls.md -->\n\n{}\n\n<!-- end of rows -->\nafter\n"
    page.write_text(quoted.format("| figure | of | a |\n| --- | --- | --- |\n| x | z | 0.1 [0.0, 0.2] |\n\n| corpus | n |\n| --- | --- |\n| all | 7 |"))
    refresh_quotes(tmp_path)
    table = "| figure | of | a | b |\n| --- | --- | --- | --- |\n| x | z | 0.70 | 0.80 |"
    assert page.read_text() == quoted.format(table + "\n\n| corpus | n |\n| --- | --- |\n| all | 9 |")
