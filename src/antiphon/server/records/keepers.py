"""What keeps records of conversations in this server, as the settings say: opened together, closed together."""

import logging
from collections.abc import Callable, Sequence

from antiphon.core.clock import unix_time_s
from antiphon.core.errors import AntiphonError
from antiphon.server.records.boundaries import KINDS, violations
from antiphon.server.records.recorder import Recorder
from antiphon.server.records.spans import TurnSpans
from antiphon.server.records.turns import MakeSink
from antiphon.settings import Settings, SettingsError

log = logging.getLogger("antiphon")


class Keepers:
    """``sinks`` are for :func:`~antiphon.server.app.create_app`."""

    def __init__(self, settings: Settings, now_unix_s: Callable[[], float] = unix_time_s) -> None:
        """Raises ``SettingsError`` where an extra is missing, or the folder cannot be written."""
        self._recorder: Recorder | None = None
        self._spans: TurnSpans | None = None
        telemetry, record = settings.telemetry, settings.record
        try:
            if telemetry.otlp_url is not None:
                self._spans = TurnSpans(telemetry)
        except AntiphonError as error:
            raise SettingsError(str(error)) from None
        if record.dir is not None:
            try:
                record.dir.mkdir(mode=0o700, parents=True, exist_ok=True)
            except OSError as error:
                raise SettingsError(f"record.dir: {record.dir} cannot be made: {error.strerror}") from None
            keep = {kind: float(getattr(settings.boundaries, kind).keep_days) for kind in KINDS}
            self._recorder = Recorder(record.dir, record, keep, now_unix_s, log.warning)

    @property
    def sinks(self) -> Sequence[MakeSink]:
        made: list[MakeSink] = []
        if self._recorder is not None:
            made.append(self._recorder.session)
        if self._spans is not None:
            made.append(self._spans.session)
        return made

    def close(self) -> None:
        """Write and send what waits, for a few seconds at the most."""
        if self._recorder is not None and not self._recorder.close():
            log.warning("recording: the disk did not take the last of it in time")
        if self._spans is not None:
            self._spans.close()


def require_boundaries(settings: Settings) -> None:
    """Raises ``SettingsError`` where the configuration would break a stated boundary."""
    broken = violations(settings)
    if broken:
        more = f" ({len(broken) - 1} more: antiphon check --boundaries)" if len(broken) > 1 else ""
        raise SettingsError(broken[0] + more)
