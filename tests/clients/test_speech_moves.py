"""A stream of the state-space voice moves between two real servers in the middle of a word, and nobody can hear it."""

import asyncio
import random
import time
from collections.abc import Iterator
from dataclasses import dataclass, field

import pytest

from antiphon.client import Refused, SessionOver, SpeechAudio, SpeechOptions, SpeechStream, resume, speak
from antiphon.protocol import native_speech_messages as wire
from antiphon.protocol.native_messages import AudioShape

from .running import Server, serving

KEY = "a key of the whole fleet"
TEXTS = (
    "Good morning, this is Ada. Your parcel left our house on Tuesday, March 3rd, and it should be with you by Friday.",
    "The total is $29.50. Shall I send the invoice to the address that we have, or to another one?",
    "No. Wait, I see it now! It was delivered at 7:45 p.m. to your neighbour, who signed for it with his own name.",
)
SHAPE = AudioShape("pcm_s16le", 24_000)
SOME_CUTS, MANY_CUTS = 8, 50
HELD_WORDS = 8
"""At most so many words of a text wait for those that come after."""
PATIENCE_S = 3.0
"""Text that waits for more text is given up after 5 s: where the machine was that slow, nothing can be compared."""


@pytest.fixture(scope="module")
def fleet(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Server, Server]]:
    variables = {"ANTIPHON_TTS__SNAPSHOT_KEY": KEY, "ANTIPHON_ENGINE__WORKERS": "1"}
    with (
        serving(tmp_path_factory.mktemp("here"), variables=variables) as here,
        serving(tmp_path_factory.mktemp("there"), variables=variables) as there,
    ):
        yield here, there


@dataclass
class Heard:
    pcm: bytearray = field(default_factory=bytearray)
    words: list[tuple[str, int, int]] = field(default_factory=list)
    ends: list[int] = field(default_factory=list)
    done: str = ""

    async def all_of(self, stream: SpeechStream) -> None:
        async for event in stream:
            self.take(event)

    def take(self, event: object) -> None:
        match event:
            case SpeechAudio():
                assert event.start_sample == len(self.pcm) // 2, "a gap, or something twice"
                self.pcm += event.data
            case wire.Words():
                self.words += [(word.text, word.start_sample, word.end_sample) for word in event.words]
            case wire.Flushed():
                self.ends.append(event.sample)
            case wire.Done():
                assert event.samples == len(self.pcm) // 2
                self.done = event.reason


def options(shape: AudioShape = SHAPE) -> SpeechOptions:
    return SpeechOptions(wire.Start(voice="River", output=shape, seed=7, max_buffer_delay_ms=5000), ready_within_s=30.0)


def tokens(text: str, rng: random.Random) -> list[str]:
    found = []
    while text:
        size = rng.choice((2, 3, 5, 8))
        found.append(text[:size])
        text = text[size:]
    return found


async def spoken(server: Server, text: str) -> Heard:
    heard = Heard()
    async with speak(server.http, options()) as stream:
        await stream.send(text)
        await stream.flush("all")
        await stream.end()
        await heard.all_of(stream)
    return heard


async def moved(here: Server, there: Server, text: str, rng: random.Random) -> tuple[Heard, int]:
    """The same, token by token, saved after some of them and some words; and where that was (-1: it was over, or too
    slow)."""
    heard = Heard()
    deltas = tokens(text, rng)
    said = rng.choice((len(deltas), rng.randint(1, len(deltas))))
    while said < len(deltas) and not deltas[said - 1][-1].isalpha():
        said += 1  # a text that ends like a sentence is taken for one a moment later
    began_s = time.monotonic()
    sure = len("".join(deltas[:said]).split()) - (0 if said == len(deltas) else HELD_WORDS)
    wanted = rng.randint(0, max(0, sure))
    async with speak(here.http, options()) as stream:
        for delta in deltas[:said]:
            await stream.send(delta)
        if said == len(deltas):
            await stream.flush("all")
            await stream.end()
        if wanted:
            async for event in stream:
                heard.take(event)
                if len(heard.words) >= wanted:
                    break
        try:
            snapshot = await stream.save()
        except SessionOver:
            await heard.all_of(stream)
            return heard, -1
        await heard.all_of(stream)
    assert heard.done == "saved"
    assert snapshot.sample == len(heard.pcm) // 2
    async with resume(there.http, snapshot) as stream:
        assert (stream.sample, stream.ended) == (snapshot.sample, said == len(deltas))
        for delta in deltas[said:]:
            await stream.send(delta)
        if said < len(deltas):
            await stream.flush("all")
            await stream.end()
        in_time = said == len(deltas) or time.monotonic() - began_s < PATIENCE_S
        await heard.all_of(stream)
    return heard, snapshot.sample if in_time else -1


