"""Antiphon: a self-hosted, real-time voice AI server."""

__version__ = "0.1.0"
