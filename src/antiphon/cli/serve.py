"""``antiphon serve``: the server."""

from pathlib import Path
from typing import Annotated

import typer

from antiphon.cli.app import ConfigOption, VoiceOption, app
from antiphon.cli.house import open_store, transducer_folders, whisper_folders
from antiphon.cli.parent import WhileStdin, leave_with_stdin
from antiphon.core.brain import Brain
from antiphon.core.clock import MonotonicClock, today
from antiphon.engine.brain import RuleBrain
from antiphon.engine.brain_book import load_book
from antiphon.engine.build import House, build
from antiphon.engine.llm import Llm
from antiphon.engine.llm_endpoint import LlmEndpoint
from antiphon.models.session import Sessions
from antiphon.server.run import serve as run_server
from antiphon.settings import BrainSettings, LlmEndpointSettings, Settings, load


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
    limits: Annotated[
        Path | None, typer.Option("--limits", help="Limits that `antiphon bench capacity` wrote for this machine.")
    ] = None,
    voice: VoiceOption = None,
    llm_url: Annotated[
        str | None,
        typer.Option("--llm-url", help="OpenAI-compatible endpoint that answers (its key: ANTIPHON_BRAIN__LLM_KEY)."),
    ] = None,
    llm_model: Annotated[str | None, typer.Option("--llm-model", help="Name of the model there.")] = None,
    log_level: Annotated[str | None, typer.Option("--log-level", help="debug, info, warning or error.")] = None,
    while_stdin: WhileStdin = False,
    config: ConfigOption = None,
) -> None:
    """Speak, listen and hold conversations, over Cartesia's, OpenAI's and our own protocols. Every setting is in
    docs/operations.md."""
    if while_stdin:
        leave_with_stdin()
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
            "server.limits_file": limits,
            "engine.workers": workers,
            "tts.default_voice": voice,
            "brain.llm_url": llm_url,
            "brain.llm_model": llm_model,
            "log.level": log_level,
        },
    )
    raise typer.Exit(run_server(settings, build_house))


def build_house(settings: Settings) -> House:
    """All engines, and who answers. Raises ``AntiphonError`` where a model or a setting is missing."""
    workers = settings.engine.worker_count
    store, voice = open_store(settings), settings.tts.default_voice
    brain = _brain(settings.brain)  # what is wrong with it is said before models are loaded
    return build(
        store.path,
        workers,
        settings.stream_limit,
        voice,
        listeners=settings.listener_limit,
        whisper=whisper_folders(settings, store),
        sherpa=transducer_folders(settings, store),
        brain=brain,
        ssm=settings.tts.ssm,
        sessions=Sessions(settings.engine.provider),
        preload=settings.tts.preload,
        kokoro_streams=settings.tts.kokoro_streams,
        turn_level=settings.stt.turn_level,
    )


def _brain(given: BrainSettings) -> Brain | None:
    """Raises ``InvalidInput``."""
    endpoints = given.endpoints
    if given.llm_url is not None:
        short = LlmEndpointSettings(
            url=given.llm_url,
            model=given.llm_model or "",
            key=given.llm_key,
            first_token_s=given.llm_first_token_s,
            mute_s=given.llm_mute_s,
        )
        endpoints = (short,)
    if endpoints:
        return Llm([_endpoint(one) for one in endpoints], MonotonicClock())
    return None if given.rules is None else RuleBrain(load_book(given.rules), today)


def _endpoint(given: LlmEndpointSettings) -> LlmEndpoint:
    key = given.key.get_secret_value() if given.key else ""
    return LlmEndpoint(given.url, given.model, key, first_token_s=given.first_token_s, mute_s=given.mute_s)
