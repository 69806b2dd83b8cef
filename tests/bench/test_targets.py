"""Targets against a scripted server on the loopback: the real wires, known audio."""

from collections.abc import Callable, Iterator

import numpy as np
import pytest

from antiphon.bench.arrivals import ClosedLoop, burst
from antiphon.bench.measure import measure
from antiphon.bench.player import Played, Player
from antiphon.bench.process import cpu_time
from antiphon.bench.recording import Take
from antiphon.bench.target.cartesia_bytes import CartesiaBytes
from antiphon.bench.target.cartesia_sse import CartesiaSse
from antiphon.bench.target.cartesia_ws import CartesiaWs, websocket_url
from antiphon.bench.target.contract import Line, Target, whole_samples
from antiphon.bench.target.echo import Echo, EchoServer, echo_app, order_line, sizes_line
from antiphon.bench.target.echo_native import NativeEcho, native_echo_app, native_line
from antiphon.bench.target.echo_returning import ReturningEcho, returning_app
from antiphon.bench.target.inproc import InProcess
from antiphon.bench.target.native_speech import NativeSpeech
from antiphon.bench.target.openai_speech import OpenaiSpeech
from antiphon.core.frame import Samples
from antiphon.protocol.cartesia_tts import decode_client_message

from .scripted_server import CHUNKS, ScriptedServer

PCM = b"".join(CHUNKS)
MAKERS: list[Callable[[str], Target]] = [CartesiaWs, CartesiaBytes, CartesiaSse, OpenaiSpeech, NativeSpeech]


def play(target: Target, *lines: Line, timeout_s: float = 5.0) -> Played:
    with Player(timeout_s=timeout_s) as player:
        return player.play(target, lines, burst(len(lines)))


@pytest.mark.parametrize("make", MAKERS)
def test_all_audio_arrives_and_is_measured(make: Callable[[str], Target], url: str) -> None:
    played = play(make(url), Line("hello"), Line("there"))
    for take in played.takes:
        assert take.error == ""
        assert take.pcm == PCM
        figures = measure(take)
        assert figures.leading_silence_s == pytest.approx(0.01)
        assert figures.ttfb_s is not None
        assert figures.ttfa_s is not None
        assert 0 < figures.ttfb_s <= figures.ttfa_s
        assert figures.audio_s == pytest.approx(0.21)


@pytest.mark.parametrize("make", MAKERS)
def test_a_refusal_carries_status_and_words(make: Callable[[str], Target], url: str) -> None:
    fine, refused = play(make(url), Line("hello"), Line("REFUSE me")).takes
    assert fine.error == ""
    assert refused.status == 429
    assert "at capacity" in refused.error
    assert measure(refused).refused_s is not None


@pytest.mark.parametrize("make", MAKERS)
def test_tokens_arrive_as_the_same_text(make: Callable[[str], Target], url: str, scripted: ScriptedServer) -> None:
    line = Line("Hello there, you.", ("Hello", " there", ",", " you."), 0.0)
    assert play(make(url), line).takes[0].error == ""
    texts = [message.get("transcript", message.get("input", message.get("text", ""))) for message in scripted.heard]
    assert "".join(texts) == line.text


def test_bytes_target_asks_for_raw_pcm_in_cartesias_words(url: str, scripted: ScriptedServer) -> None:
    play(CartesiaBytes(url, voice="v", model="m", sample_rate_hz=24_000), Line("hello"))
    assert scripted.heard == [
        {
            "model_id": "m",
            "voice": {"mode": "id", "id": "v"},
            "language": "en",
            "output_format": {"container": "raw", "encoding": "pcm_s16le", "sample_rate": 24_000},
            "transcript": "hello",
        }
    ]


def test_an_error_in_the_events_is_the_takes(url: str) -> None:
    take = play(CartesiaSse(url), Line("FAIL")).takes[0]
    assert (take.error, take.status, take.pcm) == ("out of breath", 500, PCM)


