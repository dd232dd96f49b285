"""Response of the shipped pipeline to known changes of a recording, and to whispered and loud speech.

Only one speaker of MFA whispers. Whispers are synthesised: noise of the same power replaces the residual of linear
prediction, frame by frame. Loud speech is acted.
"""

import subprocess
from collections.abc import Callable
from functools import partial
from pathlib import Path

import numpy as np
import soundfile
from scipy.linalg import solve_toeplitz
from scipy.signal import lfilter
from sklearn.linear_model import Ridge
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from training import cache, settings
from training.augment import audio
from training.augment.audio import altered_copy, change_tempo, decode
from training.corpora.corpus import DIMENSIONS, Clip
from training.corpora.recipe import SOLD
from training.corpora.registry import is_strong, read_clips
from training.evaluation.metrics import Metric, mean_metric
from training.evaluation.reports import BOTH, Reports, analyze, evenly_spaced, is_ok
from training.settings import SAMPLE_RATE

PAUSES = 3  # added to each recording
MIN_PAUSE = 0.3  # seconds
MAX_PAUSE = 2.0  # seconds
EDGE = 0.3  # seconds of speech kept on either side of a pause
MAX_READERS = 120
TIMING = ["pause_ratio", "pause_rate", "mean_run", "articulation_rate", "speech_rate"]
MAX_CONVERTED = 60
MAX_CHANGE = 0.05  # of any score, for a prediction to count as unchanged
CONVERSIONS = {  # title: (suffix of the copies, options of ffmpeg)
    "12 dB softer": (".soft.wav", "-af volume=-12dB"),
    "MP3 at 64 kbit/s": (".mp3", "-b:a 64k"),
    "Opus at 32 kbit/s": (".ogg", "-c:a libopus -b:a 32k"),
    "AAC at 64 kbit/s": (".m4a", "-c:a aac -b:a 64k"),
    "FLAC at 44.1 kHz": (".flac", "-ar 44100"),
    "48 kHz, 24 bit": (".48k.wav", "-ar 48000 -c:a pcm_s24le"),
}
Change = Callable[[np.ndarray, np.random.Generator], np.ndarray]
cognitive_metric = partial(mean_metric, "cognitive")
ORDER = 18  # of linear prediction
FRAME = 400  # samples
HOP = 200  # samples
REGULARIZATION = 1e-4  # of the power, so that silence has a filter too
MAX_WHISPERS = 60
WHISPERED_CORPORA = ("RAVDESS", "EMOVO", "ASED", "TAVA", "LibriSpeech", "speechocean762")
CHANGED_SCORES = (("emotion", "valence"), ("emotion", "arousal"), ("cognitive", "clarity"))
REAL_WHISPERS = ("mfa_whisper", "mfa_breathy")


def readers() -> list[Clip]:
    """Readers of the test part, and spontaneous speech of meetings."""
    clips = read_clips()
    held = [c for c in clips if c.corpus in ("AMI", "LibriSpeech") and c.tested]
    return held + evenly_spaced([c for c in clips if c.corpus == "speechocean762" and c.tested], MAX_READERS - len(held))


