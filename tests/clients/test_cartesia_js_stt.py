"""`@cartesia/cartesia-js` on Node: both listening sockets and a whole recording."""

import base64
import json
import os
import subprocess
from typing import Any

import pytest

from .required import JS, required_node
from .running import Server
from .spoken import QUESTION, RATE_HZ, WISH, assert_understood, assert_words_in_time, pcm, wav
from .test_cartesia_stt import assert_turns

LIMIT_S = 60


@pytest.fixture(scope="module")
def result(server: Server) -> Any:
    """One run of the script; the tests below look at its parts."""
    speech = pcm(server, QUESTION, WISH)
    given = {
        "base": server.http,
        "key": server.key,
        "rate": RATE_HZ,
        "speech": base64.b64encode(speech).decode(),
        "wav": base64.b64encode(wav(speech)).decode(),
    }
    run = subprocess.run(
        [required_node(), "hear.cjs"],
        cwd=JS,
        env={**os.environ},
        input=json.dumps(given),
        capture_output=True,
        text=True,
        timeout=LIMIT_S,
        check=False,
    )
    assert run.returncode == 0, f"{run.stderr}\n{server.tail()}"
    return json.loads(run.stdout)


def test_manual_finalize(result: Any) -> None:
    told = result["finalize"]
    assert [message["type"] for message in told[-2:]] == ["flush_done", "done"]
    finals = [message["text"] for message in told if message["type"] == "transcript" and message["is_final"]]
    assert_understood("".join(finals), QUESTION, WISH)


def test_auto_finalize(result: Any) -> None:
    first, *told = result["turns"]
    assert first["type"] == "connected"
    assert_turns([(message["type"], message.get("transcript")) for message in told], QUESTION, WISH)


def test_transcribe(server: Server, result: Any) -> None:
    answer = result["batch"]
    assert_understood(answer["text"], QUESTION, WISH)
    words = [(word["word"], word["start"], word["end"]) for word in answer["words"]]
    assert_words_in_time(words, answer["text"], len(pcm(server, QUESTION, WISH)) / 2 / RATE_HZ)
