"""The machine of ``/tts/websocket``: contexts, flushes, cancel, errors, expiry."""

import json
from dataclasses import replace

import pytest

from antiphon.core.errors import AtCapacity, InvalidInput, NotFound
from antiphon.core.event import Failed, Flushed, Warned
from antiphon.core.frame import AudioFormat
from antiphon.core.speech import Prosody
from antiphon.protocol.cartesia_tts import SocketLimits

from .shell import BASE, RATE_HZ, Shell, audio, kinds, words


@pytest.fixture
def shell() -> Shell:
    return Shell()


def test_the_first_message_opens_a_context_with_its_settings(shell: Shell) -> None:
    shell.push("Hello ", add_timestamps=True, max_buffer_delay_ms=250)
    config = shell.stream.config
    assert (config.voice, config.model, config.language) == ("v", "sonic-3", "en")
    assert config.format == AudioFormat("raw", "pcm_s16le", RATE_HZ)
    assert (config.words, config.phonemes, config.max_buffer_delay_s) == (True, False, 0.25)
    assert shell.stream.text == "Hello "


@pytest.mark.parametrize(
    ("change", "field"),
    [
        ({"voice": {"mode": "id", "id": "w"}}, "voice"),
        ({"model_id": "sonic-2"}, "model"),
        ({"language": "fr"}, "language"),
        ({"output_format": {"container": "raw", "encoding": "pcm_mulaw", "sample_rate": 8000}}, "format"),
        ({"generation_config": {"speed": 1.5}}, "speed"),
        ({"generation_config": {"volume": 0.5}}, "volume"),
        ({"generation_config": {"emotion": "sad"}}, "emotion"),
        ({"normalization": "off"}, "normalize"),
        ({"max_buffer_delay_ms": 250}, "max_buffer_delay_s"),
        ({"add_timestamps": True}, "words"),
        ({"add_phoneme_timestamps": True}, "phonemes"),
        ({"pronunciation_dict_id": "d"}, "dictionary"),
    ],
)
def test_each_context_of_a_socket_has_the_settings_that_it_asked_for(
    shell: Shell, change: dict[str, object], field: str
) -> None:
    for number, asked in enumerate(({}, {}, change, {})):
        shell.push("Hello ", context_id=f"c{number}", **asked)
    first, second, changed, last = (stream.config for stream in shell.streams.values())
    assert first == second == last
    assert replace(changed, **{field: getattr(first, field)}) == first != changed


def test_deltas_are_joined_verbatim(shell: Shell) -> None:
    for delta in (" wa", "it", " ", "for", "\n", "it…", " 你好"):
        shell.push(delta)
    assert shell.stream.text == " wait for\nit… 你好"


def test_the_documents_transcript(shell: Shell) -> None:
    shell.push("Hello ", add_timestamps=True)
    shell.push("world.", add_timestamps=True)
    shell.end()
    assert shell.stream.flushes == [("end", True)]
    shell.say(words(("Hello", 0, 9120), ("world.", 9600, 21600)))
    shell.say(audio(compute_s=0.0123))
    shell.flushed()
    assert shell.frames == [
        {
            "type": "timestamps",
            "context_id": "c",
            "status_code": 206,
            "done": False,
            "flush_id": 1,
            "word_timestamps": {"words": ["Hello", "world."], "start": [0.0, 0.4], "end": [0.38, 0.9]},
        },
        {
            "type": "chunk",
            "context_id": "c",
            "status_code": 206,
            "done": False,
            "step_time": 12.3,
            "flush_id": 1,
            "data": shell.frames[1]["data"],
        },
        {"type": "done", "context_id": "c", "status_code": 206, "done": True},
    ]
    assert not shell.streams


def test_F10_done_is_true_only_on_done_and_error(shell: Shell) -> None:
    shell.push("One. ", add_timestamps=True, add_phoneme_timestamps=True, flush=True)
    shell.say(words(("One.", 0, 100)))
    shell.say(audio())
    shell.flushed()
    assert kinds(shell.frames) == ["timestamps", "chunk", "flush_done"]
    assert [frame["done"] for frame in shell.frames] == [False, False, False]
    assert "data" not in shell.frames[0]
    assert "data" not in shell.frames[2]


