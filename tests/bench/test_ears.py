"""Ears without a wire, and over OpenAI's transcription wire, beside each other."""

import numpy as np
import pytest
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, PlainTextResponse, Response
from starlette.routing import Route

from antiphon.audio.wav import parse_header
from antiphon.bench.clip import Clip
from antiphon.bench.ears import compare_ears
from antiphon.bench.target.inproc_ear import InProcessEar
from antiphon.bench.target.openai_transcription import OpenaiTranscription
from antiphon.core.frame import Samples

from .scripted_server import serving

FAST = 1e4
CLIPS = [
    Clip(f"clip {at}", np.full(16_000, 0.1, np.float32), speech=(1_600, 12_800), reference=f"number {word}")
    for at, word in enumerate(("one", "two", "three"))
]


class TranscriptionServer:
    """Hears ``number one`` in everything; refuses the third file."""

    def __init__(self) -> None:
        self.files: list[bytes] = []
        self.models: list[str] = []
        self.app = Starlette(
            routes=[
                Route("/", lambda _: JSONResponse({})),
                Route("/v1/audio/transcriptions", self._hear, methods=["POST"]),
            ]
        )

    async def _hear(self, request: Request) -> Response:
        async with request.form() as form:
            self.files.append(await form["file"].read())  # type: ignore[union-attr]
            self.models.append(str(form["model"]))
        if len(self.files) == 3:
            return PlainTextResponse("too many", 429)
        return JSONResponse({"text": "number one"})


def column(report: object, name: str) -> list[object]:
    (table,) = report.tables  # type: ignore[attr-defined]
    return [row[table.columns.index(name)] for row in table.rows]


def test_ears_hear_the_same_clips_up_to_their_true_end() -> None:
    lengths: list[int] = []

    def load() -> object:
        def hear(samples: Samples) -> str:
            lengths.append(len(samples))
            return "number two"

        return hear

    ear = InProcessEar("two", load, threads=1, speed=FAST)  # type: ignore[arg-type]
    report = compare_ears([ear], CLIPS)
    assert lengths == [12_800] * 3
    assert column(report, "WER %") == [pytest.approx(100 * 2 / 6)]
    assert column(report, "failed") == [0]
    (final,) = column(report, "final p50 ms")
    assert isinstance(final, float)
    assert final >= 0


def test_whole_files_go_over_openais_wire() -> None:
    server = TranscriptionServer()
    with serving(server) as url:  # type: ignore[arg-type]
        report = compare_ears([OpenaiTranscription(url, model="m", speed=FAST)], CLIPS)
    assert server.models == ["m"] * 3
    for file in server.files:
        found = parse_header(file)
        assert found is not None
        assert found.sample_rate_hz == 16_000
        assert len(file) == len(server.files[0])
    assert column(report, "failed") == [1], "the third was refused"
    assert column(report, "WER %") == [pytest.approx(100 * 3 / 6)], "a refused clip costs all its words"
    assert "429" in report.details["heard"]["openai-transcription"][2].error


def test_systems_take_turns_block_by_block() -> None:
    ears = [InProcessEar(name, lambda: lambda _: "x", threads=1, speed=FAST) for name in "ab"]
    steps: list[str] = []
    compare_ears(ears, CLIPS * 2, progress=steps.append)
    assert [step[0] for step in steps] == ["a", "b", "b", "a"]
