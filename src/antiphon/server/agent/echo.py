"""Echo cancellation of one session, in the encodings of its socket: bytes in, as many bytes out."""

import numpy as np

from antiphon.audio.echo import RATES_HZ, EchoCanceller, available
from antiphon.audio.pcm import PcmReader, encode
from antiphon.audio.resample import Resampler
from antiphon.core.frame import Samples
from antiphon.settings import AgentSettings, SettingsError

_INNER_HZ = 16_000
_HELD_S = 0.02
"""More than two resamplers hold back between them."""


class SessionEcho:
    """What a caller sends, without what the agent said. Belongs to one thread; 2 to 3 % of a core while audio comes in.

    ``delay_ms``: what is surely between sending audio and its echo coming back (a phone network's delay, say). Output
    is 10 ms late, 30 ms at rates that WebRTC's processing does not know (8 and 44.1 kHz).
    """

    def __init__(
        self, encoding: str, rate_hz: int, agent_encoding: str, agent_rate_hz: int, delay_ms: int = 0
    ) -> None:
        """Raises ``InvalidInput`` where the extra ``aec`` is not installed."""
        inner_hz = rate_hz if rate_hz in RATES_HZ else _INNER_HZ
        self._canceller = EchoCanceller(inner_hz, delay_ms)
        self._encoding = encoding
        self._reader = PcmReader(encoding)
        self._agent_form = (agent_encoding, agent_rate_hz)
        self._agent_reader = PcmReader(agent_encoding)
        self._agent_resampler = Resampler(agent_rate_hz, inner_hz)
        self._inner_hz = inner_hz
        self._inward: Resampler | None = None
        self._outward: Resampler | None = None
        self._ready = np.zeros(0, np.float32)
        if inner_hz != rate_hz:
            self._inward, self._outward = Resampler(rate_hz, inner_hz), Resampler(inner_hz, rate_hz)
            self._ready = np.zeros(round(_HELD_S * rate_hz), np.float32)

    def left(self, data: bytes) -> None:
        """A piece of the agent's audio was given to the socket."""
        self._canceller.played(self._agent_resampler.push(self._agent_reader.feed(data)))

    def cleared(self) -> None:
        """The client dropped what it had not played (a cancel, a clear, a lost socket)."""
        self._canceller.clear()
        encoding, rate_hz = self._agent_form
        self._agent_reader, self._agent_resampler = PcmReader(encoding), Resampler(rate_hz, self._inner_hz)

    def heard(self, data: bytes) -> bytes:
        """What the caller sent, without the echo: as many samples, in the same encoding."""
        return encode(self._clean(self._reader.feed(data)), self._encoding)

    def _clean(self, samples: Samples) -> Samples:
        if self._inward is None or self._outward is None:
            return self._canceller.heard(samples)
        clean = self._outward.push(self._canceller.heard(self._inward.push(samples)))
        ready = np.concatenate((self._ready, clean))
        self._ready = ready[len(samples) :]
        return ready[: len(samples)]


def require_echo(agent: AgentSettings) -> None:
    """Raises ``SettingsError`` where echo shall be removed and the extra for it is missing."""
    if agent.echo_cancellation and not available():
        raise SettingsError("agent.echo_cancellation needs an extra: pip install 'antiphon[aec]'")