@pytest.mark.parametrize("blank", ["", " ", " \n\t"])
def test_F13_blank_final_closes_without_being_spoken(shell: Shell, blank: str) -> None:
    shell.push("Hello.")
    assert shell.end(transcript=blank) == []
    assert shell.stream.text == "Hello."
    assert shell.flushed() == [{"type": "done", "context_id": "c", "status_code": 206, "done": True}]


@pytest.mark.parametrize("blank", ["", " "])
def test_an_empty_context_is_done_at_once_and_takes_no_stream(shell: Shell, blank: str) -> None:
    assert kinds(shell.end(transcript=blank)) == ["done"]
    assert shell.push(blank, context_id="d") == []
    assert kinds(shell.end(context_id="d", transcript=blank)) == ["done"]
    assert shell.opened == []
    assert shell.socket.open_contexts == 0


def test_F13_blank_input_is_not_pushed_when_each_input_is_spoken_at_once(shell: Shell) -> None:
    shell.push("One.", max_buffer_delay_ms=0)
    shell.push(" ", max_buffer_delay_ms=0)
    shell.push("Two.", max_buffer_delay_ms=0)
    assert shell.stream.config.max_buffer_delay_s == 0.0
    assert shell.stream.pushed == ["One.", "Two."]


def test_F15_without_a_delay_the_default_buffers(shell: Shell) -> None:
    shell.push("Hel", max_buffer_delay_ms=None)
    assert shell.stream.config.max_buffer_delay_s == 3.0


@pytest.mark.parametrize("delay", [-1, 5001])
def test_a_delay_out_of_bounds_is_refused(shell: Shell, delay: int) -> None:
    [error] = shell.push("Hi.", max_buffer_delay_ms=delay)
    assert error["status_code"] == 400
    assert "between 0 and 5000" in error["message"]


def test_one_shot_message(shell: Shell) -> None:
    shell.send(transcript="Hello there.")
    assert shell.stream.text == "Hello there."
    shell.say(audio())
    assert kinds(shell.flushed()) == ["done"]
    assert kinds(shell.frames) == ["chunk", "done"]


def test_a_message_without_context_id_gets_one(shell: Shell) -> None:
    shell.send(context_id=None, transcript="Hello.")
    shell.say(audio())
    shell.flushed()
    ids = {frame["context_id"] for frame in shell.frames}
    assert len(ids) == 1
    assert ids != {None}


class TestFlush:
    def test_ids_count_from_one_and_chunks_carry_the_next(self, shell: Shell) -> None:
        shell.push("One. ")
        shell.push("", flush=True)
        shell.push("Two. ")
        shell.push("Three.", flush=True)
        assert shell.stream.flushes == [(1, False), (2, False)]
        shell.say(audio())
        [first] = shell.flushed()
        assert first == {
            "type": "flush_done",
            "context_id": "c",
            "status_code": 206,
            "done": False,
            "flush_done": True,
            "flush_id": 1,
        }
        shell.say(audio())
        shell.flushed()
        shell.say(audio())
        assert [frame["flush_id"] for frame in shell.frames] == [1, 1, 2, 2, 3]

    def test_flush_with_nothing_said_comes_back_at_once(self, shell: Shell) -> None:
        assert [f["flush_id"] for f in shell.push("", flush=True)] == [1]
        assert [f["flush_id"] for f in shell.push("", flush=True)] == [2]
        shell.push("Hi.")
        shell.say(audio())
        assert shell.frames[-1]["flush_id"] == 3
        assert shell.opened == [1]

    def test_flush_and_end_in_one_message(self, shell: Shell) -> None:
        shell.send(transcript="Hi.", flush=True)
        assert shell.stream.flushes == [(1, False), ("end", True)]
        shell.flushed()
        shell.flushed()
        assert kinds(shell.frames) == ["flush_done", "done"]

    def test_flushes_that_wait_are_bounded(self) -> None:
        shell = Shell(limits=SocketLimits(max_waiting=3))
        shell.push("Hi.")
        for _ in range(3):
            assert shell.push("", flush=True) == []
        [error] = shell.push("", flush=True)
        assert error["type"] == "error"
        assert not shell.streams


