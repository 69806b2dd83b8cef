"""A recording as an ear heard it: what was sent when, what came back when."""

from collections.abc import Callable
from dataclasses import dataclass

import msgspec

from antiphon.bench.clip import Clip
from antiphon.bench.recording import Recording
from antiphon.protocol.cartesia_stt_messages import (
    SttMessage,
    SttTranscript,
    TurnEagerEnd,
    TurnEnd,
    TurnsMessage,
    TurnUpdate,
    decode_stt_message,
    decode_turns_message,
)

FINALIZE, CLOSE = "finalize", "close"
"""Names of the marks in a recording: just before the command was sent."""

Decode = Callable[[bytes | str], SttMessage | TurnsMessage]


@dataclass(frozen=True, slots=True)
class Hearing:
    """One clip as it was heard. Times are monotonic seconds of the client.

    ``begin_s``: when the first sample of the clip was spoken: sample ``n`` is due at ``begin_s + n / rate`` (None: it
    never began). ``finalize_s``, ``close_s``: just before the command went out. ``messages[i]`` arrived at
    ``stamps_s[i]``. ``behind_s``: how late the worst piece of audio was sent, the client's fault. ``unknown``: messages
    that could not be read. ``ended_s``: the server had said all, or failed. ``error`` is empty when all went well.
    """

    clip: Clip
    begin_s: float | None
    finalize_s: float | None
    close_s: float | None
    stamps_s: tuple[float, ...]
    messages: tuple[SttMessage | TurnsMessage, ...]
    behind_s: float
    ended_s: float | None
    unknown: int = 0
    error: str = ""
    status: int = 0

    @property
    def true_end_s(self) -> float | None:
        """When the last word had been spoken."""
        return self._spoken(self.clip.true_end_s)

    @property
    def true_start_s(self) -> float | None:
        return self._spoken(self.clip.true_start_s)

    @property
    def transcript(self) -> str:
        """All that was heard in the end: finals, or whole turns, joined verbatim. An unfinished turn counts."""
        parts: list[str] = []
        open_turn = ""
        for message in self.messages:
            if isinstance(message, SttTranscript) and message.is_final:
                parts.append(message.text)
            elif isinstance(message, TurnUpdate | TurnEagerEnd):
                open_turn = message.transcript
            elif isinstance(message, TurnEnd):
                parts.append(message.transcript)
                open_turn = ""
        return "".join([*parts, open_turn]).strip()

    def _spoken(self, at_s: float | None) -> float | None:
        return None if self.begin_s is None or at_s is None else self.begin_s + at_s


def hearing_of(clip: Clip, recording: Recording, *, turns: bool) -> Hearing:
    """Decode what a finished recording holds. Runs after the run, off the clock."""
    decode: Decode = decode_turns_message if turns else decode_stt_message
    stamps: list[float] = []
    messages: list[SttMessage | TurnsMessage] = []
    for stamp_s, payload in zip(recording.stamps_s, recording.payloads, strict=True):
        try:
            message = decode(payload)
        except msgspec.DecodeError:
            continue
        stamps.append(stamp_s)
        messages.append(message)
    return Hearing(
        clip=clip,
        begin_s=recording.started_s,
        finalize_s=recording.marks.get(FINALIZE),
        close_s=recording.marks.get(CLOSE),
        stamps_s=tuple(stamps),
        messages=tuple(messages),
        behind_s=recording.behind_s,
        ended_s=recording.ended_s,
        unknown=len(recording.payloads) - len(messages),
        error=recording.error,
        status=recording.status,
    )
