"""``antiphon serve``: the server."""

from pathlib import Path
from typing import Annotated

import typer

from antiphon.cli.app import ConfigOption, VoiceOption, app
from antiphon.cli.house import open_store, whisper_folders
from antiphon.engine.build import House, build
from antiphon.server.run import serve as run_server
from antiphon.settings import Settings, load


@app.command()
def serve(
    host: Annotated[
        str | None, typer.Option(help="Address to listen on. Default: 127.0.0.1 (this machine only).")
    ] = None,
    port: Annotated[int | None, typer.Option(help="Port; 0 takes a free one. Default: 8080.", min=0, max=65535)] = None,
    port_file: Annotated[Path | None, typer.Option("--port-file", help="Write the real port here when ready.")] = None,
    self_signed: Annotated[
        bool | None, typer.Option("--self-signed", help="TLS with a certificate made for this machine.")
    ] = None,
    tls_cert: Annotated[Path | None, typer.Option("--tls-cert", help="TLS certificate (PEM).")] = None,
    tls_key: Annotated[Path | None, typer.Option("--tls-key", help="Its key (PEM).")] = None,
    insecure: Annotated[
        bool | None, typer.Option("--insecure", help="Allow an address other than loopback without API keys.")
    ] = None,
    workers: Annotated[int | None, typer.Option(help="Threads that run models. Default: one per core.", min=1)] = None,
    max_streams: Annotated[int | None, typer.Option("--max-streams", help="Streams of speech at once.", min=1)] = None,
    voice: VoiceOption = None,
    log_level: Annotated[str | None, typer.Option("--log-level", help="debug, info, warning or error.")] = None,
    config: ConfigOption = None,
) -> None:
    """Speak and listen over Cartesia's and OpenAI's protocols. Every setting is in docs/operations.md."""
    settings = load(
        config,
        {
            "server.host": host,
            "server.port": port,
            "server.port_file": port_file,
            "server.tls.self_signed": self_signed,
            "server.tls.cert": tls_cert,
            "server.tls.key": tls_key,
            "server.insecure": insecure,
            "server.max_streams": max_streams,
            "engine.workers": workers,
            "tts.default_voice": voice,
            "log.level": log_level,
        },
    )
    raise typer.Exit(run_server(settings, _build))


def _build(settings: Settings) -> House:
    workers = settings.engine.worker_count
    store, voice = open_store(settings), settings.tts.default_voice
    return build(
        store.path,
        workers,
        settings.stream_limit,
        voice,
        listeners=settings.listener_limit,
        whisper=whisper_folders(settings, store),
    )
