"""Where a language model is reached, and which of several endpoints to ask next."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlsplit

from antiphon.core.errors import InvalidInput


@dataclass(frozen=True, slots=True)
class LlmEndpoint:
    """One OpenAI-compatible chat endpoint.

    ``url`` is the base (".../v1") or the whole path. ``first_token_s``: the longest wait for the first word or tool
    call (raise it for models that think first); ``mute_s``: for the next one after that. ``extra`` goes into every
    request (``temperature``, ...). ``usage``: ask for token counts; a few servers refuse the field. Raises
    ``InvalidInput`` for a url that cannot work.
    """

    url: str
    model: str
    api_key: str = field(default="", repr=False)
    connect_s: float = 2.0
    first_token_s: float = 5.0
    mute_s: float = 5.0
    extra: Mapping[str, Any] = field(default_factory=dict, repr=False)
    usage: bool = True

    def __post_init__(self) -> None:
        parts = urlsplit(self.url)
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise InvalidInput("the model's url should look like https://host/v1", "url")
        if parts.username or parts.password:
            raise InvalidInput("the model's url must not hold a password; use the key's own setting", "url")
        if not self.model:
            raise InvalidInput("name the model to use", "model")
        if min(self.connect_s, self.first_token_s, self.mute_s) <= 0:
            raise InvalidInput("the model's time limits must be above zero", "first_token_s")

    @property
    def chat_url(self) -> str:
        parts = urlsplit(self.url)
        path = parts.path.rstrip("/")
        path = path if path.endswith("/chat/completions") else path + "/chat/completions"
        return parts._replace(path=path).geturl()

    @property
    def label(self) -> str:
        """Model and host, for messages; without path, query or key."""
        parts = urlsplit(self.url)
        return f"{self.model} at {parts.hostname}{f':{parts.port}' if parts.port else ''}"


@dataclass(slots=True)
class _State:
    failures: int = 0
    well_at_s: float = 0.0


class Health:
    """Which endpoints failed lately. One that failed is asked last until its cool-down is over; each further failure
    doubles it, up to ``longest_s``; an answer clears it."""

    def __init__(self, count: int, cool_down_s: float = 5.0, longest_s: float = 120.0) -> None:
        self._states = [_State() for _ in range(count)]
        self._cool_down_s = cool_down_s
        self._longest_s = longest_s

    def order(self, now_s: float) -> Sequence[int]:
        """Indices to try: the well ones as declared, then the cooling ones, the soonest well first."""
        return sorted(range(len(self._states)), key=lambda i: (max(0.0, self._states[i].well_at_s - now_s), i))

    def failed(self, index: int, now_s: float, at_least_s: float = 0.0) -> None:
        state = self._states[index]
        cooling_s = min(self._longest_s, self._cool_down_s * 2**state.failures)
        # The exponent is capped, so that years of failures do not overflow.
        state.failures = min(state.failures + 1, 16)
        state.well_at_s = now_s + max(cooling_s, min(at_least_s, self._longest_s))

    def answered(self, index: int) -> None:
        self._states[index] = _State()