def test_openai_target_takes_a_base_with_or_without_v1(url: str, scripted: ScriptedServer) -> None:
    for base in (url, url + "/v1", url + "/v1/"):
        assert play(OpenaiSpeech(base), Line("hello")).takes[0].error == ""
    assert scripted.heard[0] == {"model": "tts-1", "voice": "alloy", "response_format": "pcm", "input": "hello"}


def test_socket_stream_states_what_its_audio_cost(url: str) -> None:
    take = play(CartesiaWs(url), Line("hello")).takes[0]
    assert take.compute_s == pytest.approx(0.006)
    assert len(take.stamps_s) == len(take.chunks) == 3
    assert take.wire_bytes > len(PCM)


def test_sockets_are_reused_one_caller_each(url: str, scripted: ScriptedServer) -> None:
    before = scripted.sockets
    with Player() as player:
        target = CartesiaWs(url)
        for _ in range(3):
            played = player.play(target, [Line("hello")] * 6, ClosedLoop(2, 0, 6))
            assert not any(take.error for take in played.takes)
    assert scripted.sockets - before == 2
    assert len({message["context_id"] for message in scripted.heard}) == 18


def test_native_streams_reuse_their_sockets_and_carry_no_more_than_a_mark(url: str, scripted: ScriptedServer) -> None:
    before = scripted.sockets
    with Player(timeout_s=5.0) as player:
        target = NativeSpeech(url, voice="River", model="ssm")
        played = player.play(target, [Line("hello")] * 6, ClosedLoop(2, 0, 6))
        assert [take.wire_bytes for take in played.takes] == [len(PCM) + len(CHUNKS)] * 6
        assert scripted.sockets - before == 2
        assert scripted.heard[0]["voice"] == "River"
        lost = player.play(target, [Line("DROP")], burst(1)).takes[0]
        assert "socket lost" in lost.error
        assert player.play(target, [Line("hello")], burst(1)).takes[0].error == ""
    with Player(timeout_s=0.1) as player:
        hung = player.play(NativeSpeech(url), [Line("HANG")], burst(1)).takes[0]
    assert "no end" in hung.error


def test_many_contexts_can_share_a_socket(url: str, scripted: ScriptedServer) -> None:
    before = scripted.sockets
    played = play(CartesiaWs(url, sockets=1), *[Line(f"hello {at}") for at in range(20)])
    assert [take.error for take in played.takes] == [""] * 20
    assert all(take.pcm == PCM for take in played.takes)
    assert scripted.sockets - before == 1


def test_a_lost_socket_fails_its_takes_and_is_replaced(url: str) -> None:
    with Player(timeout_s=5.0) as player:
        target = CartesiaWs(url)
        lost = player.play(target, [Line("DROP")], burst(1)).takes[0]
        again = player.play(target, [Line("hello")], burst(1)).takes[0]
    assert "socket" in lost.error
    assert again.error == ""


def test_a_refused_handshake_is_a_refusal(url: str, scripted: ScriptedServer) -> None:
    with Player() as player:
        target = CartesiaWs(url)
        player.prepare(target, 0)
        scripted.refuse_sockets = True
        take = player.play(target, [], burst_of_none()).takes
        assert take == ()
        refused = _speak_alone(player, target)
    assert refused.status == 429
    assert "handshake" in refused.error


def burst_of_none() -> ClosedLoop:
    return ClosedLoop(0, 0, 0)


def _speak_alone(player: Player, target: CartesiaWs) -> Take:
    from antiphon.bench.player import Cue

    recordings, _ = player.perform(target, [Cue(0, 0.0, Line("hello"))], 0.0)
    return target.take(recordings[0])


