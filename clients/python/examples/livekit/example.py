"""
Usage: example.py URL TOKEN RECORDING

Plays a recording to an agent, and prints each transcript with its voice profile. A room, a speech-to-text service and a
language model take the places of `Recording` and `ScriptedSTT` in an application.
"""

import asyncio
import json
import logging
import sys
import wave
from collections.abc import AsyncIterable, AsyncIterator, Sequence
from pathlib import Path
from typing import Any

from livekit import rtc
from livekit.agents import (
    DEFAULT_API_CONNECT_OPTIONS,
    NOT_GIVEN,
    Agent,
    AgentSession,
    APIConnectOptions,
    LanguageCode,
    ModelSettings,
    NotGivenOr,
    stt,
)
from livekit.agents.utils import AudioBuffer
from livekit.agents.voice.io import AudioInput
from undertone_client import AsyncClient
from undertone_livekit import VoiceProfileSTT

FRAME_S = 0.02
#: Of examples/sample.wav: the end of each turn, s, and its words.
TURNS: dict[float, str] = {
    turn["end_s"]: turn["text"] for turn in json.loads(Path(__file__).parents[1].joinpath("turns.json").read_text())
}


class ScriptedSTT(stt.STT[Any]):
    """:param script: what is said, and where in the audio it is transcribed, s"""

    def __init__(self, script: Sequence[tuple[float, stt.SpeechData]]) -> None:
        super().__init__(capabilities=stt.STTCapabilities(streaming=True, interim_results=False))
        self.script = script

    def stream(
        self,
        *,
        language: NotGivenOr[str] = NOT_GIVEN,
        conn_options: APIConnectOptions = DEFAULT_API_CONNECT_OPTIONS,
    ) -> stt.RecognizeStream:
        return ScriptedStream(self, conn_options)

    async def _recognize_impl(
        self, buffer: AudioBuffer, *, language: NotGivenOr[str] = NOT_GIVEN, conn_options: APIConnectOptions
    ) -> stt.SpeechEvent:
        raise NotImplementedError


class ScriptedStream(stt.RecognizeStream):
    def __init__(self, owner: ScriptedSTT, conn_options: APIConnectOptions) -> None:
        super().__init__(stt=owner, conn_options=conn_options)
        self._script = list(owner.script)

    async def _run(self) -> None:
        samples = 0
        async for item in self._input_ch:
            if not isinstance(item, rtc.AudioFrame):
                continue
            samples += item.samples_per_channel
            while self._script and samples >= self._script[0][0] * item.sample_rate:
                _, data = self._script.pop(0)
                self._event_ch.send_nowait(stt.SpeechEvent(stt.SpeechEventType.FINAL_TRANSCRIPT, alternatives=[data]))


class Recording(AudioInput):
    """Ends each turn, and waits for its transcript: a file has no real time."""

    def __init__(self, path: str, transcribed: asyncio.Semaphore) -> None:
        super().__init__(label=path)
        self.ended = asyncio.Event()
        self._frames = self._read(path, transcribed)

    async def __anext__(self) -> rtc.AudioFrame:
        return await anext(self._frames)

    async def _read(self, path: str, transcribed: asyncio.Semaphore) -> AsyncIterator[rtc.AudioFrame]:
        with wave.open(path) as wav:
            rate, channels = wav.getframerate(), wav.getnchannels()
            ends = list(TURNS)
            while samples := wav.readframes(round(rate * FRAME_S)):
                yield rtc.AudioFrame(samples, rate, channels, len(samples) // channels // 2)
                if ends and wav.tell() >= ends[0] * rate:
                    ends.pop(0)
                    await transcribed.acquire()
        self.ended.set()


class ToneAgent(Agent):
    def __init__(self, transcribed: asyncio.Semaphore) -> None:
        super().__init__(instructions="")
        self._transcribed = transcribed

    async def stt_node(
        self, audio: AsyncIterable[rtc.AudioFrame], model_settings: ModelSettings
    ) -> AsyncIterable[stt.SpeechEvent]:
        async for event in Agent.default.stt_node(self, audio, model_settings):
            if event.type == stt.SpeechEventType.FINAL_TRANSCRIPT:
                print_profile(event.alternatives[0])
                self._transcribed.release()
            yield event


def print_profile(data: stt.SpeechData) -> None:
    print(data.text)
    if data.metadata is None:
        print("  no profile")
        return
    emotion, measurement = data.metadata["voice_profile"]["emotion"][0], data.metadata["undertone"].get("measurement")
    shown = [f"{emotion['label']} ({emotion['confidence']:.2f})"]
    if measurement is not None:
        tone = measurement["emotion"]["tone"]
        shown += [*([] if tone is None else [f"tone {tone}"]), *measurement["warnings"]]
    print(f"  {', '.join(shown)}")


async def main(url: str, token: str, recording: str) -> None:
    transcribed = asyncio.Semaphore(0)
    script = [(end_s, stt.SpeechData(LanguageCode("en"), text)) for end_s, text in TURNS.items()]
    async with AsyncClient(url, token) as client:
        voice = VoiceProfileSTT(ScriptedSTT(script), client, max_wait_s=60)
        session = AgentSession[None](stt=voice, vad=None, turn_handling={"turn_detection": "manual"})
        audio = session.input.audio = Recording(recording, transcribed)
        await session.start(ToneAgent(transcribed))
        await audio.ended.wait()
        await session.aclose()


if __name__ == "__main__":
    logging.getLogger("livekit.agents").setLevel(logging.ERROR)
    asyncio.run(main(*sys.argv[1:]))
