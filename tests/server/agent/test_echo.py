import numpy as np
import pytest

from antiphon.audio.pcm import bytes_per_sample, decode, encode
from antiphon.audio.resample import resample
from antiphon.server.agent.echo import SessionEcho

from ...audio.test_echo import db, echo_of, speech


@pytest.mark.parametrize(
    ("encoding", "rate_hz", "agent_rate_hz"),
    [("pcm_s16le", 16_000, 24_000), ("pcm_mulaw", 8_000, 8_000), ("pcm_f32le", 44_100, 48_000)],
)
def test_the_agents_voice_is_taken_out_in_the_sockets_own_form(encoding: str, rate_hz: int, agent_rate_hz: int) -> None:
    agent = speech(8.0, 1)
    echo = resample(echo_of(agent, 100), 16_000, rate_hz)
    sent = encode(resample(agent, 16_000, agent_rate_hz), "pcm_s16le")
    came = encode(echo, encoding)
    session = SessionEcho(encoding, rate_hz, "pcm_s16le", agent_rate_hz)
    step_s, size = 0.02, bytes_per_sample(encoding)
    out = b""
    for index in range(round(8.0 / step_s)):
        a, b = round(index * step_s * agent_rate_hz) * 2, round((index + 1) * step_s * agent_rate_hz) * 2
        session.left(sent[a:b])
        a, b = round(index * step_s * rate_hz) * size, round((index + 1) * step_s * rate_hz) * size
        clean = session.heard(came[a:b])
        assert len(clean) == len(came[a:b])
        out += clean
    half = len(out) // 2 // size * size
    assert db(decode(came[half : len(out)], encoding), decode(out[half:], encoding)) > 12.0


def test_a_client_that_dropped_the_agents_audio_has_no_echo_of_it() -> None:
    session = SessionEcho("pcm_s16le", 16_000, "pcm_s16le", 16_000)
    session.left(encode(speech(5.0, 2), "pcm_s16le"))
    session.cleared()
    assert session._canceller.waiting_samples == 0
    user = speech(2.0, 3)
    clean = decode(session.heard(encode(user, "pcm_s16le")), "pcm_s16le")
    assert abs(db(clean[8_000:], user[8_000:])) < 1.5


def test_half_a_sample_waits_for_its_other_half() -> None:
    session = SessionEcho("pcm_s16le", 16_000, "pcm_s16le", 16_000)
    data = encode(np.zeros(500, np.float32), "pcm_s16le")
    out = session.heard(data[:333]) + session.heard(data[333:])
    assert len(out) == len(data)
