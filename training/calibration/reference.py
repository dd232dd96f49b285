"""Reference values of measures. The service computes the same measures.

Timing measures have the values of recordings of the train part. Measures of prosody are only compared with a recording of the same
speaker (`baseline`): clips of a speaker are joined until there are 5 s of speech. Discriminants come from pairs of one and of two
speakers of the same corpus in the part train. The calibration part has the spreads, from pairs of one speaker's plain recordings,
and the threshold of `baseline_other_speaker`. The command baseline-reference writes results/baseline_reference.json, which is part of
the cognitive model's params. The error rates on the test part are a table in docs/results/calls.md.
"""

import functools
import itertools
import json
import subprocess
from collections import Counter

import numpy as np

from training import cache, settings
from training.corpora.corpus import Part
from training.corpora.recipe import SOLD
from training.corpora.registry import read_clips
from training.evaluation import results
from training.features import log_mel
from training.features.spec import FRAMES_PER_SECOND
from training.features.windows import find_segments
from training.heads.speaker import UNRELIABLE
from training.reporting.tables import replace_between, table
from training.vad.detector import Detector

TIMING_CORPORA = ["AMI", "LibriSpeech", "speechocean762"]
MIN_TIMING_SECONDS = 5
CLARITY_TIMING = ("articulation_rate", "speech_rate", "mean_run")  # measures that clarity depends on in addition to the embeddings
# Measure -> unit, study behind its direction, scale on which it counts in an index.
TIMING_MEASURES = {
    "pause_ratio": ("ratio", "Khawaja, Ruiz & Chen 2008", "odds"),
    "mean_run": ("s", "Betz et al. 2023, Languages 8:71", "inverse"),
    "rate_variability": ("ratio", "Christodoulides 2016", "ratio"),
}
# Measure -> direction, weight in the index. An added pause moves these measures in one direction only; pauses per minute
# are not listed, because one long pause lowers them.
LOAD = {"pause_ratio": ("up", 3), "mean_run": ("down", 2)}
LOAD_RELATIVE = {"pitch_level": ("up", 0.5), "pitch_range": ("down", 0.5), "spectral_tilt": ("up", 0.25)}  # only with a baseline
PROCESSING = {"mean_run": ("up", 3), "pause_ratio": ("down", 2), "rate_variability": ("down", 1)}
MAX_INDEX_INTERVAL = 0.65  # a wider interval spans most of the scale
PRIOR_SECONDS = 30  # of reference speech: one pause of 0.25 s more or less changes each index by less than 0.035
# Among recordings with 10 s of speech it matches three in five of LibriSpeech (read) and 1 of 8 of AMI (meetings).
SCRIPTED = {"minSpeechSeconds": 10, "minMeanRun": 3, "maxPauseRatio": 0.2}
SCRIPTED_CONFIDENCE = 0.75
HESITATION_PARAMS = {"minSeconds": 0.25, "maxSpectralChange": 0.35, "maxPitchChange": 1, "maxSyllableRate": 5}
MEASURE_PARAMS = {"longPauseSeconds": 1, "minTurnSeconds": 0.2, "rateWindowSeconds": 1, "minRateWindows": 3, "minVoicedSeconds": 1,
                  "hesitation": HESITATION_PARAMS}  # fmt: skip
SCALES = {"odds": lambda x: x / (1 - x), "inverse": lambda x: 1 / x, "ratio": lambda x: x}
PAGE = settings.RESULT_PAGES / "calls.md"
BASELINE_RESULT = settings.RESULTS / "baseline_reference.json"
MIN_JOINED_SECONDS = 5  # of speech in a joined recording
MAX_RECORDINGS = 6  # per speaker
OTHER_SPEAKERS = 8  # that each speaker is compared with
PLAIN = {"neutral", "calm", "normal", ""}
FALSE_ALARMS = 0.02
MIN_PAIRS = 20  # of a corpus that counts
# Corpora whose speakers are not people: recordings of several, of one person in MFA, of people who are not told apart in PicovoiceIntent.
NOT_PEOPLE = (*UNRELIABLE, "MFA", "PicovoiceIntent", "PicovoiceWakeWords")
DIRECTIONS = 8
RIDGE = 0.01
# Measure -> unit, study. Evidence grade B: consistent only within a speaker.
PROSODY_MEASURES = {
    "pitch_level": ("semitones re 27.5 Hz", "Huttunen et al. 2011; Griffin & Williams 1987"),
    "pitch_range": ("semitones", "Huttunen et al. 2011; Lively et al. 1993"),
    "spectral_tilt": ("dB/octave", "Lively et al. 1993"),
}
Recording = dict[str, np.ndarray | float]
Pair = tuple[str, np.ndarray]  # corpus; difference of [pitch_level, *cepstrum]


