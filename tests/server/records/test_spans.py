import sys
from dataclasses import replace
from itertools import pairwise

import pytest

from antiphon.core.errors import InvalidInput
from antiphon.server.records.spans import TurnSpans
from antiphon.server.records.turns import records_for
from antiphon.settings import TelemetrySettings

from .support import BEGAN_UNIX_S, conversation, facts

pytest.importorskip("opentelemetry.sdk")
from opentelemetry.sdk.trace import ReadableSpan
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

TRACE, PARENT = "0af7651916cd43dd8448eb211c80319c", "b7ad6b7169203331"


def spans_of(traceparent: str = "") -> tuple[ReadableSpan, ...]:
    exporter = InMemorySpanExporter()
    spans = TurnSpans(TelemetrySettings(service_name="shop"), exporter)
    conversation(records_for([spans.session])(replace(facts(), traceparent=traceparent)))
    found = exporter.get_finished_spans()
    spans.close()
    return found


def named(spans: tuple[ReadableSpan, ...], name: str) -> list[ReadableSpan]:
    return [span for span in spans if span.name == name]


def test_a_session_is_one_trace_with_its_turns_and_their_stages() -> None:
    spans = spans_of()
    assert len({span.context.trace_id for span in spans}) == 1
    (root,) = named(spans, "conversation")
    assert root.parent is None
    assert root.resource.attributes["service.name"] == "shop"
    assert root.attributes is not None
    assert root.attributes["antiphon.session_id"] == "as_1"
    assert root.attributes["antiphon.route"] == "/agents/websocket"
    assert root.start_time == round(BEGAN_UNIX_S * 1e9)
    turns = named(spans, "turn")
    assert [turn.parent.span_id for turn in turns if turn.parent] == [root.context.span_id] * 2
    assert [turn.attributes["antiphon.outcome"] for turn in turns if turn.attributes] == ["interrupted", "answered"]
    for turn in turns:
        (silence,) = [span for span in named(spans, "silence") if span.parent and turn.context == span.parent]
        stages = [span for span in spans if span.parent == silence.context]
        assert stages
        assert stages[0].start_time == silence.start_time
        assert stages[-1].end_time == silence.end_time
        for one, other in pairwise(stages):
            assert one.end_time == other.start_time
    (tool, *_) = named(spans, "tool")
    assert tool.attributes is not None
    assert tool.attributes["antiphon.tool"] == "look_up"


def test_the_callers_trace_goes_on() -> None:
    (root,) = named(spans_of(f"00-{TRACE}-{PARENT}-01"), "conversation")
    assert f"{root.context.trace_id:032x}" == TRACE
    assert root.parent is not None
    assert f"{root.parent.span_id:016x}" == PARENT


@pytest.mark.parametrize("bad", ["nonsense", "00-0-0-01", f"00-{'0' * 32}-{PARENT}-01", "00-" + "x" * 10_000])
def test_a_traceparent_that_is_none_is_ignored(bad: str) -> None:
    (root,) = named(spans_of(bad), "conversation")
    assert root.parent is None


def test_spans_have_nobodys_words() -> None:
    text = "".join(span.to_json() for span in spans_of())
    for word in ("Anna", "order", "stop that", "Thank", "mail.example"):
        assert word not in text


def test_without_the_extra_the_message_names_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "opentelemetry.sdk.trace", None)
    with pytest.raises(InvalidInput, match=r"antiphon\[otel\]"):
        TurnSpans(TelemetrySettings(otlp_url="http://127.0.0.1:4318/v1/traces"))
