"""Client of an Undertone service."""

from .client import AsyncClient, Client
from .errors import ApiError, NoAnswerError, SessionEndedError, UndertoneError, ValidationError
from .recording import AsyncRecording, Recording
from .reports import ChannelsReport, CognitiveReport, EmotionReport, Report, StreamToken, ValidationItem
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
    "StreamSession",
    "StreamToken",
    "UndertoneError",
    "ValidationError",
    "ValidationItem",
]