def add_pauses(samples: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Pauses at the softest points with speech within 0.15 s on both sides, filled with noise at the recording's floor."""
    hop = SAMPLE_RATE // 100
    frames = samples[: len(samples) // hop * hop].reshape(-1, hop)
    level = np.convolve((frames**2).mean(1), np.ones(6) / 6, "same")
    loud = level > 0.1 * level.mean()
    guard = int(EDGE * 100)
    first, *_, last = np.flatnonzero(loud)
    allowed = [p for p in range(first + guard, last - guard) if loud[p - 15 : p].any() and loud[p + 1 : p + 16].any()]
    allowed = np.array(allowed, int)
    chosen: list[int] = []
    for place in allowed[np.argsort(level[allowed])]:
        if len(chosen) < PAUSES and all(abs(place - other) > 2 * guard for other in chosen):
            chosen.append(int(place))
    floor = np.sqrt(np.quantile((frames**2).mean(1), 0.05))
    parts = []
    at = 0
    for place in sorted(chosen):
        count = int(SAMPLE_RATE * rng.uniform(MIN_PAUSE, MAX_PAUSE))
        parts += [samples[at : place * hop], floor * rng.standard_normal(count)]
        at = place * hop
    return np.concatenate([*parts, samples[at:]])


def write_copy(clip: Clip, name: str, change: Change | None) -> Path:
    """A WAV copy at 70 % of full scale; without `change` too, so that what is compared differs by the change alone."""
    code = cache.code_hash(audio, write_copy, change or write_copy)
    path = altered_copy(clip, name, code)
    if not path.exists():
        samples = decode(settings.DATA / clip.path)
        changed = samples if change is None else change(samples, np.random.default_rng(clip.index))
        soundfile.write(path, np.clip(0.7 * changed / np.abs(samples).max(), -1, 1), SAMPLE_RATE, "PCM_16")
    return path


def compare(clips: list[Clip], name: str, change: Change, signals: str, models: Path) -> list[tuple[Clip, dict, dict]]:
    """(clip, report of the plain copy, report of the changed copy)"""
    paths = [write_copy(clip, n, c) for n, c in (("plain", None), (name, change)) for clip in clips]
    reports = analyze(paths, signals, models)
    return list(zip(clips, reports[: len(clips)], reports[len(clips) :]))


def has_indices(report: dict) -> bool:
    return is_ok(report, "cognitive") and "insufficient_speech_cognitive" not in report["cognitive"]["warnings"]


def compare_readers(name: str, change: Change, models: Path) -> list[tuple[Clip, dict, dict]]:
    """Those with enough speech for the indices in both."""
    compared = compare(readers(), name, change, "cognitive", models)
    return [one for one in compared if all(has_indices(report) for report in one[1:])]


def score_of(report: dict, name: str) -> float:
    return report["cognitive"]["signals"][name]


def changes_of(compared: list[tuple[Clip, dict, dict]], name: str) -> np.ndarray:
    return np.array([score_of(b, name) - score_of(a, name) for _, a, b in compared])


def pauses(models: Path) -> list[Metric]:
    """Direction, also for the tenth with the least and the tenth with the most load before the change."""
    compared = compare_readers("pauses", add_pauses, models)
    before = np.array([score_of(a, "cognitive_load") for _, a, _ in compared])
    load = changes_of(compared, "cognitive_load")
    processing = changes_of(compared, "processing")
    low, high = np.quantile(before, [0.1, 0.9])
    result = []
    for group, mask in (("all", before >= 0), ("least load", before <= low), ("most load", before >= high)):
        clips = [clip for (clip, _, _), inside in zip(compared, mask) if inside]
        result += [
            cognitive_metric("three pauses raise cognitive_load by 0.01", group, load[mask] > 0.01, clips),
            cognitive_metric("three pauses lower processing", group, processing[mask] < 0, clips),
            cognitive_metric("mean change of cognitive_load by three pauses", group, load[mask], clips),
        ]
    return result


def tempo(models: Path) -> list[Metric]:
    """Load of readers who are a little slower or faster, and clarity of fluent ones: faster must not simply be clearer."""
    result = []
    for percent in (-20, -10, 10, 20, 30):
        compared = compare_readers(f"tempo{percent}", lambda x, _, percent=percent: change_tempo(x, 1 + percent / 100), models)
        if abs(percent) == 10:
            unchanged = np.abs(changes_of(compared, "cognitive_load")) < 0.1
            word = "slower" if percent < 0 else "faster"
            result.append(cognitive_metric(f"10 % {word}: cognitive_load within 0.1", "all", unchanged, [clip for clip, _, _ in compared]))
        fluent = [one for one in compared if one[0].corpus == "LibriSpeech"]
        name = f"mean change of clarity, {percent:+d} % tempo"
        result.append(cognitive_metric(name, "LibriSpeech", changes_of(fluent, "clarity"), [clip for clip, _, _ in fluent]))
    return result


def hesitations(models: Path) -> list[Metric]:
    """MFA's few recordings: the rate with a filler, a lengthening or a long pause, less that of the same words without."""
    by_name = {Path(clip.path).stem: clip for clip in read_clips() if clip.corpus == "MFA"}
    result = []
    for plain, changed in (("mfa_the", "mfa_er"), ("mfa_puttynorm", "mfa_long"), ("mfa_thenorm", "mfa_erpause")):
        clips = [by_name[name] for name in (plain, changed) if name in by_name]
        reports = analyze([settings.DATA / clip.path for clip in clips], "cognitive", models)
        if len(clips) == 2 and all(is_ok(report, "cognitive") for report in reports):
            before, after = (report["cognitive"]["measures"]["hesitation_rate"]["value"] for report in reports)
            result.append(cognitive_metric(f"hesitation_rate, {changed} less {plain}", "MFA", after - before, clips[1:]))
    return result


def timing(models: Path) -> list[Metric]:
    """Fluency of the test part from pauses and rates alone, by ridge regression on a third of the others."""
    clips = [c for c in read_clips() if c.corpus == SOLD.clarity]
    chosen = [c for c in clips if not c.held_out][::3] + [c for c in clips if c.tested]
    reports = analyze([settings.DATA / clip.path for clip in chosen], "cognitive", models)
    scored = [(clip, report) for clip, report in zip(chosen, reports) if is_ok(report, "cognitive")]
    fluency = np.array([float(clip.row["fluency"]) for clip, _ in scored])
    values = np.array([[report["cognitive"]["measures"][name]["value"] for name in TIMING] for _, report in scored])
    rows = np.concatenate([values, np.log(np.maximum(values, 0.02))], 1)
    held = np.array([clip.tested for clip, _ in scored])
    predicted = make_pipeline(StandardScaler(), Ridge(10)).fit(rows[~held], fluency[~held]).predict(rows[held])
    clarity = np.array([score_of(report, "clarity") for _, report in scored])[held]
    kept = [clip for clip, _ in scored if clip.tested]
    return [
        cognitive_metric(f"PCC of {name} with fluency", SOLD.clarity, np.corrcoef(fluency[held], scores)[0, 1], kept)
        for name, scores in (("pauses and rates alone", predicted), ("clarity", clarity))
    ]


def conversions(models: Path) -> list[Metric]:
    """The same speech at another level, in other containers and at other rates: is every score unchanged?"""
    held = [c for c in read_clips() if c.tested and c.corpus in ("RAVDESS", "EMOVO", "ASED", "TAVA", "LibriSpeech")]
    clips = evenly_spaced(held, MAX_CONVERTED)
    plain = [scores_of(report) for report in analyze([write_copy(clip, "plain", None) for clip in clips], BOTH, models)]
    code = cache.code_hash(audio, conversions)
    result = []
    for title, (suffix, options) in CONVERSIONS.items():
        paths = [altered_copy(clip, "converted", code, suffix) for clip in clips]
        for clip, path in zip(clips, paths):
            if not path.exists():
                source = str(write_copy(clip, "plain", None))
                subprocess.run(["ffmpeg", "-v", "error", "-y", "-i", source, *options.split(), str(path)], check=True)
        converted = [scores_of(report) for report in analyze(paths, BOTH, models)]
        both = [(clip, a, b) for clip, a, b in zip(clips, plain, converted) if a and b]
        unchanged = np.array([np.abs(np.subtract(a, b)).max() < MAX_CHANGE for _, a, b in both])
        result.append(cognitive_metric(f"{title}: every score within 0.05", "all", unchanged, [clip for clip, _, _ in both]))
    return result


def scores_of(report: dict) -> list[float] | None:
    """Valence, arousal, load, clarity and processing."""
    if not is_ok(report, "emotion"):
        return None
    signals = report["emotion"]["signals"] | report["cognitive"]["signals"]
    return [signals[name] for name in (*DIMENSIONS, "cognitive_load", "clarity", "processing")]


def whisper(samples: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    window = np.hanning(FRAME + 1)[:FRAME]
    result = np.zeros(len(samples) + FRAME)
    padded = np.concatenate([samples, np.zeros(FRAME)])
    for start in range(0, len(samples), HOP):
        frame = padded[start : start + FRAME] * window
        autocorrelation = np.correlate(frame, frame, "full")[FRAME - 1 : FRAME + ORDER]
        if autocorrelation[0] < 1e-9:
            continue
        autocorrelation[0] *= 1 + REGULARIZATION
        predictor = np.concatenate([[1], -solve_toeplitz(autocorrelation[:ORDER], autocorrelation[1:])])
        residual = lfilter(predictor, [1], frame)
        noise = rng.standard_normal(FRAME) * window
        noise *= np.sqrt(np.sum(residual**2) / np.sum(noise**2))
        result[start : start + FRAME] += lfilter([1], predictor, noise)
    return result[: len(samples)]


def loud_groups(clips: list[Clip]) -> dict[str, list[Clip]]:
    """Loud recordings of the test part, and those they are compared with."""
    held = [clip for clip in clips if clip.tested]
    angry = [clip for clip in held if clip.corpus == "RAVDESS" and clip.label == "angry"]
    words = [clip for clip in held if clip.corpus == "BAVED"]
    return {
        "RAVDESS, angry and strong": [clip for clip in angry if is_strong(clip)],
        "RAVDESS, angry, normal": [clip for clip in angry if not is_strong(clip)],
        "BAVED, high": [clip for clip in words if clip.label == "high"],
        "BAVED, normal": [clip for clip in words if clip.label == "normal"],
    }


def loud_speech(models: Path) -> list[Metric]:
    result = []
    for group, loud in loud_groups(read_clips()).items():
        reports = Reports(loud, analyze([settings.DATA / clip.path for clip in loud], BOTH, models))
        result += [mean_metric("vad", "loud speech: answered ok", group, reports.has_scores(), loud),
                   mean_metric("emotion", "loud speech: mean arousal", group, reports.predictions().score("arousal"), loud)]  # fmt: skip
    return result


def whispers(models: Path) -> list[Metric]:
    clips = read_clips()
    picked = evenly_spaced([clip for clip in clips if clip.tested and clip.corpus in WHISPERED_CORPORA], MAX_WHISPERS)
    compared = compare(picked, "whispered", whisper, BOTH, models)
    both = [(c, a, b) for c, a, b in compared if is_ok(a, "emotion") and is_ok(b, "emotion")]
    kept = [clip for clip, _, _ in both]
    same = [a["emotion"]["signals"]["dominant_emotion"] == b["emotion"]["signals"]["dominant_emotion"] for _, a, b in both]
    result = [mean_metric("vad", "made whispers: answered ok", "all", [is_ok(b, "emotion") for _, _, b in compared], picked),
              mean_metric("emotion", "made whispers: same emotion as aloud", "all", same, kept)]  # fmt: skip
    for signal, name in CHANGED_SCORES:
        change = [b[signal]["signals"][name] - a[signal]["signals"][name] for _, a, b in both]
        result.append(mean_metric(signal, f"made whispers: mean change of {name}", "all", change, kept))
    real = [clip for clip in clips if Path(clip.path).stem in REAL_WHISPERS]
    reports = analyze([settings.DATA / clip.path for clip in real], BOTH, models)
    return [*result, *(mean_metric("vad", "answered ok", Path(c.path).stem, is_ok(report, "emotion"), [c]) for c, report in zip(real, reports))]


CHECKS = (pauses, tempo, hesitations, conversions, timing, loud_speech, whispers)
