"""Folds over the journal, and over the turns of conversations: metrics and log lines."""

from antiphon.server.observe.log_lines import LineFormat, LogLines, configure_logging
from antiphon.server.observe.metrics import CONTENT_TYPE, Metrics
from antiphon.server.observe.tally import tallied

__all__ = ["CONTENT_TYPE", "LineFormat", "LogLines", "Metrics", "configure_logging", "tallied"]
