"""The server speaks with the network cut off: in its process every way out but loopback is closed."""

import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

from .heard import ANSWER, assert_speech, raw_wave
from .required import required
from .running import serving

cartesia = required("cartesia")

# The interpreter imports a module of this name by itself as it starts, before anything else runs.
GUARD = '''
import os
import socket

LOG = os.environ["NETWORK_GUARD_LOG"]
INSIDE = ("127.", "::1", "localhost", "0.0.0.0")


def refuse(what):
    with open(LOG, "a") as log:
        log.write(what + "\\n")
    raise OSError(101, "the network is cut off", what)


def inside(host):
    if isinstance(host, bytes):
        host = host.decode()
    return host is None or host == "" or str(host).startswith(INSIDE)


def guard_connect(name):
    connect = getattr(socket.socket, name)

    def guarded(self, address):
        if self.family in (socket.AF_INET, socket.AF_INET6) and not inside(address[0]):
            refuse(f"{name} {address}")
        return connect(self, address)

    setattr(socket.socket, name, guarded)


def guard_lookup(name):
    lookup = getattr(socket, name)

    def guarded(host, *args, **kwargs):
        if not inside(host):
            refuse(f"{name} {host}")
        return lookup(host, *args, **kwargs)

    setattr(socket, name, guarded)


for name in ("connect", "connect_ex"):
    guard_connect(name)
for name in ("getaddrinfo", "gethostbyname", "gethostbyname_ex", "gethostbyaddr"):
    guard_lookup(name)
'''


@pytest.fixture
def cut_off(tmp_path: Path) -> dict[str, str]:
    """Variables that close the network of a Python process."""
    guard = tmp_path / "guard"
    guard.mkdir()
    (guard / "sitecustomize.py").write_text(textwrap.dedent(GUARD))
    return {"PYTHONPATH": str(guard), "NETWORK_GUARD_LOG": str(tmp_path / "attempts")}


def test_the_cut_is_real(cut_off: dict[str, str]) -> None:
    attempt = "import socket; socket.create_connection(({host!r}, 80), timeout=5)"
    for host in ("192.0.2.1", "host.example"):
        run = subprocess.run(
            [sys.executable, "-c", attempt.format(host=host)], env=cut_off, capture_output=True, text=True, check=False
        )
        assert "the network is cut off" in run.stderr, run.stderr
    assert Path(cut_off["NETWORK_GUARD_LOG"]).read_text().count("\n") == 2


def test_server_starts_and_speaks_with_the_network_cut_off(cut_off: dict[str, str], tmp_path: Path) -> None:
    with serving(tmp_path, variables=cut_off) as server:  # noqa: SIM117
        with cartesia.Cartesia(api_key="any", base_url=server.http, max_retries=0) as client:
            voice = client.voices.list(limit=1).data[0].id
            asked = {"container": "raw", "encoding": "pcm_s16le", "sample_rate": 24000}
            body = client.tts.generate(
                model_id="sonic-3", transcript=ANSWER, voice=voice, output_format=asked
            ).read()
    assert_speech(raw_wave(body, "pcm_s16le", 24000), 24000, ANSWER)
    attempts = Path(cut_off["NETWORK_GUARD_LOG"])
    assert not attempts.exists(), attempts.read_text()
