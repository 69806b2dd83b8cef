"""The program that speaks with eSpeak NG, run as a process of its own by :mod:`antiphon.models.espeak_library`.

Why a process: the library cannot be stopped while it reads, and is written in C with errors of memory that a
stranger's text can reach (version 1.52.0: of five runs over random text in random languages all five ended in SIGBUS
or SIGSEGV, and short text was enough). It also keeps a GPL library out of the server's own process.

Why a fork for each request: the library's state outlives a call and cannot be reset (phases and random numbers go on,
so the same text gives other samples each time). A copy of this process chooses the voice, reads the text, and ends.
So the same request has the same answer whoever asked before, and a text that breaks the library costs itself alone.

Standard library only; started as a file, so that nothing else is imported. Talk on standard input and output: a line of
JSON for each request; the answer is a line of JSON, followed by ``bytes`` bytes of PCM (s16, mono) if it says so.
"""

import ctypes
import json
import os
import resource
import signal
import sys
from collections.abc import Iterator
from contextlib import suppress
from typing import IO, Any

_SYNCHRONOUS = 2
_EVENTS_OF_PHONEMES, _PHONEMES_IN_IPA, _DO_NOT_EXIT = 1, 2, 1 << 15
_UTF8, _PHONEME_INPUT = 1, 0x100
_IPA_MODE, _TIE_MODE = 0x02, 0x80
_RATE, _PITCH, _RANGE = 1, 3, 4
_WORD, _END, _PHONEME = 1, 5, 7
_MAX_MEMORY = 1 << 30
_MAX_CPU_S = 3
"""Of one request. A thousand characters take 0.1 s, at the worst of rubbish about 1 s."""


class _Name(ctypes.Union):
    _fields_ = (("number", ctypes.c_int), ("name", ctypes.c_char_p), ("string", ctypes.c_char * 8))


class _Event(ctypes.Structure):
    """``espeak_EVENT`` of speak_lib.h."""

    _fields_ = (
        ("type", ctypes.c_int),
        ("unique_identifier", ctypes.c_uint),
        ("text_position", ctypes.c_int),
        ("length", ctypes.c_int),
        ("audio_position", ctypes.c_int),
        ("sample", ctypes.c_int),
        ("user_data", ctypes.c_void_p),
        ("id", _Name),
    )


class _Voice(ctypes.Structure):
    """``espeak_VOICE`` of speak_lib.h."""

    _fields_ = (
        ("name", ctypes.c_char_p),
        ("languages", ctypes.c_void_p),
        ("identifier", ctypes.c_char_p),
        ("gender", ctypes.c_ubyte),
        ("age", ctypes.c_ubyte),
        ("variant", ctypes.c_ubyte),
        ("xx1", ctypes.c_ubyte),
        ("score", ctypes.c_int),
        ("spare", ctypes.c_void_p),
    )


_Callback = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.POINTER(ctypes.c_short), ctypes.c_int, ctypes.POINTER(_Event))


