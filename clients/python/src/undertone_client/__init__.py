"""Client of an Undertone service."""

from .client import AsyncClient, Client, SpeakerSegment
from .errors import ApiError, NoAnswerError, SessionEndedError, UndertoneError, ValidationError
from .recording import AsyncRecording, Recording
from .reports import ChannelsReport, CognitiveReport, EmotionReport, Report, SpeakersReport, StreamToken, ValidationItem
from .stream import Message, StreamSession

__all__ = [
    "ApiError",
    "AsyncClient",
    "AsyncRecording",
    "ChannelsReport",
    "Client",
    "CognitiveReport",
    "EmotionReport",
    "Message",
    "NoAnswerError",
    "Recording",
    "Report",
    "SessionEndedError",
    "SpeakerSegment",
    "SpeakersReport",
    "StreamSession",
    "StreamToken",
    "UndertoneError",
    "ValidationError",
    "ValidationItem",
]
