import asyncio
import ssl
import stat
from pathlib import Path

import pytest
import uvicorn

from antiphon.server.binding import bind, config
from antiphon.server.tls import self_signed, trust_hint

from .support import ScriptedEngine, make_app, settings


def test_the_certificate_is_made_once_and_the_key_is_private(tmp_path: Path) -> None:
    cert, key = self_signed(tmp_path / "tls")
    before = cert.read_bytes()
    assert stat.S_IMODE(key.stat().st_mode) == 0o600
    assert self_signed(tmp_path / "tls") == (cert, key)
    assert cert.read_bytes() == before
    assert str(cert) in trust_hint(cert)


def test_another_host_or_damage_makes_a_new_one(tmp_path: Path) -> None:
    cert, _ = self_signed(tmp_path)
    first = cert.read_bytes()
    self_signed(tmp_path, ("voice.example",))
    second = cert.read_bytes()
    assert first != second
    cert.write_bytes(b"damaged")
    self_signed(tmp_path)
    ssl.create_default_context(cafile=cert)


def test_a_client_that_trusts_the_file_accepts_each_local_name(tmp_path: Path) -> None:
    cert, key = self_signed(tmp_path)
    server_context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    server_context.load_cert_chain(cert, key)
    client_context = ssl.create_default_context(cafile=cert)
    for name in ("localhost", "127.0.0.1", "::1"):
        shake_hands(client_context, server_context, name)


def shake_hands(client_context: ssl.SSLContext, server_context: ssl.SSLContext, name: str) -> None:
    """In memory. Raises ``SSLCertVerificationError`` where the certificate is not for ``name``."""
    up, down = ssl.MemoryBIO(), ssl.MemoryBIO()
    client = client_context.wrap_bio(down, up, server_hostname=name)
    server = server_context.wrap_bio(up, down, server_side=True)
    done = [False, False]
    while not all(done):
        for at, side in enumerate((client, server)):
            try:
                side.do_handshake()
                done[at] = True
            except ssl.SSLWantReadError:
                continue


def test_requests_over_tls_leave_no_fault_in_the_loop(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    """uvloop pauses a TLS transport for what its own handshake has left, even before the protocol has begun."""
    pair = self_signed(tmp_path)
    given = settings(server={"tls": {"cert": pair[0], "key": pair[1]}})

    async def test() -> None:
        app, _ = make_app(ScriptedEngine(), given)
        sock = bind(given.server)
        sock.listen()
        server = uvicorn.Server(config(given, app, pair))
        task = asyncio.create_task(server._serve([sock]))
        context = ssl.create_default_context(cafile=pair[0])
        reader, writer = await asyncio.open_connection("127.0.0.1", sock.getsockname()[1], ssl=context)
        writer.write(b"GET /health HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n")
        assert (await reader.read()).startswith(b"HTTP/1.1 200 ")
        writer.close()
        server.should_exit = True
        await task

    loop_factory = uvicorn.Config(None).get_loop_factory()  # type: ignore[arg-type]
    with asyncio.Runner(loop_factory=loop_factory) as runner:
        runner.run(test())
    assert [record.getMessage() for record in caplog.records if record.levelname == "ERROR"] == []
