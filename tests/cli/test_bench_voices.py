"""Which voices a run of ``antiphon bench voices`` is about, of those that a server lists."""

import json
from http.server import BaseHTTPRequestHandler, HTTPServer
from threading import Thread
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest

from antiphon.cli.bench_voices import DEFAULT, _speakers
from antiphon.core.errors import NotFound


def voice(name: str, engine: str, language: str) -> dict[str, Any]:
    locales = [{"locale": f"{language}-XX"}]
    return {"id": f"id-{name.lower()}", "name": name, "engine": engine, "language": language, "locales": locales}


VOICES = [
    voice("Heart", "hibari", "en"),
    voice("af_heart", "kokoro", "en"),
    voice("jf_alpha", "kokoro", "ja"),
    voice("German (eSpeak)", "espeak", "de"),
]


class Listing(BaseHTTPRequestHandler):
    """``GET /voices`` in pages of two, and ``GET /voices/espeak-de``."""

    def do_GET(self) -> None:
        parts = urlsplit(self.path)
        if parts.path == "/voices":
            after = parse_qs(parts.query).get("starting_after", [""])[0]
            start = 1 + next((at for at, each in enumerate(VOICES) if each["id"] == after), -1)
            page = VOICES[start : start + 2]
            more = start + 2 < len(VOICES)
            self.answer(200, {"data": page, "next_page": page[-1]["id"] if more else None})
        elif parts.path == "/voices/espeak-de":
            self.answer(200, VOICES[3])
        else:
            self.answer(404, {})

    def answer(self, status: int, body: dict[str, Any]) -> None:
        self.send_response(status)
        self.end_headers()
        self.wfile.write(json.dumps(body).encode())

    def log_message(self, format: str, *args: object) -> None: ...


@pytest.fixture(name="url")
def _url() -> Any:
    with HTTPServer(("127.0.0.1", 0), Listing) as server:
        thread = Thread(target=server.serve_forever)
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()
        thread.join()


def test_voices_by_name_by_id_by_alias_and_by_engine(url: str) -> None:
    found = _speakers(url, "", ("kokoro", "heart", "id-heart", "espeak-de"))
    assert [speaker.name for speaker in found] == ["af_heart", "jf_alpha", "Heart", "German (eSpeak)"]
    assert (found[1].language, found[1].locale, found[1].engine) == ("ja", "ja-XX", "kokoro")
    with pytest.raises(NotFound, match="no voice 'nobody'"):
        _speakers(url, "", ("nobody",))


def test_without_names_whoever_is_here(url: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert [speaker.name for speaker in _speakers(url, "", ())] == [each["name"] for each in VOICES]
    left_out = capsys.readouterr().err
    assert left_out.count("left out") == len(DEFAULT) - 3
    assert "ssm" in left_out
