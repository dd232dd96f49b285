"""All known corpora by name, and their clips in index.csv. Training uses those that recipe.py lists.

A corpus that only differs in its fields is an entry of CORPORA; one with own labels is a class.
"""

import csv
import sys
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

from training import cache, settings
from training.corpora import corpus, recipe
from training.corpora.corpus import CATEGORY_WEIGHT, EMOTIONS, INDEX_NAMES, ActedCorpus, Clip, Corpus, Dimensions, Part, Sampling, expected_dimensions
from training.corpora.recipe import RESEARCH, SOLD

BAVED_AROUSAL = {"low": 0.25, "normal": 0.45, "high": 0.80}
RATING_WEIGHT = 4
TAVA_EMOTIONS = {
    "happy": "happy", "joyful": "happy", "tranquil": "calm", "serene": "calm", "depressed": "sad",
    "miserable": "sad", "frightened": "fearful", "enraged": "angry",
}  # fmt: skip
STRONG_AROUSAL = 0.1  # added to arousal at strong intensity
CREMA_D_SYLLABLES = {
    "IEO": 6, "TIE": 8, "IOM": 8, "IWW": 8, "TAI": 7, "MTI": 9, "IWL": 8, "ITH": 10, "DFA": 6, "ITS": 7, "TSI": 5, "WSI": 9,
}  # fmt: skip
STEADY = ("Rain", "Sea waves", "Helicopter", "Chainsaw")


class Ravdess(ActedCorpus):
    """Acted English sentences, two takes, two intensities (Livingstone & Russo 2018)."""

    def dimensions(self, clip: Clip) -> Dimensions | None:
        found = super().dimensions(clip)
        return replace(found, arousal=found.arousal + STRONG_AROUSAL) if found and is_strong(clip) else found

    def syllables(self, clip: Clip) -> int:
        return 7  # "Kids are talking by the door", "Dogs are sitting by the door"


class Tess(ActedCorpus):
    """English carrier words acted by two women (Pichora-Fuller & Dupuis 2020)."""

    def syllables(self, clip: Clip) -> int:
        return 4  # "Say the word" and a monosyllable


class CremaD(ActedCorpus):
    """English sentences acted at several intensities, each rated by about nine listeners (Cao et al. 2014).

    From the voice alone the majority chooses the intended emotion for 46 % of the clips and neutral for half: `votes`
    is what listeners perceived, `emotion` what the actor intended. `level` in index.csv is the strength of the chosen
    emotion, not arousal.
    """

    def votes(self, clip: Clip) -> list[float] | None:
        if "votes" not in clip.extra:  # one clip
            return None
        pairs = (vote.split(":") for vote in clip.extra["votes"].split(","))
        counts = {INDEX_NAMES.get(name, name): int(count) for name, count in pairs}
        return [counts.get(name, 0) / sum(counts.values()) for name in EMOTIONS]

    def dimensions(self, clip: Clip) -> Dimensions:
        return expected_dimensions(clip.distribution, CATEGORY_WEIGHT)

    def syllables(self, clip: Clip) -> int:
        return CREMA_D_SYLLABLES[clip.extra["stmt"]]


class Baved(Corpus):
    """Arabic words at three levels of activation."""

    def dimensions(self, clip: Clip) -> Dimensions:
        return Dimensions(0.5, BAVED_AROUSAL[clip.label], 0, CATEGORY_WEIGHT)


class Tava(Corpus):
    """English affects acted by 14 people, each clip rated by about 150 listeners (tava-data)."""

    def emotion(self, clip: Clip) -> str | None:
        return TAVA_EMOTIONS.get(clip.label)

    def dimensions(self, clip: Clip) -> Dimensions:
        return Dimensions(float(clip.row["valence"]), float(clip.row["arousal"]), RATING_WEIGHT, RATING_WEIGHT, rated=True)


class Speechocean762(Corpus):
    """English sentences read by Mandarin speakers, half of them children, scored by experts (Zhang et al. 2021)."""

    def clarity(self, clip: Clip) -> float:
        return (float(clip.row["fluency"]) + float(clip.row["prosody"])) / 20

    def syllables(self, clip: Clip) -> int:
        return count_syllables(clip.row["text"])


class LibriSpeech(Corpus):
    """Read English audiobooks (Panayotov et al. 2015)."""

    def speaker(self, row: dict[str, str]) -> str:
        return Path(row["path"]).stem.split("-")[0]