def test_a_timeout_cancels_the_context(url: str, scripted: ScriptedServer) -> None:
    with Player(timeout_s=0.1) as player:
        target = CartesiaWs(url, sockets=1)
        hung = player.play(target, [Line("HANG")], burst(1)).takes[0]
        fine = player.play(target, [Line("hello")], burst(1)).takes[0]
    assert "no end" in hung.error
    assert fine.error == ""
    assert {"context_id": scripted.heard[0]["context_id"], "cancel": True} in scripted.heard


@pytest.mark.parametrize(
    ("given", "wanted"),
    [
        ("http://host:1/", "ws://host:1"),
        ("https://host", "wss://host"),
        ("ws://host", "ws://host"),
        ("wss://host/", "wss://host"),
    ],
)
def test_any_scheme_leads_to_the_socket(given: str, wanted: str) -> None:
    assert websocket_url(given) == wanted


def test_split_samples_count_where_they_become_whole() -> None:
    assert whole_samples([b"\x01", b"\x02\x03\x04\x05", b"\x06"]) == [b"", b"\x01\x02\x03\x04", b"\x05\x06"]


def test_echo_sends_messages_of_the_sizes_asked_for() -> None:
    server = EchoServer(echo_app)
    try:
        takes = play(Echo(server.url), sizes_line([10, 2_000, 1]), sizes_line([7])).takes
        assert cpu_time(server.pid) is not None
    finally:
        server.close()
    assert [take.error for take in takes] == ["", ""]
    assert [take.wire_bytes for take in takes] == [2_011, 7]
    assert [len(take.stamps_s) for take in takes] == [3, 1]


def test_a_returning_echo_sends_back_each_message_before_it_gets_the_next() -> None:
    server = EchoServer(returning_app)
    try:
        takes = play(ReturningEcho(server.url), sizes_line([10, 2_000, 1]), sizes_line([7])).takes
    finally:
        server.close()
    assert [take.error for take in takes] == ["", ""]
    assert [take.wire_bytes for take in takes] == [2_011, 7]
    assert [len(take.stamps_s) for take in takes] == [3, 1]
    assert (takes[0].last_text_s or 0.0) >= takes[0].stamps_s[1]  # the last was sent when the one before was back


def test_a_fair_echo_is_asked_as_the_server_is_and_answers_with_as_much_audio() -> None:
    server = EchoServer(echo_app, True)
    try:
        line = order_line("What was said.", [12_169, 12_170, 3_000])
        takes = play(Echo(server.url, fair=True), line, order_line("And more.", [700])).takes
    finally:
        server.close()
    assert decode_client_message(line.text).transcript == "What was said."  # type: ignore[union-attr]
    assert [take.error for take in takes] == ["", ""]
    assert [len(take.chunks) for take in takes] == [3, 1]
    assert takes[0].wire_bytes == pytest.approx(27_339, abs=3 * 4)


def test_a_fair_echo_of_the_native_socket_sends_frames_of_the_sizes_asked_for() -> None:
    server = EchoServer(native_echo_app)
    try:
        takes = play(NativeEcho(server.url), native_line("Said.", [9_601, 9_601, 300]), native_line("More.", [7])).takes
    finally:
        server.close()
    assert [take.error for take in takes] == ["", ""]
    assert [take.wire_bytes for take in takes] == [19_502, 7]


def test_an_in_process_peer_is_stamped_as_it_yields() -> None:
    loads = 0

    def load() -> Callable[[str], Iterator[Samples]]:
        nonlocal loads
        loads += 1

        def speak(text: str) -> Iterator[Samples]:
            for _ in text.split():
                yield np.full(240, 0.5, np.float32)

        return speak

    with Player() as player:
        target = InProcess("peer", load, threads=2)
        takes = player.play(target, [Line("one two three"), Line("four")], burst(2)).takes
        player.play(target, [Line("again")], burst(1))
    assert loads == 1
    assert [len(take.stamps_s) for take in takes] == [3, 1]
    assert takes[0].audio_s == pytest.approx(0.03)
    assert list(takes[0].stamps_s) == sorted(takes[0].stamps_s)