class TestLocks:
    @pytest.mark.parametrize(
        ("field", "value"),
        [
            ("voice", "w"),
            ("model_id", "sonic-2"),
            ("language", "fr"),
            ("output_format", {"container": "raw", "encoding": "pcm_f32le", "sample_rate": RATE_HZ}),
            ("pronunciation_dict_id", "pdict_2"),
        ],
    )
    def test_a_change_is_an_error_that_names_it(self, shell: Shell, field: str, value: object) -> None:
        shell.push("Hello ")
        [error] = shell.push("you.", **{field: value})
        assert (error["type"], error["context_id"], error["status_code"]) == ("error", "c", 400)
        assert field in error["message"]
        assert "must stay the same" in error["message"]
        assert not shell.streams

    def test_the_same_voice_in_another_form_is_no_change(self, shell: Shell) -> None:
        shell.push("Hello ")
        assert shell.push("you.", voice="v") == []
        assert shell.push("too.", voice={"id": "v", "extra": 1}) == []
        assert shell.stream.text == "Hello you.too."

    def test_fields_left_out_are_inherited(self, shell: Shell) -> None:
        shell.push("Hello ")
        assert shell.raw('{"context_id": "c", "transcript": "you.", "continue": true}') == []
        assert shell.raw('{"context_id": "c"}') == []
        assert shell.stream.text == "Hello you."
        assert shell.stream.flushes == [("end", True)]

    def test_the_sdk_closes_with_a_placeholder_voice(self, shell: Shell) -> None:
        shell.push("Hello.")
        placeholder = "6ccbfb76-1fc6-48f7-b71d-91ac6298247b"
        default = {"container": "raw", "encoding": "pcm_f32le", "sample_rate": 44100}
        assert shell.end(voice=placeholder, model_id="sonic-latest", output_format=default) == []
        assert kinds(shell.flushed()) == ["done"]


class TestProsody:
    def test_settings_of_the_first_message_are_the_streams(self, shell: Shell) -> None:
        shell.push("Hi.", generation_config={"speed": 1.2, "volume": 0.5, "emotion": "Happy"})
        config = shell.stream.config
        assert (config.speed, config.volume, config.emotion) == (1.2, 0.5, "happy")
        assert shell.stream.pushed == ["Hi."]

    def test_a_change_is_pushed_before_its_text_and_only_what_changed(self, shell: Shell) -> None:
        shell.push("One. ", generation_config={"speed": 1.2})
        shell.push("Two. ", generation_config={"speed": 1.2, "volume": 0.5})
        shell.push("Three. ")
        shell.push("Four.", generation_config={"speed": 0.8})
        assert shell.stream.pushed == [
            "One. ",
            Prosody(volume=0.5),
            "Two. ",
            "Three. ",
            Prosody(speed=0.8),
            "Four.",
        ]


