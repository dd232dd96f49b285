"""Where the models fail, told from labels, durations and signal-to-noise ratios of the clips they get most wrong."""

from __future__ import annotations

from collections import Counter

import numpy as np

from corpus import EMOTIONAL, EMOTIONS, LABELLED
from figures import AXES, CLARITY, age_of, closed, judged, labels_of, language_of, sex_of
from heard import Heard, Reports
from scores import share, uar
from tables import table

WORST = 12


def snr(audio: dict) -> str:
    return "none" if audio["snr_db"] is None else f"{audio['snr_db']:.0f}"


def facts(heard: Heard, row: int) -> list[str]:
    clip, audio = heard.clips[row], heard.audio[row]
    return [clip.path, sex_of(clip), f"{audio['speech_s']:.1f}", snr(audio)]


def sure_but_wrong(acted: Heard) -> str:
    truth, guess, top = labels_of(acted.clips), acted.shares.argmax(1), acted.shares.max(1)
    wrong = np.flatnonzero(truth != guess)
    rows = wrong[np.argsort(-top[wrong])][:WORST]
    lines = [[*facts(acted, i), EMOTIONS[truth[i]], EMOTIONS[guess[i]], f"{top[i]:.2f}"] for i in rows]
    return table(["recording", "sex", "speech, s", "SNR, dB", "acted", "heard", "confidence"], lines)


def confused_pairs(acted: Heard) -> str:
    """The commonest errors by corpus, out of the clips of that emotion."""
    truth, guess = labels_of(acted.clips), closed(acted)
    lines = []
    for name in EMOTIONAL:
        rows = [i for i, clip in enumerate(acted.clips) if clip.corpus == name]
        pairs = Counter((truth[i], guess[i]) for i in rows if truth[i] != guess[i])
        totals = Counter(truth[i] for i in rows)
        for (said, heard), count in pairs.most_common(2):
            lines.append([name, EMOTIONS[said], EMOTIONS[heard], f"{count} of {totals[said]}"])
    return table(["corpus", "acted", "heard as", "recordings"], lines)


def sentences(clean: Reports) -> dict[str, list[str]]:
    """Signal -> the failures that stand out, as cards tell them."""
    heard = clean.heard()
    return {
        "emotion": [confusion_sentence(heard.where(lambda clip, name=name: clip.corpus == name), name) for name in EMOTIONAL
                    if any(clip.corpus == name for clip in heard.clips)],
        "cognitive": [bottom_sentence(heard.where(lambda clip: clip.corpus == CLARITY))],
        "activity": [f"{count} of {total} speech recordings of {name} had too little speech found in them."
                     for name, count, total in silent_shares(clean) if count > 0.02 * total],
    }  # fmt: skip


def confusion_sentence(acted: Heard, name: str) -> str:
    truth, guess = labels_of(acted.clips), closed(acted)
    pairs = Counter((said, heard) for said, heard in zip(truth, guess) if said != heard)
    if not pairs:
        return f"{name}: none confused."
    (said, heard), count = pairs.most_common(1)[0]
    return f"{name}: of {np.sum(truth == said)} {EMOTIONS[said]} recordings {count} were heard as {EMOTIONS[heard]}."


def bottom_sentence(scored: Heard) -> str:
    truth = np.array([judged(clip, "mean") for clip in scored.clips])
    low = truth <= np.quantile(truth, 0.1)
    over = np.mean(scored.clarity[low] - truth[low])
    return f"The tenth that experts found least fluent is scored {over:+.2f} against them on average."


def silent_shares(clean: Reports) -> list[tuple[str, int, int]]:
    names = [clip.corpus for clip in clean.clips]
    silent = Counter(name for name, ok in zip(names, clean.answered()) if not ok)
    return [(name, silent[name], names.count(name)) for name in LABELLED if name in names]


def split_table(acted: Heard) -> str:
    """UAR by what could make a recording hard."""
    speech = np.array([audio["speech_s"] for audio in acted.audio])
    noise = np.array([np.nan if audio["snr_db"] is None else audio["snr_db"] for audio in acted.audio])
    strong = np.array(["intensity=2" in clip.row["extra"] for clip in acted.clips])
    ravdess = np.array([clip.corpus == "RAVDESS" for clip in acted.clips])
    truth, guess = labels_of(acted.clips), closed(acted)
    groups = {
        "under 1.5 s of speech": speech < 1.5,
        "1.5 to 3 s": (speech >= 1.5) & (speech < 3),
        "3 s and more": speech >= 3,
        "SNR under 20 dB": noise < 20,
        "SNR 20 dB and more": noise >= 20,
        "RAVDESS, normal intensity": ravdess & ~strong,
        "RAVDESS, strong intensity": ravdess & strong,
    }
    lines = [[name, f"{uar(truth[part], guess[part]):.3f}", f"{share(truth[part], guess[part]):.3f}", str(part.sum())]
             for name, part in groups.items() if part.sum() >= 10]  # fmt: skip
    return table(["recordings", "UAR", "share right", "count"], lines)


def far_off(heard: Heard) -> str:
    """The largest errors of the three scores."""
    lines = []
    for place, name in enumerate((*AXES, "clarity")):
        part = heard.where(lambda clip: clip.corpus == (CLARITY if name == "clarity" else "TAVA"))
        truth = np.array([judged(c, "mean") if name == "clarity" else float(c.row[name]) for c in part.clips])
        guess = part.clarity if name == "clarity" else part.axes[:, place]
        for i in np.argsort(-np.abs(truth - guess))[:4]:
            clip = part.clips[i]
            what = f"age {age_of(clip)}" if name == "clarity" else clip.label
            lines.append([name, *facts(part, i), what, f"{truth[i]:.2f}", f"{guess[i]:.2f}"])
    return table(["score", "recording", "sex", "speech, s", "SNR, dB", "of", "judged", "scored"], lines)


def unheard(clean: Reports) -> str:
    silent = [clip for clip, ok in zip(clean.clips, clean.answered()) if not ok and clip.corpus not in ("ESC10", "EmoGator")]
    counts = Counter((clip.corpus, language_of(clip)) for clip in silent)
    lines = [[name, language, str(count)] for (name, language), count in counts.most_common()]
    return table(["corpus", "language", "speech recordings without enough speech found"], lines or [["none", "", "0"]])


def section(clean: Reports) -> str:
    heard = clean.heard()
    acted = heard.where(lambda clip: clip.corpus in EMOTIONAL)
    parts = [
        "Wrong and most sure of it:", sure_but_wrong(acted),
        "The commonest confusions:", confused_pairs(acted),
        "Harder and easier recordings:", split_table(acted),
        "Furthest from the judges:", far_off(heard),
        "Not heard as speech:", unheard(clean),
    ]  # fmt: skip
    return "\n\n".join(parts)