def measure_timing(speech: np.ndarray, rate: np.ndarray) -> dict[str, float]:
    """Speech probability [T] and syllables per second [T] -> measures; none for short recordings."""
    segments = find_segments(speech)
    speech_s = sum(e - s for s, e in segments) / FRAMES_PER_SECOND
    if speech_s < MIN_TIMING_SECONDS:
        return {}
    pauses = [(b[0] - a[1]) / FRAMES_PER_SECOND for a, b in zip(segments, segments[1:])]
    result = {"pause_ratio": sum(pauses) / (speech_s + sum(pauses)), "mean_run": speech_s / len(segments)}
    spoken = np.concatenate([rate[s:e] for s, e in segments])
    frames = MEASURE_PARAMS["rateWindowSeconds"] * FRAMES_PER_SECOND
    windows = spoken[: len(spoken) // frames * frames].reshape(-1, frames).mean(1)
    if len(windows) >= MEASURE_PARAMS["minRateWindows"] and windows.mean() > 0:
        result["rate_variability"] = float(windows.std() / windows.mean())
    return result


def log_timing(vad: Detector, log_mel_frames: np.ndarray) -> np.ndarray | None:
    """[T,80] -> logarithms of CLARITY_TIMING [3]; None without speech"""
    found = vad.run(log_mel_frames)
    segments = find_segments(found["speech"])
    syllables = sum(float(found["syllable_rate"][start:end].sum()) for start, end in segments) / FRAMES_PER_SECOND
    speech_s = sum(end - start for start, end in segments) / FRAMES_PER_SECOND
    if speech_s == 0 or syllables == 0:
        return None
    whole_s = (segments[-1][1] - segments[0][0]) / FRAMES_PER_SECOND
    return np.log([syllables / speech_s, syllables / whole_s, speech_s / len(segments)])


def weighted_quantiles(values: np.ndarray, weights: np.ndarray, at: list[float]) -> np.ndarray:
    order = np.argsort(values)
    rank = (np.cumsum(weights[order]) - 0.5 * weights[order]) / weights.sum()
    return np.interp(at, rank, values[order])


def logistic_spread(low: float, high: float, scale: str) -> float:
    """Spread of the logistic distribution whose quartiles are the logarithms of these values on that scale (ln 9 spreads apart)."""
    place = SCALES[scale]
    return float(abs(np.log(place(high)) - np.log(place(low))) / np.log(9))


@functools.cache
def fit_reference() -> tuple[dict, dict[str, int]]:
    """-> measure -> median, spread and source; corpus -> recordings. Corpora weigh alike.

    Measures that need a baseline come from the results of baseline_reference.
    """
    vad = Detector(settings.weights("vad"))
    source = log_mel.of_corpora()
    measured: list[tuple[str, dict[str, float]]] = []
    for clip in read_clips():
        if clip.corpus in TIMING_CORPORA and not clip.held_out:
            frames = vad.run(source.of(clip))
            if values := measure_timing(frames["speech"], frames["syllable_rate"]):
                measured.append((clip.corpus, values))
    counts = {name: sum(corpus == name for corpus, _ in measured) for name in TIMING_CORPORA}
    result = {}
    for name, (unit, study, scale) in TIMING_MEASURES.items():
        values, weights = np.array([(v[name], 1 / counts[corpus]) for corpus, v in measured if name in v]).T
        low, median, high = weighted_quantiles(values, weights, [0.25, 0.5, 0.75])
        result[name] = {"median": round(float(median), 4), "spread": round(logistic_spread(low, high, scale), 4),
                        "scale": scale, "unit": unit, "source": study}  # fmt: skip
    return result, counts


def index_weights(index: dict[str, tuple[str, float]], relative_only: dict[str, tuple[str, float]]) -> dict:
    return {
        name: {"direction": direction, "weight": weight, "relativeOnly": name in relative_only}
        for name, (direction, weight) in {**index, **relative_only}.items()
    }


def fit_timing_params() -> tuple[dict, dict[str, int]]:
    """-> the timing part of the manifest's params, corpus -> recordings"""
    reference, counts = fit_reference()
    baseline = json.loads(BASELINE_RESULT.read_text())
    if baseline.get("vad") != vad_hash():
        print(f"{BASELINE_RESULT} is that of another VAD model: run baseline-reference, then this step again", flush=True)
    return {
        "priorSeconds": PRIOR_SECONDS,
        "maxIndexInterval": MAX_INDEX_INTERVAL,
        "scripted": SCRIPTED,
        "reference": {**reference, **baseline["reference"]},
        "otherSpeaker": baseline["otherSpeaker"],
        "cognitiveLoad": index_weights(LOAD, LOAD_RELATIVE),
        "processing": index_weights(PROCESSING, {}),
        "measures": MEASURE_PARAMS,
        "scriptedConfidence": SCRIPTED_CONFIDENCE,
    }, counts


def vad_hash() -> str:
    return cache.file_hash(settings.weights("vad"))


def measure_recordings() -> list[dict]:
    """Speech seconds, measures and cepstrum of every speech recording, by the shipped pipeline (measure.ts). Takes some minutes."""
    names = settings.CACHE / "baseline-reference.list"
    names.write_text("\n".join(clip.path for clip in read_clips() if clip.corpus in SOLD.speech))
    command = ["node", "--import", "tsx", "training/calibration/measure.ts", str(settings.MODELS), str(names), str(settings.DATA)]
    run = subprocess.run(command, cwd=settings.REPOSITORY, check=True, stdout=subprocess.PIPE, text=True)
    return [json.loads(line) for line in run.stdout.splitlines()]


def join_lines(lines: list[dict]) -> Recording:
    weights = [line["speech_s"] for line in lines]
    joined = {name: float(np.average([line["measures"][name] for line in lines], weights=weights)) for name in PROSODY_MEASURES}
    return {**joined, "cepstrum": np.average([line["cepstrum"] for line in lines], axis=0, weights=weights)}


def recordings_of(measured: list[dict], part: Part, plain: bool) -> dict[tuple[str, str], list[Recording]]:
    """(corpus, speaker) -> joined recordings, for speakers with two or more."""
    clips = {clip.path: clip for clip in read_clips()}
    by_speaker: dict[tuple[str, str], list[dict]] = {}
    for line in measured:
        clip = clips[line["path"]]
        wanted = clip.part is part and (clip.label in PLAIN or not plain) and clip.corpus in SOLD.speech and clip.corpus not in NOT_PEOPLE
        if wanted and "pitch_level" in line["measures"]:
            by_speaker.setdefault((clip.corpus, clip.speaker), []).append(line)
    result = {}
    for speaker, lines in by_speaker.items():
        recordings = []
        pending = []
        for line in lines:
            pending.append(line)
            if sum(clip["speech_s"] for clip in pending) >= MIN_JOINED_SECONDS:
                recordings.append(join_lines(pending))
                pending = []
        if len(recordings) > 1:
            result[speaker] = recordings[:MAX_RECORDINGS]
    return result


def fit_spreads(measured: list[dict]) -> dict[str, dict]:
    """Spread of the logistic distribution that has the quartiles of one speaker's differences (ln 9 spreads apart)."""
    speakers = recordings_of(measured, Part.CALIBRATION, plain=True).values()
    result = {}
    for name, (unit, study) in PROSODY_MEASURES.items():
        apart = [abs(a[name] - b[name]) for recordings in speakers for a, b in itertools.combinations(recordings, 2)]
        middle = np.median([np.mean([r[name] for r in recordings]) for recordings in speakers])
        spread = 2 * float(np.median(apart)) / np.log(9)
        result[name] = {"median": round(float(middle), 4), "spread": round(spread, 4), "scale": "difference",
                        "unit": unit, "source": study}  # fmt: skip
    return result


def make_pairs(speakers: dict[tuple[str, str], list[Recording]]) -> tuple[list[Pair], list[Pair]]:
    """-> pairs of one speaker, pairs of two"""
    rng = np.random.default_rng(0)
    columns = {key: [np.concatenate([[r["pitch_level"]], r["cepstrum"]]) for r in recordings] for key, recordings in speakers.items()}
    same = [(key[0], a - b) for key, vectors in columns.items() for a, b in itertools.combinations(vectors, 2)]
    different = []
    for key, vectors in columns.items():
        others = [other for other in columns if other[0] == key[0] and other != key]
        for index in rng.permutation(len(others))[:OTHER_SPEAKERS]:
            different.append((key[0], vectors[0] - columns[others[index]][0]))
    return same, different


def covariance(pairs: list[Pair]) -> np.ndarray:
    """Mean over the corpora with MIN_PAIRS or more."""
    by_corpus: dict[str, list[np.ndarray]] = {}
    for corpus, difference in pairs:
        by_corpus.setdefault(corpus, []).append(difference)
    enough = [np.array(by_corpus[name]) for name in sorted(by_corpus) if len(by_corpus[name]) >= MIN_PAIRS]
    return np.mean([d.T @ d / len(d) for d in enough], axis=0)


def find_directions(same: list[Pair], different: list[Pair]) -> np.ndarray:
    """Linear discriminants [DIRECTIONS, columns].

    The squared distance along them is twice the log likelihood ratio of two speakers against one, up to a constant (normal
    distributions of mean zero).
    """
    one = covariance(same)
    two = covariance(different)
    root = np.linalg.inv(np.linalg.cholesky(one + RIDGE * np.diag(np.diag(one))))
    ratios, vectors = np.linalg.eigh(root @ two @ root.T)
    best = np.argsort(ratios)[::-1][:DIRECTIONS]
    return np.sqrt(np.maximum(1 - 1 / ratios[best], 0))[:, None] * (vectors[:, best].T @ root)


def squared_distances(directions: np.ndarray, pairs: list[Pair]) -> np.ndarray:
    return np.array([np.sum((directions @ difference) ** 2) for _, difference in pairs])


def fit_threshold(directions: np.ndarray, same: list[Pair]) -> float:
    """Distance that FALSE_ALARMS of one speaker's pairs exceed; corpora weigh alike."""
    sizes = Counter(corpus for corpus, _ in same)
    kept = [pair for pair in same if sizes[pair[0]] >= MIN_PAIRS]
    apart = squared_distances(directions, kept)
    weights = np.array([1 / sizes[corpus] for corpus, _ in kept])
    order = np.argsort(apart)
    return float(np.interp(1 - FALSE_ALARMS, np.cumsum(weights[order]) / weights.sum(), apart[order]))


def error_rates(directions: np.ndarray, threshold: float, same: list[Pair], different: list[Pair]) -> str:
    rows = []
    for name in [*sorted({corpus for corpus, _ in same}), "all"]:
        chosen = [[pair for pair in pairs if name in (pair[0], "all")] for pairs in (same, different)]
        shares = [f"{np.mean(squared_distances(directions, pairs) > threshold):.3f}" if pairs else "" for pairs in chosen]
        rows.append([name, len(chosen[0]), shares[0], len(chosen[1]), shares[1]])
    return table(["corpus", "pairs of one speaker", "warned", "pairs of two speakers", "warned"], rows)


def fit_baseline(measured: list[dict]) -> None:
    train, calibration = (make_pairs(recordings_of(measured, part, plain=False)) for part in (Part.TRAIN, Part.CALIBRATION))
    directions = np.round(find_directions(*train), 4)
    threshold = round(fit_threshold(directions, calibration[0]), 3)
    params = {"minSpeechSeconds": MIN_JOINED_SECONDS, "directions": directions.tolist(), "threshold": threshold}
    found = {"vad": vad_hash(), "reference": fit_spreads(measured), "otherSpeaker": params}
    BASELINE_RESULT.write_text(json.dumps(found, indent=2) + "\n")


def run_baseline(rates: bool) -> None:
    """`rates`: only those of the reference that is there."""
    measured = measure_recordings()
    if not rates:
        fit_baseline(measured)
    params = json.loads(BASELINE_RESULT.read_text())["otherSpeaker"]
    pairs = make_pairs(recordings_of(measured, Part.TEST, plain=False))
    text = error_rates(np.array(params["directions"]), params["threshold"], *pairs)
    print(text)
    if settings.MODELS == settings.SHIPPED_MODELS:
        source = results.describe_sources({"standard": results.source_of(settings.MODELS)})
        replace_between(PAGE, "other-speaker", f"{source}\n\n{text}")