class TestCancel:
    def test_F17_total_silence_for_a_cancelled_context(self, shell: Shell) -> None:
        shell.push("A long story.", add_timestamps=True, flush=True)
        key = shell.opened[-1]
        shell.say(audio())
        assert shell.cancel() == []
        assert key in shell.gone
        for event in (audio(), words(("A", 0, 1)), Flushed(1), Flushed("end"), Failed("x"), Warned("x")):
            assert shell.say(event, key) == []
        assert shell.end() == []
        assert shell.push("", flush=True) == []
        assert kinds(shell.frames) == ["chunk"]

    def test_unknown_ids_are_ignored(self, shell: Shell) -> None:
        assert shell.cancel("never seen") == []
        assert shell.socket.receive('{"cancel": true, "context_id": "x"}', 0.0) == []

    def test_pretty_printed(self, shell: Shell) -> None:
        shell.push("Hello.")
        shell.raw(json.dumps({"context_id": "c", "cancel": True}, indent=4))
        assert not shell.streams

    def test_of_a_context_without_text(self, shell: Shell) -> None:
        shell.push("")
        assert shell.cancel() == []
        assert shell.socket.open_contexts == 0

    def test_without_a_context_id_is_an_error(self, shell: Shell) -> None:
        assert kinds(shell.raw('{"cancel": true}')) == ["error"]

    def test_cancel_false_and_the_word_in_text_are_no_cancel(self, shell: Shell) -> None:
        shell.push("cancel")
        shell.push('"cancel"', cancel=False)
        assert shell.stream.text == 'cancel"cancel"'

    def test_C1_the_id_can_be_used_again_and_hears_only_its_own(self, shell: Shell) -> None:
        shell.push("Answer A.")
        old = shell.opened[-1]
        shell.cancel()
        shell.send(transcript="Answer B.")
        assert shell.stream.text == "Answer B."
        assert shell.say(audio(), old) == []
        assert shell.say(Flushed("end"), old) == []
        shell.say(audio())
        shell.flushed()
        assert kinds(shell.frames) == ["chunk", "done"]

    def test_C1_barge_in_before_audio_then_two_more_answers(self, shell: Shell) -> None:
        heard = {}
        for name in "ABC":
            shell.send(context_id=name, transcript=f"Answer {name}.")
            if name == "A":
                shell.cancel(name)
        keys = dict(zip("ABC", shell.opened, strict=True))
        for name in "ABC":
            shell.say(audio(ord(name)), keys[name])
            heard[name] = [f for f in shell.frames if f["context_id"] == name]
        assert [len(heard[name]) for name in "ABC"] == [0, 1, 1]


def test_C4_interleaved_contexts_keep_their_own_order_and_tag(shell: Shell) -> None:
    for name in ("a", "b"):
        shell.push("Text.", context_id=name, add_timestamps=True)
    first, second = shell.opened
    for at in range(3):
        for key in (first, second):
            shell.say(words((f"w{at}", at * 480, at * 480 + 100)), key)
            shell.say(audio(start=at * 480), key)
    shell.cancel("a")
    for name in ("a", "b"):
        mine = [frame for frame in shell.frames if frame["context_id"] == name]
        assert kinds(mine) == ["timestamps", "chunk"] * 3
        assert [f["word_timestamps"]["words"] for f in mine if f["type"] == "timestamps"] == [["w0"], ["w1"], ["w2"]]
    assert shell.say(words(("stale", 0, 1)), first) == []


def test_C5_contexts_end_independently(shell: Shell) -> None:
    for name in ("a", "b", "c"):
        shell.send(context_id=name, transcript="Text.")
    a, b, c = shell.opened
    assert shell.flushed(b)[0]["context_id"] == "b"
    assert shell.say(Failed("broken"), a)[0]["context_id"] == "a"
    assert shell.say(audio(), c)[0]["context_id"] == "c"
    assert shell.flushed(c)[0]["context_id"] == "c"
    assert shell.socket.open_contexts == 0


class TestReuse:
    def test_after_done_a_fresh_context(self, shell: Shell) -> None:
        for text in ("One.", "Two."):
            shell.send(transcript=text, flush=True)
            shell.say(audio())
            shell.flushed()
            shell.flushed()
        assert len(set(shell.opened)) == 2
        assert [f.get("flush_id") for f in shell.frames] == [1, 1, None, 1, 1, None]

    def test_before_done_it_waits_for_it(self, shell: Shell) -> None:
        shell.send(transcript="One.")
        assert shell.send(transcript="Two.") == []
        assert len(shell.opened) == 1
        shell.say(audio())
        shell.flushed()
        assert shell.stream.text == "Two."
        shell.say(audio())
        shell.flushed()
        assert kinds(shell.frames) == ["chunk", "done", "chunk", "done"]

    def test_cancel_takes_what_waits_with_it(self, shell: Shell) -> None:
        shell.send(transcript="One.")
        shell.send(transcript="Two.")
        shell.cancel()
        assert not shell.streams
        assert shell.socket.open_contexts == 0

    def test_what_waits_is_bounded(self) -> None:
        shell = Shell(limits=SocketLimits(max_waiting=2))
        shell.send(transcript="One.")
        assert shell.send(transcript="Two.") == []
        assert shell.send(transcript="Three.") == []
        assert shell.send(transcript="Four.")[0]["status_code"] == 429