class LibriSpeechMany(Corpus):
    """Readers of LibriSpeech: a reader is in the same part of both."""

    def speaker(self, row: dict[str, str]) -> str:
        return row["speaker"].removeprefix("libri_")

    def part(self, speaker: str) -> Part:
        return CORPORA["LibriSpeech"].part(speaker)


class Esc10(Corpus):
    """Environmental sounds (Piczak 2015). A fold counts as one speaker. Some files are chained or stereo Ogg."""

    def speaker(self, row: dict[str, str]) -> str:
        return row["extra"].removeprefix("fold=")


CORPORA: dict[str, Corpus] = {
    corpus.name: corpus
    for corpus in (
        Ravdess("RAVDESS", "CC BY-NC-SA 4.0", Sampling(vad=2, telephone_every=2), studio=True),
        Tess("TESS", "non-commercial (CC BY-NC-ND 4.0 upstream)",
             Sampling(vad=4, telephone_every=2), studio=True),
        # English sentences acted by four men (Haq & Jackson 2010).
        ActedCorpus("SAVEE", "unstated, research use", studio=True),
        # Acted Italian sentences (Costantini et al. 2014).
        ActedCorpus("EMOVO", "unstated, research use"),
        # Acted Polish sentences (Christop 2024).
        ActedCorpus("nEMO", "CC BY-NC-SA 4.0", Sampling(vad=0.5, telephone_every=4)),
        # Acted Amharic sentences kept by eight judges (Retta et al. 2023).
        ActedCorpus("ASED", "unstated", Sampling(telephone_every=3), studio=True),
        # Acted Korean sentences (emotiontts_open_db).
        ActedCorpus("EmotionTTSKorean", "CC BY-NC-SA, research only"),
        Baved("BAVED", "unstated", Sampling(vad=2.5, speech_check=2.0), studio=True),
        Tava("TAVA", "AGPL-3.0", Sampling(vad=2, corrupted=1000), studio=True),
        # Vocal bursts without words (Buhl 2023): no speech for the VAD model. Passing a laugh as speech is a minor error.
        Corpus("EmoGator", "Apache-2.0", Sampling(vad=4, speech_check=0.4, telephone_every=3), is_speech=False),
        CremaD("CREMA-D", "ODbL 1.0 / DbCL (a notice is due; the database shares alike)", Sampling(vad=0.5)),
        # Acted Bangla sentences, by people who are not actors, on their phones and laptops (Das et al. 2022).
        ActedCorpus("BanglaSER", "CC BY 4.0"),
        # Acted German sentences (Burkhardt et al. 2005). Boredom is not a category of the models.
        ActedCorpus("EmoDB", "CC0 1.0 (as published by audEERING)", studio=True),
        # Acted Chinese sentences, four speakers.
        ActedCorpus("CASIA", "unstated, research use"),
        # Acted Greek sentences, six speakers, no neutral ones (Vryzas et al. 2018).
        ActedCorpus("AESDD", "unstated"),
        Speechocean762("speechocean762", "CC BY 4.0", Sampling(vad=4, speech_check=2.0, telephone_every=2, corrupted=120), ordinary=True),
        LibriSpeech("LibriSpeech", "CC BY 4.0", Sampling(vad=6, speech_check=2.0), ordinary=True),
        # 30 s each of twelve spontaneous English meetings. A recording counts as one speaker.
        Corpus("AMI", "CC BY 4.0", Sampling(vad=40, speech_check=2.0), ordinary=True),
        # Spontaneous web speech in 33 languages, one clip a video (Valk & Alumae 2021). Some of it is emotional.
        Corpus("VoxLingua107", "disputed: CC BY 4.0 or CC BY-NC 4.0; the sound belongs to the uploaders", Sampling(vad=2), ordinary=True),
        # One paragraph, read in English by natives of nine languages, at 8 kHz (Weinberger 2015).
        Corpus("SpeechAccentArchive", "CC BY-NC-SA 2.0", ordinary=True),
        # Spoken commands in noise (speech-to-intent-benchmark of Picovoice). The speakers are not told apart.
        Corpus("PicovoiceIntent", "Apache-2.0", ordinary=True),
        # Read Malayalam (Swathanthra Malayalam Computing).
        Corpus("MSC", "CC BY-SA 3.0", ordinary=True),
        # One more clip of each reader of LibriSpeech.
        LibriSpeechMany("LibriSpeechMany", "CC BY 4.0", ordinary=True),
        # Dictated names, numbers and addresses, mostly by speakers of English as a second language.
        Corpus("Alphanumeric", "MIT", ordinary=True),
        # Prompts of a telephone exchange, 8 kHz, six speakers.
        Corpus("AsteriskPrompts", "CC BY-SA 3.0 (Russian: CC BY 3.0)", ordinary=True),
        # Prompted and telephone speech in twelve languages.
        Corpus("IBMSamples", "Apache-2.0 (repository)", ordinary=True),
        # Spontaneous Frisian, 20 s each.
        Corpus("Frisian", "BSD-3-Clause", ordinary=True),
        # Role-played calls, 8 kHz. Some of it is emotional.
        Corpus("AWSCalls", "Apache-2.0 and MIT-0 (repositories)", Sampling(vad=4), ordinary=True),
        # Read Chinese; prompted English; words in English and Spanish.
        Corpus("AishellSample", "Apache-2.0", ordinary=True),
        Corpus("SDKSamples", "Apache-2.0", ordinary=True),
        Corpus("MycroftWords", "public domain", ordinary=True),
        # Read Icelandic, a crowd (cadia-lvl/samromur-asr).
        Corpus("Samromur", "CC BY 4.0", ordinary=True),
        # Read sentences in eleven languages (samples of FLEURS, Conneau et al. 2022).
        Corpus("FLEURSSamples", "CC BY 4.0", ordinary=True),
        # Read Dutch and German, three voices of the Rhasspy project.
        Corpus("RhasspyVoices", "CC0 1.0", Sampling(vad=0.5), ordinary=True),
        # Read sentences in seven languages, a crowd (samples of Common Voice).
        Corpus("CommonVoiceSamples", "CC0 1.0", ordinary=True),
        # Arabic words of 30 people; five of one person are joined in a clip.
        Corpus("ArabicCommands", "CC BY 4.0", ordinary=True),
        # One English word in a clip of 2 to 4 s, a crowd (wake-word-benchmark of Picovoice). The speakers are not told apart.
        Corpus("PicovoiceWakeWords", "Apache-2.0", ordinary=True),
        # French poems, read by volunteers of LibriVox.
        Corpus("LibriVoxFleursDuMal", "public domain", ordinary=True),
        # Read English in many accents (samples of VCTK).
        Corpus("VCTKSamples", "CC BY 4.0", ordinary=True),
        # Words, hesitations, whisper and creak of one English speaker (tests of the Montreal Forced Aligner). The file
        # name is the label, a recording counts as one speaker.
        Corpus("MFA", "MIT", Sampling(vad=6)),
        Esc10("ESC10", "CC BY 3.0", Sampling(speech_check=2.0), is_speech=False),
        # Recorded impulse responses of rooms (speechbrain's samples).
        Corpus("RIR", "Apache-2.0", is_speech=False),
    )
}  # fmt: skip


