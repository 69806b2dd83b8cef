"""The agent's side of one socket: its speeches as the conversation wishes them, and the echo that they leave. Pure."""

from collections.abc import Callable, Iterator, Sequence
from typing import TypeAlias

from antiphon.core.event import Event
from antiphon.core.frame import AudioFormat
from antiphon.core.speech import SpeechConfig
from antiphon.dialog import conversation_actions as wishes
from antiphon.dialog.conversation_log import WireNews
from antiphon.protocol import native_messages as wire
from antiphon.protocol.actions import AgentAction, Cancel, Key, Open
from antiphon.protocol.native import NativeSocket
from antiphon.server.agent.echo import SessionEcho
from antiphon.server.agent.session import AgentSession
from antiphon.server.agent.speech import AgentSpeech

SteerSpeech: TypeAlias = (
    wishes.FlushSpeech
    | wishes.FinishSpeech
    | wishes.HoldSpeech
    | wishes.ReleaseSpeech
    | wishes.PauseSpeech
    | wishes.ContinueSpeech
    | wishes.CancelSpeech
)


class AgentVoices:
    """``keys``: whence streams get theirs. The session remembers its speeches beyond this socket."""

    def __init__(
        self,
        session: AgentSession,
        start: wire.Start,
        native: NativeSocket,
        keys: Iterator[int],
        now_s: Callable[[], float],
    ) -> None:
        """Raises ``AntiphonError`` where the echo of this audio cannot be taken out."""
        self._session = session
        self._output = start.output
        self._native = native
        self._keys = keys
        self._now_s = now_s
        self._open: dict[Key, AgentSpeech] = {}
        self._echo = _echo_of(start, session.plan.echo_delay_ms)

    @property
    def busy(self) -> bool:
        """Whether a speech is being made."""
        return bool(self._open)

    def get(self, key: Key) -> AgentSpeech | None:
        return self._open.get(key)

    def heard(self, data: bytes) -> bytes:
        """The user's audio, without what it has of the agent's."""
        return data if self._echo is None else self._echo.heard(data)

    def deliver(self, speech: AgentSpeech, event: Event) -> Sequence[AgentAction]:
        """An event of its stream, which the conversation knows already, and may have given it up for."""
        if speech.key not in self._open:
            return []
        out = speech.deliver(event)
        self._close_if_complete(speech)
        return out

    def speak(self, wish: wishes.Speak) -> list[AgentAction]:
        known = self._session.speeches.get(wish.speech_id)
        if known is not None:
            return list(known.speak(wish.text))
        session, output = self._session, self._output
        speech = AgentSpeech(
            wish.speech_id,
            next(self._keys),
            session.conversation.turn_of(wish.speech_id),
            wish.held,
            output,
            self._native,
            session.level,
            self._observe,
            self._said,
            self._now_s,
        )
        session.remember(speech)
        self._open[speech.key] = speech
        config = SpeechConfig(
            voice=session.plan.voice,
            language=session.plan.language,
            format=AudioFormat("raw", output.encoding, output.sample_rate_hz),
            words=True,
            lead_s=session.plan.conversation.reply.lead_s,
        )
        return [Open(speech.key, config), *speech.speak(wish.text)]

    def steer(self, wish: SteerSpeech) -> Sequence[AgentAction]:
        """All that is wished of a speech but that it begin."""
        speech = self._session.speeches.get(wish.speech_id)
        if speech is None:
            return []
        match wish:
            case wishes.FlushSpeech():
                return speech.flush(wish.marker)
            case wishes.FinishSpeech():
                out = speech.finish()
                self._close_if_complete(speech)
                return out
            case wishes.HoldSpeech():
                speech.held = True
                return []
            case wishes.ReleaseSpeech():
                return speech.release()
            case wishes.PauseSpeech():
                return self._native.pause_reply(speech.speech_id, self._session.plan.conversation.reply.fade_ms)
            case wishes.ContinueSpeech():
                return self._native.continue_reply(speech.speech_id)
            case wishes.CancelSpeech():
                self._open.pop(speech.key, None)
                if self._echo is not None:
                    self._echo.cleared()
                return [Cancel(speech.key), *speech.cancel(wish.fade_ms)]

    def _close_if_complete(self, speech: AgentSpeech) -> None:
        if speech.complete:
            self._open.pop(speech.key, None)

    def _observe(self, news: WireNews) -> None:
        self._session.observe(news, self._now_s())

    def _said(self, speech_id: str, start_sample: int, data: bytes) -> None:
        if self._echo is not None:
            self._echo.left(data)
        self._session.agent_audio(speech_id, start_sample, data, self._now_s())


def _echo_of(start: wire.Start, delay_ms: int | None) -> SessionEcho | None:
    """A new socket has dropped what the one before had not played, so it begins anew."""
    if delay_ms is None:
        return None
    inward, outward = start.input, start.output
    return SessionEcho(
        inward.encoding, inward.sample_rate_hz, outward.encoding, outward.sample_rate_hz, delay_ms
    )
