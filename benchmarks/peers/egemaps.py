"""Times openSMILE's eGeMAPS functionals: egemaps.py FILE.wav ROUNDS. Prints milliseconds per call as JSON."""

import json
import sys
import time

import opensmile

file, rounds = sys.argv[1], int(sys.argv[2])
smile = opensmile.Smile(feature_set=opensmile.FeatureSet.eGeMAPSv02, feature_level=opensmile.FeatureLevel.Functionals)
milliseconds = []
for turn in range(-2, rounds):
    started = time.perf_counter()
    smile.process_file(file)
    if turn >= 0:
        milliseconds.append(1000 * (time.perf_counter() - started))
print(json.dumps(milliseconds))