class TestErrors:
    def test_shape_is_the_union_of_all_versions(self, shell: Shell) -> None:
        shell.refuse = NotFound("voice 'v' is not known", "voice")
        [error] = shell.push("Hello.")
        assert error == {
            "type": "error",
            "context_id": "c",
            "done": True,
            "status_code": 404,
            "error_code": "voice_not_found",
            "title": "Voice not found",
            "message": "voice 'v' is not known",
            "request_id": "id-1",
            "error": "Voice not found: voice 'v' is not known",
        }

    @pytest.mark.parametrize(
        ("version", "done"),
        [("2024-11-13", False), ("2025-04-16", False), ("2026-03-01", True), ("2026-08-14", True)],
    )
    def test_F12_done_by_version(self, version: str, done: bool) -> None:
        shell = Shell(version)
        shell.refuse = NotFound("no such voice", "voice")
        assert shell.push("Hello.")[0]["done"] is done

    @pytest.mark.parametrize(
        ("error", "status"),
        [
            (AtCapacity("all places are taken"), 429),
            (InvalidInput("no"), 400),
            (NotFound("no voice", "voice"), 404),
            (NotFound("no model", "model"), 400),
        ],
    )
    def test_status_of_a_refusal(self, shell: Shell, error: Exception, status: int) -> None:
        shell.refuse = error
        [frame] = shell.push("Hello.")
        assert frame["status_code"] == status
        assert shell.socket.open_contexts == 0

    def test_a_stream_that_takes_no_more_ends_its_context_only(self, shell: Shell) -> None:
        shell.push("Other.", context_id="other")
        shell.push("Hello ")
        shell.choke = InvalidInput("too much text waits")
        [error] = shell.push("you.")
        assert (error["type"], error["context_id"]) == ("error", "c")
        assert [stream.text for stream in shell.streams.values()] == ["Other."]

    def test_a_failure_of_the_engine_ends_the_context(self, shell: Shell) -> None:
        shell.send(transcript="Hello.")
        [error] = shell.say(Failed("the model broke"))
        assert (error["status_code"], error["message"]) == (500, "the model broke")
        assert not shell.streams
        shell.send(transcript="Again.")
        assert shell.stream.text == "Again."

    def test_warnings_are_for_the_log(self, shell: Shell) -> None:
        shell.push("Hello.")
        assert shell.say(Warned("this voice has no emotions")) == []
        assert shell.notes == ["this voice has no emotions"]

    def test_messages_under_way_when_a_context_fails_do_not_begin_it_in_mid_sentence(self, shell: Shell) -> None:
        shell.refuse = AtCapacity("full")
        assert len(shell.push("My name ")) == 1
        shell.refuse = None
        assert shell.push("is Ada.") == []
        assert shell.end() == []
        assert len(shell.frames) == 1
        assert not shell.streams
        shell.send(transcript="Again.")
        assert shell.stream.text == "Again."

    def test_a_later_try_or_one_with_other_settings_is_a_new_context(self, shell: Shell) -> None:
        shell.refuse = NotFound("no such voice", "voice")
        shell.push("Hello.")
        shell.refuse = None
        shell.push("Hello.", voice="w")
        assert shell.stream.config.voice == "w"
        shell.say(Failed("broken"))
        shell.wait(1.5)
        shell.push("Hello.", voice="w")
        assert shell.stream.text == "Hello."

    def test_a_failed_one_shot_can_be_tried_again_at_once(self, shell: Shell) -> None:
        shell.refuse = AtCapacity("full")
        shell.send(transcript="Hello.")
        shell.refuse = None
        shell.send(transcript="Hello.")
        assert shell.stream.text == "Hello."

    def test_too_many_contexts(self) -> None:
        shell = Shell(limits=SocketLimits(max_contexts=2))
        shell.push("One.", context_id="a")
        shell.push("Two.", context_id="b")
        [error] = shell.push("Three.", context_id="c")
        assert (error["context_id"], error["status_code"], error["error_code"]) == ("c", 429, "concurrency_limited")
        assert shell.push("more of three", context_id="c") == []
        shell.end(context_id="a")
        shell.flushed(shell.opened[0])
        shell.send(context_id="d", transcript="Four.")
        assert shell.stream.text == "Four."

    @pytest.mark.parametrize("limits", [SocketLimits(max_text_chars=10), SocketLimits(max_unspoken_chars=10)])
    def test_too_much_text(self, limits: SocketLimits) -> None:
        shell = Shell(limits=limits)
        shell.push("Short.")
        [error] = shell.push("x" * 11)
        assert (error["type"], error["context_id"]) == ("error", "c")
        assert "10" in error["message"]
        assert not shell.streams

    def test_a_flush_that_came_back_makes_room_for_text(self) -> None:
        shell = Shell(limits=SocketLimits(max_unspoken_chars=10))
        shell.push("12345678", flush=True)
        shell.flushed()
        assert shell.push("12345678") == []
        assert kinds(shell.push("12345678")) == ["error"]


