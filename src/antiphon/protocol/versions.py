"""Cartesia API versions: which one a request speaks, and what differs between them.

A client names a date in the header ``Cartesia-Version`` or, on WebSockets, in the query (``cartesia_version``), which
wins. Absent or unknown dates mean the newest behaviour, never an error.
"""

OLDEST = "2024-06-10"
CONTROLS = "2024-11-13"
FLAT_ERRORS = "2025-04-16"
STRUCTURED_ERRORS = "2026-03-01"
NEWEST = "2026-08-14"
KNOWN = (OLDEST, CONTROLS, FLAT_ERRORS, STRUCTURED_ERRORS, NEWEST)


def pick_version(query: str | None, header: str | None) -> str:
    """The version a request speaks, one of :data:`KNOWN`."""
    named = (query or header or "").strip()
    return named if named in KNOWN else NEWEST


def has_structured_errors(version: str) -> bool:
    """HTTP errors are JSON; before, they were the text ``Title: message``."""
    return version >= STRUCTURED_ERRORS


def errors_say_done(version: str) -> bool:
    """Whether a WebSocket error carries ``done: true``.

    The documents say so, but the LiveKit plugin (which speaks 2025-04-16) looks at ``done`` before ``type`` and would
    take such an error for a normal end; every client of a newer version looks at ``type`` first.
    """
    return version > FLAT_ERRORS
