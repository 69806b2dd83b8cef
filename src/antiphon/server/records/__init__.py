"""What is kept of conversations: turn records, transcripts, audio and spans, each kind of data in its own place."""

from antiphon.server.records.boundaries import may_keep_sessions, report, table, violations
from antiphon.server.records.keepers import Keepers, require_boundaries
from antiphon.server.records.turn_shape import stages_ms
from antiphon.server.records.turns import MakeSink, TurnsOnly, records_for

__all__ = [
    "Keepers",
    "MakeSink",
    "TurnsOnly",
    "may_keep_sessions",
    "records_for",
    "report",
    "require_boundaries",
    "stages_ms",
    "table",
    "violations",
]
