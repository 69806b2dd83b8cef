"""``antiphon bench``: figures, made the same way everywhere. One file for each command, imported when it runs."""

import typer

from antiphon.cli.app import app
from antiphon.cli.lazy import Lazy, lazy_group

COMMANDS = {
    "tts": Lazy("antiphon.cli.bench_tts", "Measure text to speech: first audio, underruns, capacity, error rate."),
    "stt": Lazy("antiphon.cli.bench_stt", "Measure speech to text: time to the final, turns, errors, cost."),
    "voices": Lazy("antiphon.cli.bench_voices", "How well voices are understood and how they sound, by language."),
    "capacity": Lazy("antiphon.cli.bench_capacity", "The largest load that keeps an objective; the limit to admit by."),
    "ears": Lazy("antiphon.cli.bench_ears", "Ears side by side on the same recordings, whatever their wires."),
    "floor": Lazy("antiphon.cli.bench_floor", "What a message costs the house itself, beside a bare echo."),
    "snapshot": Lazy("antiphon.cli.bench_snapshot", "What a server says of fixed texts, to be compared later."),
    "list": Lazy("antiphon.cli.bench_reports", "The reports that were kept, the newest first."),
    "show": Lazy("antiphon.cli.bench_reports", "A kept report, as Markdown or JSON."),
    "search": Lazy("antiphon.cli.bench_reports", "Find reports by words of their notes and failures."),
    "compare": Lazy("antiphon.cli.bench_reports", "Two reports, or two snapshots of a model: what changed."),
    "report": Lazy("antiphon.cli.bench_reports", "One HTML page: who made the caller wait, pictures, tables."),
    "gate": Lazy("antiphon.cli.bench_reports", "Hold a report against bounds; exit 1 if one is not kept."),
    "conversation": Lazy(
        "antiphon.cli.bench_conversation", "Measure conversations: voice to voice, barge-in, selectivity, tasks."
    ),
    "selftest": Lazy("antiphon.cli.bench_selftest", "Plant faults, measure them, name them: can the bench be trusted?"),
}
"""Every command of the bench; see ``antiphon.cli.lazy``."""

bench: typer.Typer = typer.Typer(
    cls=lazy_group(lambda: bench, COMMANDS),
    help="Measure a server over its wire protocol.",
    no_args_is_help=True,
    rich_markup_mode=None,
)
app.add_typer(bench, name="bench")


@bench.callback()
def root() -> None:
    """Measure a server over its wire protocol."""
