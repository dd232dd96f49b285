"""What the shipped pipeline does when a recording is changed in a known way, as figures.

behaviour.py [pauses] [tempo] [plateau] [hesitations] [sameness] [timing]: runs `dist/src/cli.js` over copies under
UNDERTONE_TRAINING_CACHE/behaviour and prints one line a figure. Each function gives a list of Figure.
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import soundfile

from conditions import RATE, decode
from corpus import CACHE, DATA, MODELS, Clip, read_clips
from figures import Figure
from intervals import analyse

FOLDER = CACHE / "behaviour"
PAUSES, SHORTEST, LONGEST = 3, 0.3, 2.0  # put into each recording; seconds
EDGE = 0.3  # seconds of speech kept on either side of a pause
MIN_SPEECH_SECONDS = 3
MOST = 120
TIMING = ["pause_ratio", "pause_rate", "mean_run", "articulation_rate", "speech_rate"]
SAME = 60  # recordings of which every copy is scored whole
SAMENESS = {  # what it is called: ending of the copies, options of ffmpeg
    "12 dB softer": ("soft-wav", "-af volume=-12dB"),
    "MP3 at 64 kbit/s": ("mp3", "-b:a 64k"),
    "Opus at 32 kbit/s": ("ogg", "-c:a libopus -b:a 32k"),
    "AAC at 64 kbit/s": ("m4a", "-c:a aac -b:a 64k"),
    "FLAC at 44.1 kHz": ("flac", "-ar 44100"),
    "48 kHz, 24 bit": ("high-wav", "-ar 48000 -c:a pcm_s24le"),
}
Change = Callable[[np.ndarray, np.random.Generator], np.ndarray]


def fluent() -> list[Clip]:
    """Held-out readers, and the meetings, whose speakers stand at the other end of the reference."""
    held = [c for c in read_clips() if c.corpus == "LibriSpeech" and c.held_out or c.corpus == "AMI"]
    read = [c for c in read_clips() if c.corpus == "speechocean762" and c.held_out]
    return held + [read[i] for i in np.linspace(0, len(read) - 1, MOST - len(held)).astype(int)]


def with_pauses(samples: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Pauses at the softest points with speech within 0.15 s on both sides, filled with noise at the recording's floor."""
    hop = RATE // 100
    frames = samples[: len(samples) // hop * hop].reshape(-1, hop)
    level = np.convolve((frames**2).mean(1), np.ones(6) / 6, "same")
    loud, guard = level > 0.1 * level.mean(), int(EDGE * 100)
    first, *_, last = np.flatnonzero(loud)
    allowed = [p for p in range(first + guard, last - guard) if loud[p - 15 : p].any() and loud[p + 1 : p + 16].any()]
    allowed = np.array(allowed, int)
    chosen: list[int] = []
    for place in allowed[np.argsort(level[allowed])]:
        if len(chosen) < PAUSES and all(abs(place - other) > 2 * guard for other in chosen):
            chosen.append(int(place))
    floor = np.sqrt(np.quantile((frames**2).mean(1), 0.05))
    parts, at = [], 0
    for place in sorted(chosen):
        count = int(RATE * rng.uniform(SHORTEST, LONGEST))
        parts += [samples[at : place * hop], floor * rng.standard_normal(count)]
        at = place * hop
    return np.concatenate([*parts, samples[at:]])


def at_tempo(factor: float) -> Change:
    def change(samples: np.ndarray, _: np.random.Generator) -> np.ndarray:
        command = ["ffmpeg", "-v", "error", "-f", "f32le", "-ar", str(RATE), "-i", "pipe:0", "-af", f"atempo={factor}",
                   "-f", "f32le", "pipe:1"]  # fmt: skip
        raw = subprocess.run(command, input=samples.astype("<f4").tobytes(), stdout=subprocess.PIPE, check=True)
        return np.frombuffer(raw.stdout, "<f4")

    return change


def copies(clips: list[Clip], name: str, change: Change | None) -> list[Path]:
    """WAV copies, so that what is compared differs by the change alone."""
    paths = []
    for clip in clips:
        path = FOLDER / name / f"{clip.index}.wav"
        if not path.exists():
            path.parent.mkdir(parents=True, exist_ok=True)
            samples = decode(DATA / clip.path)
            changed = samples if change is None else change(samples, np.random.default_rng(clip.index))
            soundfile.write(path, np.clip(0.7 * changed / np.abs(samples).max(), -1, 1), RATE, "PCM_16")
        paths.append(path.resolve())
    return paths


def cognitive_of(paths: list[Path], models: Path) -> list[dict | None]:
    reports = analyse(paths, "cognitive", models)
    return [report if report and report["cognitive"]["status"] == "ok" else None for report in map(reports.get, map(str, paths))]


def value_of(report: dict, name: str) -> float:
    return report["cognitive"]["signals"][name]


def pairs(name: str, change: Change, models: Path) -> list[tuple[Clip, dict, dict]]:
    """(recording, report as it is, report of its copy), where both were scored on enough speech."""
    clips = fluent()
    plain, changed = (cognitive_of(copies(clips, n, c), models) for n, c in (("plain", None), (name, change)))
    return [(c, a, b) for c, a, b in zip(clips, plain, changed) if a and b and a["audio"]["speech_s"] >= MIN_SPEECH_SECONDS]


def figure(what: str, group: str, good: np.ndarray, clips: list[Clip]) -> Figure:
    speakers = len({(clip.corpus, clip.speaker) for clip in clips})
    return Figure("cognitive", what, group, round(float(np.mean(good)), 3), None, speakers, len(clips))


def pauses(models: Path = MODELS) -> list[Figure]:
    """Direction, also for the tenth with the least and the tenth with the most load before the change."""
    found = pairs("pauses", with_pauses, models)
    before = np.array([value_of(a, "cognitive_load") for _, a, _ in found])
    up = np.array([value_of(b, "cognitive_load") - value_of(a, "cognitive_load") for _, a, b in found])
    down = np.array([value_of(b, "processing") - value_of(a, "processing") for _, a, b in found])
    low, high = np.quantile(before, [0.1, 0.9])
    result = []
    for group, rows in (("all", before >= 0), ("least load", before <= low), ("most load", before >= high)):
        clips = [clip for (clip, _, _), row in zip(found, rows) if row]
        result += [
            figure("three pauses raise cognitive_load by 0.01", group, up[rows] > 0.01, clips),
            figure("three pauses lower processing", group, down[rows] < 0, clips),
            figure("mean change of cognitive_load by three pauses", group, up[rows], clips),
        ]
    return result


def tempo(models: Path = MODELS) -> list[Figure]:
    result = []
    for factor, word in ((0.9, "slower"), (1.1, "faster")):
        found = pairs(word, at_tempo(factor), models)
        by = np.array([abs(value_of(b, "cognitive_load") - value_of(a, "cognitive_load")) for _, a, b in found])
        clips = [clip for clip, _, _ in found]
        result.append(figure(f"10 % {word}: cognitive_load within 0.1", "all", by < 0.1, clips))
    return result


def plateau(models: Path = MODELS) -> list[Figure]:
    """Mean change of clarity when fluent readers speak faster or slower: faster must not simply be clearer."""
    result = []
    for percent in (-20, -10, 10, 20, 30):
        found = [p for p in pairs(f"tempo{percent}", at_tempo(1 + percent / 100), models) if p[0].corpus == "LibriSpeech"]
        by = np.array([value_of(b, "clarity") - value_of(a, "clarity") for _, a, b in found])
        result.append(figure(f"mean change of clarity, {percent:+d} % tempo", "LibriSpeech", by, [c for c, _, _ in found]))
    return result


def hesitations(models: Path = MODELS) -> list[Figure]:
    """MFA's few recordings: load with a filler, a lengthening or a long pause, against the same words without."""
    by_name = {Path(clip.path).stem: clip for clip in read_clips() if clip.corpus == "MFA"}
    result = []
    for plain, changed in (("mfa_the", "mfa_er"), ("mfa_puttynorm", "mfa_long"), ("mfa_thenorm", "mfa_erpause")):
        clips = [by_name[plain], by_name[changed]]
        before, after = cognitive_of([(DATA / clip.path).resolve() for clip in clips], models)
        if before and after:
            by = value_of(after, "cognitive_load") - value_of(before, "cognitive_load")
            result.append(figure(f"cognitive_load, {changed} less {plain}", "MFA", np.array([by]), clips[1:]))
    return result


def timing(models: Path = MODELS) -> list[Figure]:
    """Fluency of held-out speakers from pauses and rates alone, by ridge regression on a third of the others."""
    clips = [c for c in read_clips() if c.corpus == "speechocean762"]
    others, held = [c for c in clips if not c.held_out][::3], [c for c in clips if c.held_out]
    known, asked = (judged_reports(part, models) for part in (others, held))
    guess = ridge(timing_rows(known), fluency_of(known), timing_rows(asked))
    truth, clarity = fluency_of(asked), np.array([value_of(report, "clarity") for _, report in asked])
    kept = [clip for clip, _ in asked]
    return [
        figure("PCC of pauses and rates alone with fluency", "speechocean762", np.corrcoef(truth, guess)[0, 1], kept),
        figure("PCC of clarity with fluency", "speechocean762", np.corrcoef(truth, clarity)[0, 1], kept),
    ]


def judged_reports(clips: list[Clip], models: Path) -> list[tuple[Clip, dict]]:
    reports = cognitive_of([(DATA / clip.path).resolve() for clip in clips], models)
    return [(clip, report) for clip, report in zip(clips, reports) if report]


def fluency_of(known: list[tuple[Clip, dict]]) -> np.ndarray:
    return np.array([float(clip.row["fluency"]) for clip, _ in known])


def timing_rows(known: list[tuple[Clip, dict]]) -> np.ndarray:
    """The measures and their logarithms."""
    measures = [report["cognitive"]["measures"] for _, report in known]
    rows = np.array([[found[name]["value"] for name in TIMING] for found in measures])
    return np.concatenate([rows, np.log(np.maximum(rows, 0.02))], 1)


def sameness(models: Path = MODELS) -> list[Figure]:
    """The same speech at another level, in other containers and at other rates: every score within 0.05?"""
    held = [c for c in read_clips() if c.held_out and c.corpus in ("RAVDESS", "EMOVO", "ASED", "TAVA", "LibriSpeech")]
    clips = [held[i] for i in np.linspace(0, len(held) - 1, SAME).astype(int)]
    plain = scores_of(copies(clips, "plain", None), models)
    result = []
    for what, (ending, options) in SAMENESS.items():
        changed = scores_of([converted(clip, ending, options) for clip in clips], models)
        both = [i for i in range(len(clips)) if plain[i] and changed[i]]
        worst = np.array([np.abs(np.subtract(plain[i], changed[i])).max() for i in both])
        kept = [clips[i] for i in both]
        result.append(figure(f"{what}: every score within 0.05", "all", worst < 0.05, kept))
    return result


def converted(clip: Clip, ending: str, options: str) -> Path:
    (plain,) = copies([clip], "plain", None)
    path = FOLDER / ending / f"{clip.index}.{ending.rpartition('-')[2]}"
    if not path.exists():
        path.parent.mkdir(parents=True, exist_ok=True)
        subprocess.run(["ffmpeg", "-v", "error", "-y", "-i", str(plain), *options.split(), str(path)], check=True)
    return path.resolve()


def scores_of(paths: list[Path], models: Path) -> list[list[float] | None]:
    """Valence, arousal, load, clarity and processing of each."""
    reports = analyse(paths, "emotion,cognitive", models)
    result: list[list[float] | None] = []
    for report in map(reports.get, map(str, paths)):
        if report is None or report["emotion"]["status"] != "ok":
            result.append(None)
            continue
        feeling, thinking = report["emotion"]["signals"], report["cognitive"]["signals"]
        result.append([feeling["valence"], feeling["arousal"],
                       *(thinking[name] for name in ("cognitive_load", "clarity", "processing"))])  # fmt: skip
    return result


def ridge(rows: np.ndarray, truth: np.ndarray, asked: np.ndarray, weight: float = 10) -> np.ndarray:
    centre, spread = rows.mean(0), rows.std(0) + 1e-9
    x = np.c_[(rows - centre) / spread, np.ones(len(rows))]
    solved = np.linalg.solve(x.T @ x + weight * np.eye(x.shape[1]), x.T @ truth)
    return np.c_[(asked - centre) / spread, np.ones(len(asked))] @ solved


PARTS = {"pauses": pauses, "tempo": tempo, "plateau": plateau, "hesitations": hesitations, "sameness": sameness, "timing": timing}


def main(names: list[str]) -> None:
    for name in names or PARTS:
        for found in PARTS[name]():
            print(f"{found.figure:52} {found.group:16} {found.value:7.3f}  {found.clips} recordings", flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