def is_strong(clip: Clip) -> bool:
    return clip.corpus == "RAVDESS" and clip.extra.get("intensity") == "2"


def is_training_noise(clip: Clip) -> bool:
    return clip.corpus == "ESC10" and not clip.held_out


def is_steady(clip: Clip) -> bool:
    """Whether a sound serves as background noise."""
    return clip.corpus == "ESC10" and clip.label in STEADY


def count_syllables(text: str) -> int:
    """Vowel groups, without a silent final e: right for about nine words in ten."""
    words = "".join(c if c.isalpha() else " " for c in text.lower().replace("'", "")).split()
    return sum(max(1, syllables_of(word)) for word in words)


def syllables_of(word: str) -> int:
    vowels = [letter in "aeiouy" for letter in word]
    count = sum(now and not before for now, before in zip(vowels, [False, *vowels]))
    silent = word.endswith("e") and not word.endswith(("le", "ee")) or word.endswith("ed")
    if silent and not word.endswith(("ted", "ded")):
        count -= 1
    if word.endswith(("ia", "io", "eo", "iet", "ion")) and not word.endswith(("tion", "sion")):
        count += 1
    return count


def read_clips(names: Iterable[str] = RESEARCH.corpora, data: Path | None = None) -> list[Clip]:
    """Clips of the named corpora in the order of index.csv; the default is all that a recipe uses."""
    wanted = set(names)
    with open((data or settings.DATA) / "index.csv", newline="") as file:
        rows = [(row, CORPORA[row["set"]]) for row in csv.DictReader(file) if row["set"] in wanted]
    return [Clip(index, corpus, row["path"], corpus.speaker(row), row) for index, (row, corpus) in enumerate(rows)]


def sold_clips() -> list[Clip]:
    """Clips of recordings that may train every set of models, in the order of index.csv: their indices are not those of `read_clips()`."""
    return read_clips(SOLD.corpora)
