"""The audio file of one session, and the promise that nothing personal stays audible in it: where it cannot be
silenced, the file goes."""

from collections.abc import Callable
from pathlib import Path

from antiphon.audio.two_channel import unfinished
from antiphon.server.agent import AgentSessionFacts
from antiphon.server.records.audio import CallAudio
from antiphon.server.records.disk import day_of, make_folder, safe_name
from antiphon.store.lock import try_lock

_HEAD_BYTES = 44
_MOST_PARTS = 1_000


class KeptAudio:
    """All but :attr:`doomed` belongs to the disk's thread; raises ``OSError`` where the disk does."""

    def __init__(self, root: Path, facts: AgentSessionFacts, max_s: float) -> None:
        self.doomed = False
        """Something that should have been silenced will not be: nothing of it may stay. Any thread may say so."""
        self._root = root
        self._facts = facts
        self._max_s = max_s
        self._audio: CallAudio | None = None
        self._whole = True  # all that came was written

    @property
    def open(self) -> bool:
        return self._audio is not None

    def begin(self) -> None:
        facts = self._facts
        folder = self._root / day_of(facts.began_unix_s)
        make_folder(folder)
        name = safe_name(facts.session_id)
        for part in range(1, _MOST_PARTS):  # a session that another process began has another file
            path = folder / (f"{name}.wav" if part == 1 else f"{name}.{part}.wav")
            try:
                self._audio = CallAudio(path, facts.began_s, self._max_s, facts.output_encoding, facts.output_rate_hz)
                return
            except FileExistsError:
                if part == _MOST_PARTS - 1:
                    raise

    def do(self, do: Callable[[CallAudio], object]) -> None:
        """Write, move or mute something. After a failure the rest of the file would not be true: it ends there."""
        if self._audio is None or self.doomed or not self._whole:
            return
        try:
            do(self._audio)
        except BaseException:
            self._whole = False
            raise

    def silence(self, silence: Callable[[CallAudio], object]) -> None:
        """Silence what is personal. Where that fails, or it is not sure any more where it lies, nothing is kept."""
        if self._audio is None:
            return
        try:
            if self._whole:
                silence(self._audio)
        except BaseException:
            self._whole = False
            raise
        finally:
            if not self._whole:
                self.discard()

    def end(self) -> None:
        """Nothing follows, and all that was to be silenced has been."""
        if self.doomed:
            self.discard()
        elif self._audio is not None:
            audio, self._audio = self._audio, None
            audio.close()

    def discard(self) -> None:
        if self._audio is not None:
            audio, self._audio = self._audio, None
            audio.discard()


def discard_abandoned(root: Path) -> int:
    """Delete recordings whose writer died before their last turn was over, in which something personal may be audible.

    Says how many. Files that another process still writes stay.
    """
    gone = 0
    for path in sorted(root.glob("????-??-??/*.wav")):
        try:
            with open(path, "rb+", buffering=0) as file:
                left = unfinished(file.read(_HEAD_BYTES)) and try_lock(file)
        except FileNotFoundError:  # another process was quicker
            continue
        if left:
            path.unlink(missing_ok=True)
            gone += 1
    return gone
