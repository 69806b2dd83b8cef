"""The process: one clear line, clear faults, orderly and quick ends."""

import json
import os
import signal
import socket
import ssl
import subprocess
import sys
import time
import urllib.request
from pathlib import Path

import pytest
from websockets.exceptions import ConnectionClosed
from websockets.sync.client import connect

from .support import ORDER

TESTS = Path(__file__).parent.parent


def start(*words: str, **variables: str) -> "subprocess.Popen[str]":
    settings = {f"ANTIPHON_{name}": value for name, value in {"SERVER__PORT": "0", **variables}.items()}
    return subprocess.Popen(
        [sys.executable, "-m", "server.serve_scripted", *words],
        cwd=TESTS,
        env={**os.environ, **settings},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def url_of(process: "subprocess.Popen[str]") -> str:
    assert process.stdout is not None
    line = process.stdout.readline()
    assert line.startswith("antiphon ready: "), line + process.communicate(timeout=5)[1]
    return line.split()[2]


def stop(process: "subprocess.Popen[str]", number: int = signal.SIGTERM) -> tuple[str, str]:
    """What it wrote. ``communicate`` would forget what is buffered beyond the line that was read."""
    process.send_signal(number)
    process.wait(timeout=10)
    assert process.stdout is not None
    assert process.stderr is not None
    return process.stdout.read(), process.stderr.read()


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_R7_an_idle_server_with_an_open_socket_ends_cleanly_within_2_s(number: int) -> None:
    process = start()
    url = url_of(process)
    with connect(url.replace("http", "ws") + "/tts/websocket", proxy=None) as client:
        client.send(json.dumps({**ORDER, "context_id": "c", "transcript": "Hello."}))
        assert [json.loads(client.recv(5))["type"] for _ in range(2)] == ["chunk", "done"]
        began_s = time.monotonic()
        out, err = stop(process, number)
        assert time.monotonic() - began_s < 2
        with pytest.raises(ConnectionClosed):
            client.recv(5)
    assert process.returncode == 0
    assert out.index("brain closed") < out.index("house closed")
    assert "Traceback" not in err


def test_the_line_and_the_port_file_tell_where_it_listens(tmp_path: Path) -> None:
    process = start(SERVER__PORT_FILE=str(tmp_path / "port"), ENGINE__WORKERS="3")
    try:
        url = url_of(process)
        assert int((tmp_path / "port").read_text()) == int(url.rpartition(":")[2])
        with urllib.request.urlopen(url + "/ready", timeout=5) as answer:
            assert answer.status == 200
    finally:
        stop(process)
    assert not (tmp_path / "port").exists()


def test_tls_with_a_certificate_made_here(tmp_path: Path) -> None:
    process = start(SERVER__TLS__SELF_SIGNED="true", SERVER__TLS__DIR=str(tmp_path), SERVER__API_KEYS__A="k")
    try:
        url = url_of(process)
        assert url.startswith("https://")
        trust = ssl.create_default_context(cafile=tmp_path / "antiphon-cert.pem")
        wss = url.replace("https", "wss") + "/tts/websocket?api_key=k"
        with connect(wss, ssl=trust, proxy=None) as client:
            client.send(json.dumps({**ORDER, "context_id": "c", "transcript": "Hello."}))
            assert [json.loads(client.recv(5))["type"] for _ in range(2)] == ["chunk", "done"]
    finally:
        out, _ = stop(process)
    assert process.returncode == 0
    assert "SSL_CERT_FILE" in out


def test_a_taken_port_is_one_line() -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        process = start(SERVER__PORT=str(taken.getsockname()[1]))
        _, err = process.communicate(timeout=10)
    assert process.returncode == 1
    assert "--port 0" in err
    assert len(err.strip().splitlines()) == 1


def test_missing_models_and_failed_warm_ups_are_one_line() -> None:
    for word, told in (("no-model", "antiphon models pull"), ("cold", "graph does not run")):
        process = start(word)
        _, err = process.communicate(timeout=10)
        assert process.returncode == 1
        faults = [line for line in err.splitlines() if line.startswith("antiphon: ")]
        assert len(faults) == 1
        assert told in faults[0]
        assert "Traceback" not in err


def test_bad_certificates_and_open_doors_are_one_line(tmp_path: Path) -> None:
    (tmp_path / "bad.pem").write_text("not a certificate")
    bad = start(SERVER__TLS__CERT=str(tmp_path / "bad.pem"))
    _, err = bad.communicate(timeout=10)
    assert (bad.returncode, len(err.strip().splitlines())) == (1, 1)
    assert "bad.pem" in err
    door = start(SERVER__HOST="0.0.0.0")
    _, err = door.communicate(timeout=10)
    assert (door.returncode, len(err.strip().splitlines())) == (2, 1)
    assert "--insecure" in err


@pytest.mark.parametrize("name", [".", "plain/x", "absent/x"])
def test_a_port_file_that_cannot_be_written_is_one_clear_line(name: str, tmp_path: Path) -> None:
    (tmp_path / "plain").write_text("mine")
    process = start(SERVER__PORT_FILE=str(tmp_path / name))
    _, err = process.communicate(timeout=10)
    assert process.returncode == 1
    assert err.splitlines()[-1].startswith("antiphon: cannot write the port to ")
    assert "Traceback" not in err
    assert (tmp_path / "plain").read_text() == "mine"


def test_a_port_file_that_another_server_wrote_stays(tmp_path: Path) -> None:
    file = tmp_path / "port"
    process = start(SERVER__PORT_FILE=str(file))
    url = url_of(process)
    assert file.read_text() == url.rpartition(":")[2] + "\n"
    file.write_text("1\n")
    stop(process)
    assert file.read_text() == "1\n"


@pytest.mark.parametrize("host", ["a" * 80 + ".example", "nowhere.invalid", "a b"])
def test_a_host_that_is_none_is_one_clear_line(host: str) -> None:
    process = start(SERVER__HOST=host, SERVER__INSECURE="true")
    _, err = process.communicate(timeout=10)
    assert process.returncode == 1
    assert "is not an address of this machine" in err
    assert "Traceback" not in err
