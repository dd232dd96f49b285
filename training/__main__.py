"""Command line: python -m training train | evaluate | recordings | calls | baseline-reference, or one of TABLES.

The scripts training/train and training/evaluate call it.
"""

import argparse
import shutil
import subprocess
from pathlib import Path

from training import settings

STEPS = ("all", "vad", "speech-check", "trunk", "heads", "fast", "large", "speakers")
TOOLS = ("ffmpeg", "sox", "espeak-ng", "fluidsynth")
FILES = {
    "timgm6mb-soundfont": Path("/usr/share/sounds/sf2/TimGM6mb.sf2"),
}
# Commands without options -> what they write.
TABLES = {
    "adaptation": "how much undertone adapt improves left-out corpora into docs/results/adaptation.md",
    "left-out": "how good emotions are on corpora left out of the heads in turn into docs/results/studies.md",
    "encoders": "how good linear heads on frozen encoders are on corpora left out into docs/results/studies.md",
    "recipes": "which recipes of heads and weights of the trunk generalise into docs/results/studies.md",
    "tuning": "which weights of a trunk to tune into docs/results/studies.md",
    "relative": "what a baseline is worth for emotion into docs/results/calls.md",
    "disclosure": "what can be read out of embeddings into docs/adapt.md",
    "power": "how many recordings an evaluation needs into docs/results/adaptation.md",
    "sets": "the table of sets of models into README.md and docs/models.md",
    "corpus-pages": "the counts of training/corpora/pages",
}


def parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="training", description="Trains and evaluates the models of Undertone.")
    commands = parser.add_subparsers(dest="command", required=True)
    small = argparse.ArgumentParser(add_help=False)
    small.add_argument("--small", action="store_true", help="every step over a few recordings; results go into the cache")
    permissive = argparse.ArgumentParser(add_help=False)
    permissive.add_argument("--open", action="store_true", help="models/open, of recordings whose licences allow commercial use")
    train = commands.add_parser("train", parents=[small, permissive], help="trains models")
    train.add_argument("step", choices=STEPS)
    evaluate = commands.add_parser("evaluate", parents=[small], help="evaluates the shipped pipeline on the test part")
    evaluate.add_argument("--write", action="store_true", help="put metrics and plots into results, documents and cards")
    evaluate.add_argument("--models", type=Path, help="another folder of models, compared with the shipped ones")
    recordings = commands.add_parser("recordings", help="writes how utterances are scored in recordings, beside clips, into docs/results/recordings.md")
    recordings.add_argument("--models", type=Path, help="one folder of models in place of models/standard and models/fast")
    recordings.add_argument("--out", type=Path, help="the figures as JSON, in place of results and documents")
    recordings.set_defaults(small=False)
    calls = commands.add_parser("calls", help="writes which moments of calls are found into docs/results/calls.md")
    calls.add_argument("--models", type=Path, help="one folder of models in place of the shipped ones")
    calls.set_defaults(small=False)
    baseline = commands.add_parser("baseline-reference", parents=[small, permissive], help="fits the reference of the part `baseline`")
    baseline.add_argument("--rates", action="store_true", help="only measure the reference that is there, for docs/results/calls.md")
    for name, text in TABLES.items():
        commands.add_parser(name, help=f"writes {text}").set_defaults(small=False)
    options = parser.parse_args()
    if options.small and getattr(options, "write", False):
        parser.error("Expected --small or --write, got both: results of a few recordings are not kept")
    return options


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


def build_service() -> None:
    subprocess.run(["npm", "run", "--silent", "build:service"], cwd=settings.REPOSITORY, check=True)


def main() -> None:
    options = parse_arguments()
    if options.command == "train":
        check_tools()
    check_data()
    if getattr(options, "open", False):
        settings.use_open()
    prepare(options.small)
    if options.command == "train":
        from training.pipeline import train

        train(options.step)
    elif options.command == "evaluate":
        from training.evaluation.evaluate import evaluate

        build_service()
        evaluate(options.models or settings.MODELS, options.write)
    elif options.command == "recordings":
        from training.evaluation.evaluate import evaluate_recordings
        from training.evaluation.recordings import shipped

        build_service()
        evaluate_recordings([options.models] if options.models else shipped(), options.out)
    elif options.command == "calls":
        from training.evaluation import calls

        build_service()
        calls.run([options.models] if options.models else [settings.sibling_models(name) for name in calls.SETS])
    elif options.command == "adaptation":
        from training.studies import adaptation

        adaptation.run()
    elif options.command == "left-out":
        from training.studies import left_out

        left_out.run()
    elif options.command == "encoders":
        from training.studies import encoders

        encoders.run()
    elif options.command == "recipes":
        from training.studies import encoders

        encoders.run_recipes()
    elif options.command == "tuning":
        from training.studies import tuning

        tuning.run()
    elif options.command == "relative":
        from training.evaluation import relative

        relative.run(list(relative.SETS))
    elif options.command == "disclosure":
        from training.studies import disclosure

        disclosure.run()
    elif options.command == "power":
        from training.studies import power

        power.run()
    elif options.command == "sets":
        from training.reporting import sets_table

        sets_table.write()
    elif options.command == "corpus-pages":
        from training.reporting import corpus_pages

        corpus_pages.write_pages()
    else:
        from training.calibration import reference

        reference.run_baseline(options.rates)


if __name__ == "__main__":
    main()