class TestOddFrames:
    @pytest.mark.parametrize(
        "frame",
        [
            "", "{", "null", "[]", '"text"', "12", "{}", "cancel", "\ud800", "[" * 100_000, '{"a":' * 100_000,
            '{"transcript": 1}', '{"cancel": "yes"}', '{"context_id": {}, "cancel": true}', '{"context_id": [[[]]]}',
        ],
    )  # fmt: skip
    def test_is_an_error_and_the_socket_lives(self, shell: Shell, frame: str) -> None:
        [error] = shell.raw(frame)
        assert (error["type"], error["status_code"]) == ("error", 400)
        shell.send(transcript="Still here.")
        assert shell.stream.text == "Still here."

    def test_binary(self, shell: Shell) -> None:
        [error] = shell.raw(b'{"context_id": "c"}')
        assert (error["type"], error["status_code"]) == ("error", 400)
        shell.send(transcript="Still here.")
        assert shell.stream.text == "Still here."

    @pytest.mark.parametrize(
        ("field", "value", "says"),
        [
            ("transcript", 7, "transcript: expected str"),
            ("voice", {"mode": "embedding", "embedding": [0.1] * 192}, "embeddings are not accepted"),
            ("voice", {"mode": "id"}, "an id is required"),
            ("voice", None, "voice"),
            ("model_id", None, "model_id"),
            ("output_format", None, "output_format"),
            ("output_format", {"container": "wav", "encoding": "pcm_s16le", "sample_rate": 24000}, 'only "raw"'),
            ("output_format", {"container": "raw", "encoding": "pcm_s24", "sample_rate": 8000}, "pcm_f32le, pcm_s16le"),
            ("output_format", {"container": "raw", "encoding": "pcm_s16le", "sample_rate": 12345}, "8000, 16000"),
            ("output_format", {"container": "raw", "encoding": "pcm_s16le"}, "sample_rate: this field is required"),
            ("output_format", {"encoding": "pcm_s16le"}, "output_format.container: this field is required"),
            ("continue", "yes", "continue"),
            ("speed", "warp", "speed"),
            ("generation_config", {"speed": 9}, "between 0.25 and 4"),
            ("language", "not a language", "language"),
            ("pronunciation_dict_id", 7, "pronunciation_dict_id"),
        ],
    )
    def test_F11_a_faulty_field_is_an_error_on_its_context(
        self, shell: Shell, field: str, value: object, says: str
    ) -> None:
        message = {**BASE, "context_id": "c", "transcript": "Hi.", "continue": True, field: value}
        [error] = shell.raw(json.dumps(message))
        assert (error["type"], error["context_id"]) == ("error", "c")
        assert says in error["message"]
        assert shell.opened == []

    def test_a_faulty_message_ends_the_context_it_names(self, shell: Shell) -> None:
        shell.push("Hello ")
        [error] = shell.raw('{"context_id": "c", "transcript": 5}')
        assert error["context_id"] == "c"
        assert not shell.streams

    def test_huge_frame(self) -> None:
        shell = Shell(limits=SocketLimits(max_frame_chars=1000))
        [error] = shell.push("x" * 1000)
        assert (error["status_code"], error["context_id"]) == (413, "c")

    def test_a_huge_context_id_is_not_repeated_in_every_message(self, shell: Shell) -> None:
        assert kinds(shell.push("Hi.", context_id="x" * 600)) == ["error"]
        assert shell.opened == []

    def test_F22_tolerates_nulls_unknown_keys_and_any_model(self, shell: Shell) -> None:
        shell.push(
            "Hi.",
            language=None,
            voice="v",
            model_id="sonic-9-2031",
            duration=3,
            flush=None,
            locale=None,
            generation_config=None,
            surprise={"a": [1]},
        )
        assert (shell.stream.config.model, shell.stream.config.language) == ("sonic-9-2031", "")


