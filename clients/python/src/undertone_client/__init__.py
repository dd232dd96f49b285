"""Client of an Undertone service."""

from .client import AsyncClient, Client
from .errors import ApiError, NoAnswerError, UndertoneError, ValidationError
from .recording import AsyncRecording, Recording
from .reports import CognitiveReport, EmotionReport, Report, ValidationItem

__all__ = [
    "ApiError",
    "AsyncClient",
    "AsyncRecording",
    "Client",
    "CognitiveReport",
    "EmotionReport",
    "NoAnswerError",
    "Recording",
    "Report",
    "UndertoneError",
    "ValidationError",
    "ValidationItem",
]