class Library:
    """libespeak-ng with its state: one voice, chosen first; then one call."""

    def __init__(self, library: str, data: str) -> None:
        self._lib = lib = ctypes.CDLL(library)
        options = _EVENTS_OF_PHONEMES | _PHONEMES_IN_IPA | _DO_NOT_EXIT
        self.sample_rate_hz = int(lib.espeak_Initialize(_SYNCHRONOUS, 0, data.encode(), options))
        if self.sample_rate_hz <= 0:
            raise OSError(f"eSpeak NG cannot read its data in {data}")
        lib.espeak_TextToPhonemes.restype = ctypes.c_char_p
        lib.espeak_TextToPhonemes.argtypes = (ctypes.POINTER(ctypes.c_char_p), ctypes.c_int, ctypes.c_int)
        lib.espeak_ListVoices.restype = ctypes.POINTER(ctypes.POINTER(_Voice))
        lib.espeak_Info.restype = ctypes.c_char_p
        self._callback = _Callback(self._take)
        lib.espeak_SetSynthCallback(self._callback)
        self._audio = bytearray()
        self._events: list[tuple[int, int, int, int, str]] = []
        self._max_bytes = 0

    def hello(self) -> dict[str, Any]:
        return {
            "rate": self.sample_rate_hz,
            "version": (self._lib.espeak_Info(None) or b"").decode(),
            "voices": list(self._list_voices()),
        }

    def phonemes(self, text: str, tie: str) -> list[str]:
        """IPA of each clause of ``text``."""
        mode = _IPA_MODE | (_TIE_MODE | ord(tie) << 8 if tie else 0)
        buffer = ctypes.create_string_buffer(text.encode())
        place = ctypes.c_char_p(ctypes.addressof(buffer))
        clauses: list[str] = []
        # It sets the place to NULL at the end; a text never has more clauses than characters.
        for _ in range(len(text) + 1):
            if not place.value:
                break
            clauses.append((self._lib.espeak_TextToPhonemes(ctypes.byref(place), _UTF8, mode) or b"").decode())
        return clauses

    def speak(
        self, text: str, *, mnemonics: bool, rate: int, pitch: int, spread: int, max_samples: int
    ) -> tuple[list[tuple[int, int, int, int, str]], bytes]:
        """Events (type, character, characters, sample, IPA) and PCM. ``mnemonics``: [[...]] holds phonemes."""
        for parameter, value in ((_RATE, rate), (_PITCH, pitch), (_RANGE, spread)):
            self._lib.espeak_SetParameter(parameter, value, 0)
        self._audio, self._events, self._max_bytes = bytearray(), [], 2 * max_samples
        data = text.encode() + b"\0"
        flags = _UTF8 | (_PHONEME_INPUT if mnemonics else 0)
        self._lib.espeak_Synth(data, len(data), 0, 1, 0, flags, None, None)
        return self._events, bytes(self._audio[: self._max_bytes])

    def sounds(self, names: list[str]) -> list[list[str]]:
        """IPA of the library's own phoneme names."""
        found = []
        for name in names:
            events, _ = self.speak(f"[[{name}]]", mnemonics=True, rate=350, pitch=50, spread=50, max_samples=1 << 20)
            found.append([sound for kind, *_, sound in events if kind == _PHONEME and sound])
        return found

    def choose(self, voice: str) -> bool:
        return not self._lib.espeak_SetVoiceByName(voice.encode())

    def _take(self, wave: Any, count: int, events: Any) -> int:
        index = 0
        while events[index].type:
            event = events[index]
            if event.type in (_WORD, _END, _PHONEME):
                name = bytes(event.id.string).decode("utf-8", "ignore") if event.type == _PHONEME else ""
                self._events.append((event.type, event.text_position, event.length, event.sample, name))
            index += 1
        if count > 0:
            self._audio += ctypes.string_at(wave, 2 * count)
        return int(len(self._audio) >= self._max_bytes)

    def _list_voices(self) -> Iterator[tuple[str, str, list[tuple[int, str]]]]:
        """Name, identifier and (priority, tag) of each voice; a lower priority is the better match."""
        voices = self._lib.espeak_ListVoices(None)
        index = 0
        while voices[index]:
            voice = voices[index].contents
            index += 1
            yield voice.name.decode(), voice.identifier.decode(), list(_tags(voice.languages))


def _tags(address: int | None) -> Iterator[tuple[int, str]]:
    """A list of a priority byte and a C string, ended by a priority of 0."""
    place = address or 0
    while place and (priority := ctypes.string_at(place, 1)[0]):
        tag = ctypes.string_at(place + 1)
        yield priority, tag.decode()
        place += len(tag) + 2


def answer(library: Library, request: dict[str, Any]) -> tuple[dict[str, Any], bytes]:
    asked = dict(request)
    if not library.choose(asked.pop("voice")):
        return {"error": "it does not know its own voice"}, b""
    what = asked.pop("do")
    if what == "phonemes":
        return {"clauses": library.phonemes(**asked)}, b""
    if what == "sounds":
        return {"sounds": library.sounds(**asked)}, b""
    events, audio = library.speak(**asked)
    return {"events": events, "bytes": len(audio)}, audio


def serve(library: Library, requests: IO[bytes], answers: IO[bytes]) -> None:
    write(answers, library.hello())
    for line in requests:
        request = json.loads(line)
        copy = os.fork()
        if copy == 0:
            resource.setrlimit(resource.RLIMIT_CPU, (_MAX_CPU_S, _MAX_CPU_S))
            write(answers, *answer(library, request))
            os._exit(0)
        _, status = os.waitpid(copy, 0)
        if status:
            write(answers, {"error": _cause(status)})


def write(answers: IO[bytes], reply: dict[str, Any], audio: bytes = b"") -> None:
    answers.write(json.dumps(reply).encode() + b"\n" + audio)
    answers.flush()


def _cause(status: int) -> str:
    if not os.WIFSIGNALED(status):
        return "it failed"
    name = signal.Signals(os.WTERMSIG(status)).name
    return f"more than {_MAX_CPU_S} s of work" if name in ("SIGXCPU", "SIGKILL") else f"it ended in {name}"


if __name__ == "__main__":
    # It ends with its input, not before: the server may still have something to say when everybody is told to leave.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    # No memory without end, and no dump of anybody's words when it fails.
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    with suppress(ValueError, OSError):  # not every system has this one
        resource.setrlimit(resource.RLIMIT_AS, (_MAX_MEMORY, _MAX_MEMORY))
    serve(Library(sys.argv[1], sys.argv[2]), sys.stdin.buffer, sys.stdout.buffer)