class TestExpiry:
    def test_a_context_left_alone_ends_with_done_after_its_last_audio(self, shell: Shell) -> None:
        idle_s = SocketLimits().idle_s
        assert idle_s >= 5.0
        shell.push("Hello.")
        shell.clock.advance(4.0)
        shell.say(audio())
        assert shell.wait(idle_s - 0.1) == []
        assert shell.stream.flushes == []
        shell.wait(0.2)
        assert shell.stream.flushes == [("end", True)]
        assert kinds(shell.say(audio())) == ["chunk"]
        assert kinds(shell.flushed()) == ["done"]
        assert shell.socket.due_s is None

    def test_input_keeps_it_alive(self, shell: Shell) -> None:
        for _ in range(5):
            shell.push("more ")
            shell.wait(6.0)
        assert shell.stream.flushes == []
        assert len(shell.opened) == 1

    def test_due_is_never_late_and_moves_on(self, shell: Shell) -> None:
        assert shell.socket.due_s is None
        shell.push("Hello.")
        due_s = shell.socket.due_s
        assert due_s is not None
        assert due_s <= SocketLimits().idle_s
        shell.clock.advance(5.0)
        shell.push("More.", context_id="d")
        shell.say(audio(), shell.opened[0])
        shell.wait(0.0)
        assert shell.socket.due_s == pytest.approx(5.0 + SocketLimits().idle_s)

    def test_an_empty_one_is_done_at_once(self, shell: Shell) -> None:
        shell.push("")
        assert kinds(shell.wait(60.0)) == ["done"]

    def test_input_between_expiry_and_done_is_not_lost(self, shell: Shell) -> None:
        shell.push("Hello.")
        shell.wait(60.0)
        shell.push("Late.")
        assert kinds(shell.flushed()) == ["done"]
        assert shell.stream.text == "Late."

    def test_one_that_was_closed_waits_for_its_audio_however_long(self, shell: Shell) -> None:
        shell.send(transcript="Hello.")
        assert shell.wait(600.0) == []
        assert kinds(shell.flushed()) == ["done"]


class TestClose:
    def test_every_open_context_is_told(self, shell: Shell) -> None:
        shell.push("One.", context_id="a")
        shell.send(context_id="b", transcript="Two.")
        shell.push("", context_id="c")
        sent = shell.close("the server is shutting down")
        assert [(f["type"], f["context_id"]) for f in sent] == [("error", "a"), ("error", "b"), ("error", "c")]
        assert "shutting down" in sent[0]["message"]
        assert not shell.streams

    def test_nothing_follows(self, shell: Shell) -> None:
        shell.push("One.")
        shell.close("bye")
        assert shell.close("bye") == []
        assert shell.push("Two.", context_id="b") == []
        assert shell.say(audio()) == []
        assert shell.wait(100.0) == []
        assert shell.socket.due_s is None


def test_1000_cancelled_contexts_leave_nothing_behind(shell: Shell) -> None:
    for at in range(1000):
        shell.push("Some text.", context_id=f"c{at}")
        shell.say(audio())
        shell.cancel(f"c{at}")
    assert shell.socket.open_contexts == 0
    assert not shell.streams
    assert len(shell.socket._by_key) == 0
    assert len(shell.socket._ended._ended) <= 256