async def cut_at_random(fleet: tuple[Server, Server], wanted: int, seed: int) -> list[float]:
    """Cuts as parts of their utterance."""
    rng = random.Random(seed)
    whole = [await spoken(fleet[0], text) for text in TEXTS]
    cuts: list[float] = []
    for _ in range(6 * wanted):
        if len(cuts) == wanted:
            break
        number = rng.randrange(len(TEXTS))
        here, there = rng.sample(fleet, 2)
        heard, at_sample = await moved(here, there, TEXTS[number], rng)
        if at_sample >= 0:
            assert heard == whole[number], f"cut at sample {at_sample} of {TEXTS[number]!r}"
            cuts.append(at_sample / (len(heard.pcm) / 2))
    return cuts


def test_a_stream_cut_anywhere_sounds_as_if_it_had_not_been_cut(fleet: tuple[Server, Server]) -> None:
    cuts = asyncio.run(cut_at_random(fleet, SOME_CUTS, seed=1))
    assert len(cuts) == SOME_CUTS
    assert max(cuts) - min(cuts) > 0.3


@pytest.mark.soak
def test_a_stream_cut_at_fifty_points(fleet: tuple[Server, Server]) -> None:
    cuts = asyncio.run(cut_at_random(fleet, MANY_CUTS, seed=2))
    assert len(cuts) == MANY_CUTS
    assert len({round(cut, 1) for cut in cuts}) > 5, "they should be all over the utterances"


def test_a_stream_moves_back_and_forth_and_at_another_rate(fleet: tuple[Server, Server]) -> None:
    async def test() -> None:
        shape = AudioShape("pcm_mulaw", 8_000)
        whole = bytearray()
        async with speak(fleet[0].http, options(shape)) as stream:
            await stream.send(TEXTS[0])
            await stream.end()
            async for event in stream:
                whole += event.data if isinstance(event, SpeechAudio) else b""
        parts = bytearray()
        async with speak(fleet[0].http, options(shape)) as stream:
            await stream.send(TEXTS[0])
            snapshot = await stream.save()
            async for event in stream:
                parts += event.data if isinstance(event, SpeechAudio) else b""
        for turn in range(1, 6):
            async with resume(fleet[turn % 2].http, snapshot) as stream:
                assert stream.sample == len(parts)
                if turn == 5:
                    await stream.end()
                else:
                    snapshot = await stream.save()
                async for event in stream:
                    parts += event.data if isinstance(event, SpeechAudio) else b""
        assert parts == whole

    asyncio.run(test())


def test_a_voice_without_a_small_state_says_so_and_goes_on(fleet: tuple[Server, Server]) -> None:
    async def test() -> None:
        heard = Heard()
        async with speak(fleet[0].http, SpeechOptions(wire.Start(voice="Heart"))) as stream:
            await stream.send("Hello there.")
            with pytest.raises(Refused, match="cannot save"):
                await stream.save()
            await stream.end()
            await heard.all_of(stream)
        assert heard.done == "completed"
        assert [word for word, _, _ in heard.words] == ["Hello", "there."]

    asyncio.run(test())


def test_a_server_that_does_not_share_the_key_refuses(fleet: tuple[Server, Server], server: Server) -> None:
    async def test() -> None:
        async with speak(fleet[0].http, options()) as stream:
            await stream.send(TEXTS[1])
            snapshot = await stream.save()
        with pytest.raises(Refused, match=r"tts\.snapshot_key") as told:
            async with resume(server.http, snapshot):
                pass
        assert told.value.code == "bad_snapshot"

    asyncio.run(test())
