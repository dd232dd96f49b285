"""Pipecat processor for an Undertone service."""

from .frames import UserEmotionFrame
from .processor import UserEmotionProcessor

__all__ = ["UserEmotionFrame", "UserEmotionProcessor"]
