"""Client of an Undertone service."""

from .client import AsyncClient, Client, SpeakerSegment
from .errors import (
    ApiError,
    ForbiddenError,
    JobFailedError,
    NoAnswerError,
    NotFoundError,
    RateLimitedError,
    ReceiptError,
    SessionEndedError,
    UnauthenticatedError,
    UnavailableError,
    UndertoneError,
    ValidationError,
    WebhookError,
)
from .frames import to_frame
from .jobs import AsyncJobs, Jobs
from .receipts import verify_receipt
from .recording import AsyncRecording, Recording
from .reports import (
    ChannelsReport,
    CognitiveReport,
    EmotionReport,
    Job,
    JobBegun,
    JobsBegun,
    JobSummary,
    Report,
    SpeakersReport,
    StreamToken,
    Usage,
    ValidationItem,
)
from .stream import Message, ReconnectedMessage, StreamSession
from .webhook import verify_webhook

__all__ = [
    "ApiError",
    "AsyncClient",
    "AsyncJobs",
    "AsyncRecording",
    "ChannelsReport",
    "Client",
    "CognitiveReport",
    "EmotionReport",
    "ForbiddenError",
    "Job",
    "JobBegun",
    "JobFailedError",
    "JobSummary",
    "Jobs",
    "JobsBegun",
    "Message",
    "NoAnswerError",
    "NotFoundError",
    "RateLimitedError",
    "ReceiptError",
    "ReconnectedMessage",
    "Recording",
    "Report",
    "SessionEndedError",
    "SpeakerSegment",
    "SpeakersReport",
    "StreamSession",
    "StreamToken",
    "UnauthenticatedError",
    "UnavailableError",
    "UndertoneError",
    "Usage",
    "ValidationError",
    "ValidationItem",
    "WebhookError",
    "to_frame",
    "verify_receipt",
    "verify_webhook",
]
