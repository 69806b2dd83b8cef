"""`@cartesia/cartesia-js` on Node, over TLS (its TTS socket knows nothing else) with the self-signed certificate."""

import base64
import json
import os
import subprocess
from typing import Any

import pytest

from .heard import ANSWER, LONG, SHORT, Said, assert_said, assert_speech, file_wave, raw_wave, tokens
from .required import JS, required_node
from .running import Server

LIMIT_S = 60


@pytest.fixture(scope="module")
def result(secured: Server) -> Any:
    """One run of the script; the tests below look at its parts."""
    given = {"base": secured.http, "key": secured.key, "answer": ANSWER, "tokens": tokens(ANSWER)}
    environment = {**os.environ, "NODE_EXTRA_CA_CERTS": str(secured.cert)}
    run = subprocess.run(
        [required_node(), "speak.cjs"],
        cwd=JS,
        env=environment,
        input=json.dumps({**given, "long": LONG, "short": SHORT}),
        capture_output=True,
        text=True,
        timeout=LIMIT_S,
        check=False,
    )
    assert run.returncode == 0, f"{run.stderr}\n{secured.tail()}"
    return json.loads(run.stdout)


def said_by(events: list[dict[str, Any]], context: str) -> Said:
    said = Said()
    for event in events:
        assert event["context_id"] == context
        assert event["type"] != "error", event
        said.types.append(event["type"])
        if event["type"] == "chunk":
            said.audio += base64.b64decode(event["data"])
            said.flush_ids.append(event["flush_id"])
        elif event["type"] == "timestamps":
            times = event["word_timestamps"]
            said.add_words(times["words"], times["start"], times["end"])
    return said


def test_context_speaks_tokens(result: Any) -> None:
    said = said_by(result["answer"], "answer")
    assert said.types[-1] == "done"
    assert said.types.count("done") == 1
    assert_said(said, "pcm_f32le", 44100, ANSWER)


def test_contexts_share_the_socket(result: Any) -> None:
    for name in ("left", "right"):
        assert_said(said_by(result[name], name), "pcm_s16le", 24000, ANSWER if name == "left" else SHORT)


def test_flush_comes_back(result: Any) -> None:
    said = said_by(result["flushed"], "flushed")
    assert_said(said, "pcm_s16le", 24000, f"{SHORT} {SHORT}")
    (at,) = [i for i, event in enumerate(result["flushed"]) if event["type"] == "flush_done"]
    assert result["flushed"][at]["flush_id"] == 1
    before = [event for event in result["flushed"][:at] if event["type"] == "chunk"]
    assert before
    assert set(said.flush_ids) == {1, 2}


def test_cancel_is_silent_at_once(result: Any) -> None:
    """`wire` is every event of the socket from the moment of the cancel."""
    order = [(event["context_id"], event["type"]) for event in result["wire"]]
    contexts = [context for context, _ in order]
    first = contexts.index("after")
    assert "cancelled" not in contexts[first:], "a cancelled context spoke on"
    assert ("cancelled", "done") not in order
    assert_said(said_by(result["after"], "after"), "pcm_s16le", 24000, SHORT)
    assert result["sockets"] == 1


def test_error_is_thrown_with_its_message(result: Any) -> None:
    assert "no-such-voice" in result["error"]["message"]
    assert result["error"]["event"]["status_code"] == 404
    assert_said(said_by(result["recovered"], "recovered"), "pcm_s16le", 24000, SHORT)


def test_bytes_and_events(result: Any) -> None:
    wave, rate_hz, kind = file_wave(base64.b64decode(result["wav"]))
    assert (rate_hz, kind) == (44100, "WAV/PCM_16")
    assert_speech(wave, rate_hz, ANSWER)
    said = Said()
    for event in result["sse"]:
        said.types.append(event["type"])
        if event["type"] == "chunk":
            said.audio += base64.b64decode(event["data"])
        elif event["type"] == "timestamps":
            times = event["word_timestamps"]
            said.add_words(times["words"], times["start"], times["end"])
    assert said.types[-1] == "done"
    assert_said(said, "pcm_s16le", 16000, ANSWER)


def test_voices_tokens_and_refusals(result: Any) -> None:
    assert result["voices"]
    assert len(set(result["voices"])) == len(result["voices"])
    assert result["notFound"] == 404
    assert result["wrongKey"] == 401
    assert result["tokenMayNotList"] == 403
    assert_speech(raw_wave(base64.b64decode(result["byToken"]), "pcm_s16le", 24000), 24000, SHORT)
