"""Data frames of the Python client, with the service at UNDERTONE_URL, and the files of the command in TABLES."""

import math
import os
import pathlib
import unittest

import pandas
import undertone_client as undertone

URL, TOKEN, SAMPLE = os.environ["UNDERTONE_URL"], os.environ["UNDERTONE_TOKEN"], os.environ["SAMPLE"]
TABLES = pathlib.Path(os.environ["TABLES"])
SILENCE = pathlib.Path(SAMPLE).read_bytes()[:44] + bytes(64000)
SPEAKERS = [{"start": 0, "end": 4, "speaker": "A"}, {"start": 8, "end": 20, "speaker": "B"}]


def cells(column):
    return ["" if pandas.isna(value) else value for value in column]


class FramesTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        with undertone.Client(URL, TOKEN) as client:
            cls.report = client.analyze(SAMPLE)
            cls.speakers = client.analyze_speakers(SAMPLE, SPEAKERS)
            cls.quiet = client.emotion(SILENCE)

    def is_table(self, frame, name):
        """Path and error of the command are of files; a report has an id instead."""
        table = pandas.read_csv(TABLES / name).drop(columns=["path", "error"])
        self.assertEqual(list(frame.columns), ["request_id", *table.columns])
        self.assertEqual(len(frame), len(table))
        for column in table.columns:
            self.assertEqual(cells(frame[column]), cells(table[column]), column)

    def test_columns_and_values_are_those_of_the_command(self):
        self.is_table(undertone.to_frame(self.report), "file.csv")
        self.is_table(undertone.to_frame(self.report, by="utterance"), "utterance.csv")
        self.is_table(undertone.to_frame(self.speakers), "speakers.csv")
        self.is_table(undertone.to_frame(self.speakers, by="utterance"), "speakers-utterance.csv")

    def test_a_row_has_the_values_of_its_report(self):
        frame = undertone.to_frame([self.report, self.quiet], keys=["a.wav", "b.wav"])
        self.assertEqual(list(frame.index), ["a.wav", "b.wav"])
        row = frame.loc["a.wav"]
        signals = self.report["emotion"]["signals"]
        self.assertEqual([row["valence_low"], row["valence_high"]], signals["intervals"]["valence"])
        self.assertEqual(row["p_angry"], signals["emotions"]["angry"])
        self.assertEqual(row["emotion_confidence"], signals["confidence"])
        self.assertEqual(row["pause_ratio"], self.report["cognitive"]["measures"]["pause_ratio"]["value"])
        self.assertEqual(row["status"], "ok")
        self.assertEqual(frame.loc["b.wav", "status"], "insufficient_speech")
        self.assertTrue(math.isnan(frame.loc["b.wav", "valence"]))

    def test_the_status_is_that_of_the_signals_that_the_models_have(self):
        lacking = {"status": "not_available", "signals": {}, "warnings": [], "timeline": []}
        frame = undertone.to_frame([{**self.report, "emotion": lacking}, lacking])
        self.assertEqual(list(frame["status"]), ["ok", "not_available"])


unittest.main()
