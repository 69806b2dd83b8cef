"""The agent's replies as they come in, and what the server is to be told of their playback. Pure."""

from antiphon.client.events import Heard, Message, ReplyAudio
from antiphon.client.playback import MOST_REPLIES, Player
from antiphon.protocol import native_messages as wire

LOSS_FADE_MS = 20


class Replies:
    """Gives the player its work, and keeps account of what was told about it."""

    def __init__(self, player: Player, sample_bytes: int) -> None:
        self._player = player
        self._sample_bytes = sample_bytes
        self._speaking: str | None = None
        self._received: dict[str, int] = {}
        self._told: dict[str, tuple[int, int]] = {}

    @property
    def playing(self) -> bool:
        """Whether there is, or may soon be, anything to tell."""
        return bool(self._told)

    def obey(self, message: Message) -> list[Heard]:
        """A message about a reply; returns what the server is to be told at once."""
        match message:
            case wire.ReplyStarted(reply_id=reply_id):
                self._speaking = reply_id
                self._received[reply_id] = 0
                self._told[reply_id] = (0, 0)
                while len(self._told) > MOST_REPLIES:  # the player has forgotten it as well
                    forgotten = next(iter(self._told))
                    del self._told[forgotten]
                    self._received.pop(forgotten, None)
            case wire.ReplyEnded(reply_id=reply_id):
                self._player.end(reply_id)
                self._silent(reply_id)
            case wire.Clear(reply_id=reply_id):
                self._player.clear(reply_id, message.fade_ms)
                self._silent(reply_id)
                return self._news_of(reply_id, always=True)
            case wire.ReplyPaused(reply_id=reply_id):
                if not self._player.position(reply_id).over:  # else nothing would ever let it go on
                    self._player.pause(reply_id, message.fade_ms)
                return self._news_of(reply_id, always=True)
            case wire.ReplyContinued(reply_id=reply_id):
                self._player.go_on(reply_id)
            case _:
                pass
        return []

    def hear(self, data: bytes) -> ReplyAudio | None:
        """Audio; None where no reply speaks, which a server does not do."""
        reply_id = self._speaking
        if reply_id is None:
            return None
        self._player.push(reply_id, data)
        start = self._received.get(reply_id, 0)
        samples = len(data) // self._sample_bytes
        self._received[reply_id] = start + samples
        return ReplyAudio(reply_id, start, samples, data)

    def news(self) -> list[Heard]:
        """What has changed since it was last told."""
        return [heard for reply_id in list(self._told) for heard in self._news_of(reply_id)]

    def lose(self) -> wire.LastHeard | None:
        """The socket is gone. What was under way will begin anew from where it was heard, so it ends here."""
        heard = None
        for reply_id in list(self._told):
            position = self._player.position(reply_id)
            if heard is None and not position.over:
                heard = wire.LastHeard(reply_id, position.sample)
            self._player.clear(reply_id, LOSS_FADE_MS)
        self._speaking = None
        return heard

    def _silent(self, reply_id: str) -> None:
        if self._speaking == reply_id:
            self._speaking = None

    def _news_of(self, reply_id: str, *, always: bool = False) -> list[Heard]:
        known = self._told.get(reply_id)
        if known is None:
            return []
        position = self._player.position(reply_id)
        now = (position.sample, position.underruns)
        if position.over:
            del self._told[reply_id]
            self._received.pop(reply_id, None)
        else:
            self._told[reply_id] = now
        changed = now != known or position.over or always
        return [Heard(reply_id, position.sample, position.underruns, position.over)] if changed else []
