"""
Usage: example.py URL TOKEN RECORDING

Plays a recording to a pipeline, and prints each user turn with its transcript and emotion. A transport, a speech-to-text
service and turn detection send these frames in an agent.
"""

import asyncio
import json
import sys
import wave
from collections.abc import Iterator
from pathlib import Path

from loguru import logger
from pipecat.frames.frames import EndFrame, Frame, InputAudioRawFrame, TranscriptionFrame, UserStoppedSpeakingFrame
from pipecat.pipeline.pipeline import Pipeline
from pipecat.pipeline.worker import PipelineWorker
from pipecat.processors.frame_processor import FrameDirection, FrameProcessor
from pipecat.workers.runner import WorkerRunner
from undertone_client import AsyncClient
from undertone_pipecat import UserEmotionFrame, UserEmotionProcessor

FRAME_S = 0.02
#: Of examples/sample.wav: the end of each turn, s, and its words.
TURNS: dict[float, str] = {
    turn["end_s"]: turn["text"] for turn in json.loads(Path(__file__).parents[1].joinpath("turns.json").read_text())
}


class TurnPrinter(FrameProcessor):
    """Prints the turns when the pipeline ends."""

    def __init__(self) -> None:
        super().__init__()
        self._transcripts: list[str] = []
        self._emotions: dict[int, UserEmotionFrame] = {}

    async def process_frame(self, frame: Frame, direction: FrameDirection) -> None:
        await super().process_frame(frame, direction)
        if isinstance(frame, TranscriptionFrame):
            self._transcripts.append(frame.text)
        elif isinstance(frame, UserEmotionFrame):
            self._emotions[frame.turn] = frame
        elif isinstance(frame, EndFrame):
            self._print()
        await self.push_frame(frame, direction)

    def _print(self) -> None:
        for turn, emotion in sorted(self._emotions.items()):
            print(f"{emotion.start_s:.1f}-{emotion.end_s:.1f} s: {self._transcripts[turn]}")
            named = {"valence": emotion.valence, "arousal": emotion.arousal}
            scores = [f"{name} {score:.2f}" for name, score in named.items() if score is not None]
            print("  " + ", ".join([emotion.dominant_emotion, *scores, f"{len(emotion.utterances)} utterance(s)"]))


def play(path: str) -> Iterator[Frame]:
    with wave.open(path) as wav:
        rate, channels = wav.getframerate(), wav.getnchannels()
        turns = iter(TURNS.items())
        end_s, text = next(turns)
        while samples := wav.readframes(round(rate * FRAME_S)):
            yield InputAudioRawFrame(samples, rate, channels)
            if wav.tell() >= end_s * rate:
                yield UserStoppedSpeakingFrame()
                yield TranscriptionFrame(text, "user", "")
                end_s, text = next(turns, (float("inf"), ""))
    yield EndFrame()


async def main(url: str, token: str, recording: str) -> None:
    async with AsyncClient(url, token) as client:
        pipeline = Pipeline([UserEmotionProcessor(client), TurnPrinter()])
        worker = PipelineWorker(pipeline)
        await worker.queue_frames(list(play(recording)))
        runner = WorkerRunner()
        await runner.add_workers(worker)
        await runner.run()


if __name__ == "__main__":
    logger.remove()
    asyncio.run(main(*sys.argv[1:]))
