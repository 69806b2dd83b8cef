import json
import logging

import pytest

from antiphon.server.journal import Crashed, Refused
from antiphon.server.observe.log_lines import LineFormat, LogLines
from antiphon.server.observe.tally import tallied

from .test_metrics import life


def test_one_line_for_a_stream_with_its_request_id(caplog: pytest.LogCaptureFixture) -> None:
    fold = tallied(LogLines().fold)
    with caplog.at_level(logging.INFO, "antiphon"):
        for entry in life(1, "cancelled"):
            fold(entry)
    (record,) = caplog.records
    assert record.getMessage() == "stream"
    values = record.values  # type: ignore[attr-defined]
    assert (values["request_id"], values["outcome"]) == ("r1", "cancelled")
    assert (values["ttfb_ms"], values["chars"]) == (80.0, 12)


@pytest.mark.parametrize("as_json", [True, False])
def test_a_message_cannot_forge_a_line(as_json: bool, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.INFO, "antiphon"):
        LogLines().fold(Refused(1.0, "r", "/voices", "auth", 'bad\nINFO forged="yes"'))
    line = LineFormat(as_json).format(caplog.records[0])
    assert "\n" not in line
    if as_json:
        assert json.loads(line)["message"] == 'bad\nINFO forged="yes"'
        assert json.loads(line)["event"] == "refused"


@pytest.mark.parametrize("as_json", [True, False])
def test_personal_data_in_what_may_quote_a_caller_is_replaced(as_json: bool, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.INFO, "antiphon"):
        LogLines().fold(Refused(1.0, "req1234567890", "/voices", "invalid", "unknown voice 'a.b@mail.example'"))
        LogLines().fold(Crashed(1.0, "r", "/voices", "ValueError: 4111 1111 1111 1111"))
        logging.getLogger("antiphon").warning("call %s back", "+1 212 555 0187")
        try:
            raise ValueError("4111111111111111")
        except ValueError:
            logging.getLogger("antiphon").exception("failed")
    lines = [LineFormat(as_json).format(record) for record in caplog.records]
    text = "\n".join(lines)
    assert "mail.example" not in text
    assert "4111" not in text
    assert "0187" not in text
    assert "[email]" in lines[0]
    assert "req1234567890" in lines[0]
    assert "[card]" in lines[1]
    assert "call [phone] back" in lines[2]
    assert "[card]" in lines[3]
    assert "mail.example" in LineFormat(as_json, str).format(caplog.records[0])
