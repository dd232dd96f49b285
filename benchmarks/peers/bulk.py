"""Many recordings with a process per core: bulk.py opensmile | models LIST PROCESSES. Prints the number of the recordings.

opensmile: the eGeMAPS functionals alone. models: log-mel by librosa and the graphs in the folder PEER_MODELS, of windows of 10 s.
"""

import multiprocessing
import sys

WINDOW = 1000  # frames


def open_opensmile():
    import opensmile

    level = opensmile.FeatureLevel.Functionals
    smile = opensmile.Smile(feature_set=opensmile.FeatureSet.eGeMAPSv02, feature_level=level)
    return smile.process_file


def open_models():
    import stack

    sessions = stack.Sessions()

    def analyze(path):
        with open(path, "rb") as file:
            samples = stack.read(file.read())
        frames = len(samples) // 160
        spans = ",".join(f"{start}-{min(start + WINDOW, frames)}" for start in range(0, frames, WINDOW))
        return stack.judge(sessions, samples, ["emotion", "cognitive"], spans)

    return analyze


def prepare(name):
    global run
    run = {"opensmile": open_opensmile, "models": open_models}[name]()


def analyze(path):
    run(path)
    return 1


if __name__ == "__main__":
    name, listed, processes = sys.argv[1], sys.argv[2], int(sys.argv[3])
    with open(listed) as file:
        paths = file.read().split("\n")[:-1]
    with multiprocessing.Pool(processes, prepare, [name]) as pool:
        print(sum(pool.imap_unordered(analyze, paths, 4)))
