"""The state-space voice as a product: its model, its front end, its name."""

import json
import uuid
from importlib.resources import files
from pathlib import Path

from antiphon.core.errors import ModelUnavailable
from antiphon.core.speech import VoiceInfo
from antiphon.models.hibari_frontend import HibariFrontend
from antiphon.models.ssm import Frames, SsmModel
from antiphon.models.ssm_knobs import Knobs
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


class SsmVoice:
    """``voices`` has one entry; streams are opened as tracks."""

    name = "ssm"
    voices = (RIVER,)

    def __init__(self, folder: Path, frontend: HibariFrontend | None = None) -> None:
        """``folder``: see :class:`SsmModel`. ``frontend``: one that is loaded already. Raises ``ModelUnavailable``."""
        self.model = SsmModel(folder)
        if frontend is None:
            try:
                vocabulary = json.loads((files("hibari") / "assets" / "vocab.json").read_text("utf-8"))
            except (OSError, ModuleNotFoundError) as error:
                raise ModelUnavailable(f"the package hibari-tts is incomplete: {error}") from error
            frontend = HibariFrontend(vocabulary)
        self.frontend = frontend

    def track(self, seed: int, at_sample: int = 0) -> SsmTrack:
        """A stream that has said nothing yet."""
        return SsmTrack(self.model, self.frontend, self.model.init_state(1), seed, at_sample)

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
