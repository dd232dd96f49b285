"""Command line: python -m training train | evaluate | baseline-reference | diarization, or one of TABLES.

The scripts training/train and training/evaluate call it.
"""

import argparse
import shutil
from pathlib import Path

from training import settings

STEPS = ("all", "vad", "encoders", "standard", "large", "fast", "research", "speech-check", "voice", "speaker-labels")
SETS = ("standard", "large", "fast", "research")
TOOLS = ("ffmpeg", "sox", "espeak-ng", "fluidsynth")
FILES = {
    "timgm6mb-soundfont": Path("/usr/share/sounds/sf2/TimGM6mb.sf2"),
}
# Commands without options -> what they write.
TABLES = {
    "sets": "the table of sets of models into README.md and docs/models.md",
    "corpus-pages": "the counts of training/corpora/pages",
    "choices": "what the heads were chosen by into docs/results/studies.md",
    "speaker-mean": "what the mean of a speaker is worth into docs/results/studies.md",
    "voices": "how well `speakers` separates voices into docs/results/calls.md",
    "added-model": "a small classifier through `undertone models add` into docs/results/added-models.md",
}


def parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="training", description="Trains and evaluates the models of Undertone.")
    commands = parser.add_subparsers(dest="command", required=True)
    small = argparse.ArgumentParser(add_help=False)
    small.add_argument("--small", action="store_true", help="every step over a few recordings; results go into the cache")
    train = commands.add_parser("train", parents=[small], help="trains models")
    train.add_argument("step", choices=STEPS)
    evaluate = commands.add_parser("evaluate", parents=[small], help="evaluates recipes by heads that were fitted without what judges them")
    evaluate.add_argument("sets", nargs="*", type=set_name, metavar="SET", default=list(SETS), help="sets of models, all of them by default")
    evaluate.add_argument("--write", action="store_true", help="put metrics and plots into results, documents and cards")
    baseline = commands.add_parser("baseline-reference", parents=[small], help="fits the reference of the part `baseline`")
    baseline.add_argument("--rates", action="store_true", help="only measure the reference that is there, for docs/results/calls.md")
    diarization = commands.add_parser("diarization", help="prints the errors of `speakers` on recordings with RTTM")
    diarization.add_argument("folder", type=Path, help="WAV files, and RTTM files that name them")
    diarization.add_argument("--set", type=set_name, default=SETS[0])
    diarization.set_defaults(small=False)
    for name, text in TABLES.items():
        commands.add_parser(name, help=f"writes {text}").set_defaults(small=False)
    options = parser.parse_args()
    if options.small and getattr(options, "write", False):
        parser.error("Expected --small or --write, got both: results of a few recordings are not kept")
    return options


def set_name(text: str) -> str:
    if text not in SETS:
        raise argparse.ArgumentTypeError(f"Expected {', '.join(SETS)}, got {text}")
    return text


def check_tools() -> None:
    missing = [tool for tool in TOOLS if shutil.which(tool) is None] + [name for name, path in FILES.items() if not path.exists()]
    if missing:
        raise SystemExit(f"Expected these Debian packages, missing: {' '.join(missing)}")


def check_data() -> None:
    index = settings.DATA / "index.csv"
    if not index.exists():
        raise SystemExit(f"Expected {index}, got none: UNDERTONE_DATA names the folder of the recordings (training/README.md)")


def prepare(small: bool) -> None:
    """Sets the folders, and the number of threads."""
    import torch

    from training.corpora import smoke_subset

    torch.set_num_threads(settings.THREADS)
    if small:
        data = settings.DATA
        settings.use_small()
        if not (settings.DATA / "index.csv").exists():
            smoke_subset.create(data, settings.DATA)
        settings.MODELS.mkdir(parents=True, exist_ok=True)
    settings.CACHE.mkdir(parents=True, exist_ok=True)


def main() -> None:
    options = parse_arguments()
    if options.command == "train":
        check_tools()
    if options.command == "diarization":
        from training.evaluation import diarization

        print(diarization.judge(options.folder, settings.MODELS.with_name(options.set)))
        return
    check_data()
    prepare(options.small)
    if options.command == "train":
        from training.pipeline import train

        train(options.step)
    elif options.command == "evaluate":
        from training.evaluation.evaluate import evaluate

        evaluate(options.sets, options.write)
    elif options.command == "sets":
        from training.reporting import sets_table

        sets_table.write()
    elif options.command == "corpus-pages":
        from training.reporting import corpus_pages

        corpus_pages.write_pages()
    elif options.command == "choices":
        from training.evaluation import choices

        choices.run()
    elif options.command == "speaker-mean":
        from training.evaluation import speaker_mean

        speaker_mean.run()
    elif options.command == "voices":
        from training.evaluation import voices

        voices.run(settings.MODELS)
    elif options.command == "added-model":
        from training.evaluation import added_model

        added_model.run()
    else:
        from training.calibration import reference

        reference.run_baseline(options.rates)


if __name__ == "__main__":
    main()
