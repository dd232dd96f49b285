"""LiveKit speech-to-text with voice profiles of an Undertone service."""

from .stt import VoiceProfileSTT

__all__ = ["VoiceProfileSTT"]
