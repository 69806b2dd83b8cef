"""The state-space voice as a product: its model, its front end, its name."""

import uuid
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from antiphon.core.errors import EngineFailed
from antiphon.core.speech import Rendered, VoiceInfo
from antiphon.models.hibari_alphabet import vocabulary
from antiphon.models.hibari_frontend import HibariFrontend
from antiphon.models.packaged import ASSETS
from antiphon.models.session import Sessions
from antiphon.models.ssm import Frames, SsmModel
from antiphon.models.ssm_knobs import Knobs, knobs_for
from antiphon.models.ssm_sound import SAMPLE_RATE_HZ
from antiphon.models.ssm_state import SsmState
from antiphon.models.ssm_track import SsmTrack
from antiphon.text.unit import Text, Unit

RIVER = VoiceInfo(
    id=str(uuid.uuid5(uuid.NAMESPACE_URL, "antiphon/voices/ssm/river")),
    name="River",
    engine="ssm",
    language="en",
    locales=("en-US",),
    gender="feminine",
    description="State-space voice in American English; starts after the first words of a sentence, knows emotions.",
    quality="neural; distilled from Heart, with less detail than it",
    licence="Apache-2.0",
    source="trained by this project (train/voice) with hibari as its teacher",
)


def packaged() -> Path | None:
    """Folder of the voice that comes with the package; None if there is none."""
    folder = ASSETS / "ssm"
    return folder if (folder / "voice.json").is_file() else None


class SsmVoice:
    """Streams are opened as tracks. It is a :class:`antiphon.engine.voice.JobVoice` too, for whoever wants one
    whole unit (without times)."""

    name = "ssm"
    sample_rate_hz = SAMPLE_RATE_HZ
    quantum_bound_s = 0.05
    voices = (RIVER,)

    def __init__(
        self, folder: Path, frontend: HibariFrontend | None = None, sessions: Sessions | None = None
    ) -> None:
        """``folder``: see :class:`SsmModel`. ``frontend``: one that is loaded already. Raises ``ModelUnavailable``."""
        self.model = SsmModel(folder, sessions)
        self.frontend = HibariFrontend(vocabulary()) if frontend is None else frontend

    def track(self, seed: int, at_sample: int = 0) -> SsmTrack:
        """A stream that has said nothing yet."""
        return SsmTrack(self.model, self.frontend, self.model.init_state(1), seed, at_sample)

    def speak(self, voice: str, unit: Unit, at_sample: int, seed: int, after: str | None) -> Iterator[Rendered]:
        """A unit as a sentence of its own, in steps; see :class:`antiphon.engine.voice.JobVoice`."""
        if voice not in {info.id for info in self.voices}:
            raise EngineFailed(f"ssm has no voice {voice!r}")
        track = self.track(seed, at_sample)
        track.ending = after
        track.speak(unit, knobs_for(unit.speed, unit.emotion) or Knobs(unit.speed))
        track.close(unit.ending)
        while track.queue:
            if (steps := track.steps_ready(8)) > 0:
                samples, track.state = self.model.advance(track.frames(steps), track.state)
                yield Rendered(samples[0])
            else:
                yield Rendered(np.zeros(track.silence(), np.float32))

    def estimate_s(self, unit: Unit) -> float:
        """About 15 characters a second are spoken; a second costs 15 ms."""
        return 0.004 + 0.015 * len(unit.text) / 15.0 / max(unit.speed, 0.25)

    def warm_up(self) -> None:
        """A real sentence with an unknown word, alone and in a batch."""
        track = self.track(0)
        track.speak(Unit((Text("Zyqvorth and blarnix, spoken for the first time."),)), Knobs())
        track.close("sentence")
        while (steps := track.steps_ready(8)) > 0:
            frames = track.frames(steps)
            _, state = self.model.advance(frames, track.state)
            self.model.advance(Frames.join([frames] * 8), SsmState.join([track.state] * 8))
            track.state = state
