"""The 54 voices of Kokoro v1.0, and the languages that they speak.

Names, genders, grades and attributions are those of the model's own list (VOICES.md of Kokoro-82M). A grade says how
much and how good the speech was that a voice learnt from; Spanish and Portuguese voices have none.
"""

import re
import uuid
from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

from antiphon.core.speech import VoiceInfo
from antiphon.models.kokoro_style import Blend

ENGINE = "kokoro"


@dataclass(frozen=True, slots=True)
class Tongue:
    """One language of the model. ``stand_in``: "with the" in its phonemes, read and never spoken after a unit cut
    inside a sentence. ``weak``: why its voices are no good."""

    code: str
    locale: str
    name: str
    stand_in: str
    weak: str = ""


TONGUES: Mapping[str, Tongue] = MappingProxyType(
    {
        "a": Tongue("en", "en-US", "American English", "wˌɪð ðə nˈɛkst"),
        "b": Tongue("en", "en-GB", "British English", "wˌɪð ðə nˈɛkst"),
        "e": Tongue("es", "es-ES", "Spanish", "kˌon la sɪɣjˈente"),
        "f": Tongue("fr", "fr-FR", "French", "avˌɛk lə syivˈɑ̃"),
        "h": Tongue("hi", "hi-IN", "Hindi", "ˌɔːɾ ˈʌɡlaː", "a recogniser mishears most of its words"),
        "i": Tongue("it", "it-IT", "Italian", "kˌon il pɾˈɔssimo"),
        "j": Tongue("ja", "ja-JP", "Japanese", "to ʦɨɡi no"),
        "p": Tongue("pt", "pt-BR", "Brazilian Portuguese", "kˌoŋ u pɾˈɔsimʊ"),
        "z": Tongue("zh", "zh-CN", "Mandarin Chinese", "ɻa↗nxou↘ ʨjou↘"),
    }
)
"""By the first letter of a voice's name."""

_GRADES = """
af_heart A; af_bella A-; af_nicole B-; af_aoede C+; af_kore C+; af_sarah C+; am_fenrir C+; am_michael C+; am_puck C+;
af_alloy C; af_nova C; af_sky C-; af_jessica D; af_river D; am_echo D; am_eric D; am_liam D; am_onyx D; am_santa D-;
am_adam F+; bf_emma B-; bf_isabella C; bm_fable C; bm_george C; bm_lewis D+; bf_alice D; bf_lily D; bm_daniel D;
ef_dora; em_alex; em_santa; ff_siwis B-; if_sara C; im_nicola C; jf_alpha C+; jf_gongitsune C; jf_tebukuro C;
jf_nezumi C-; jm_kumo C-; pf_dora; pm_alex; pm_santa; hf_alpha C; hf_beta C; hm_omega C; hm_psi C; zf_xiaobei D;
zf_xiaoni D; zf_xiaoxiao D; zf_xiaoyi D; zm_yunjian D; zm_yunxi D; zm_yunxia D; zm_yunyang D
"""
_RECORDINGS = {
    "ff_siwis": "SIWIS (CC BY 4.0)",
    "jf_gongitsune": "koniwa, gongitsune (CC BY)",
    "jf_nezumi": "koniwa, nezuminoyomeiri (CC BY)",
    "jf_tebukuro": "koniwa, tebukurowokaini (CC BY)",
    "jm_kumo": "koniwa, kumonoito (CC BY)",
}
"""Recordings that a voice learnt from, where they ask to be named."""

_SOURCE = "Kokoro-82M v1.0"


def _voice(name: str, grade: str) -> VoiceInfo:
    tongue = TONGUES[name[0]]
    gender = "feminine" if name[1] == "f" else "masculine"
    about = f"{tongue.name}, {gender}"
    about += f"; grade {grade} of its makers" if grade else "; not graded by its makers"
    about += f"; weak: {tongue.weak}" if tongue.weak else ""
    return VoiceInfo(
        id=str(uuid.uuid5(uuid.NAMESPACE_URL, f"antiphon/voices/{ENGINE}/{name}")),
        name=name,
        engine=ENGINE,
        language=tongue.code,
        locales=(tongue.locale,),
        gender=gender,
        description=about,
        quality="weak" if tongue.weak else "neural",
        licence="Apache-2.0",
        source=f"{_SOURCE}; {_RECORDINGS[name]}" if name in _RECORDINGS else _SOURCE,
    )


def _voices() -> dict[str, VoiceInfo]:
    rows = (row.split() for row in _GRADES.split(";"))
    return {name: _voice(name, "".join(grade)) for name, *grade in rows}


VOICES: Mapping[str, VoiceInfo] = MappingProxyType(_voices())
"""By name, the best of each language first."""

_NAMES = {info.id: name for name, info in VOICES.items()}


def voice_name(voice_id: str) -> str | None:
    """Name of a listed voice by its id; None: it is not listed."""
    return _NAMES.get(voice_id)


def names_voice(name: str) -> bool:
    """Whether ``name`` means one of these voices, by name or id, or a blend that begins with one."""
    return name in _NAMES or re.split(r"[+:(]", name, maxsplit=1)[0].strip() in VOICES


def blend_info(blend: Blend) -> VoiceInfo:
    """A blend as a voice: its name is its id, and its language that of its heaviest part."""
    heaviest = VOICES[blend.parts[0][0]]
    shares = " and ".join(f"{weight:.0%} {voice}" for voice, weight in blend.parts)
    return VoiceInfo(
        id=blend.name,
        name=blend.name,
        engine=ENGINE,
        language=heaviest.language,
        locales=heaviest.locales,
        gender=heaviest.gender,
        description=f"A blend: {shares}",
        quality=heaviest.quality,
        licence="Apache-2.0",
        source=_SOURCE,
    )
