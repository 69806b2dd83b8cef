"""Whisper by way of faster-whisper (CTranslate2): about a hundred languages, whole utterances.

An optional extra. Any folder in faster-whisper's format loads: the model ``whisper-base`` of the store, or a larger one
that the settings name. Source: Radford et al. 2022, "Robust Speech Recognition via Large-Scale Weak Supervision".
"""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from antiphon.core.errors import EngineFailed, ModelUnavailable
from antiphon.core.frame import Samples

SAMPLE_RATE_HZ = 16_000
MAX_SAMPLES = 30 * SAMPLE_RATE_HZ

_SYSTRAN = ("tiny", "base", "small", "medium", "large-v1", "large-v2", "large-v3")
_ENGLISH = ("tiny.en", "base.en", "small.en", "medium.en")
SIZES = {
    **{size: f"Systran/faster-whisper-{size}" for size in (*_SYSTRAN, *_ENGLISH)},
    "large-v3-turbo": "mobiuslabsgmbh/faster-whisper-large-v3-turbo",
}
"""Whisper's sizes, and the repository of the hub that holds each in faster-whisper's format."""


@dataclass(frozen=True, slots=True)
class WhisperWord:
    """``text`` without the space before it; ``[start_s, end_s)`` from the decoder's cross-attention."""

    text: str
    start_s: float
    end_s: float
    probability: float


@dataclass(frozen=True, slots=True)
class WhisperTranscript:
    """``no_speech``: the model's own probability that nobody speaks; ``compression``: of the text, high for loops."""

    words: tuple[WhisperWord, ...]
    language: str
    avg_logprob: float
    no_speech: float
    compression: float


class Whisper:
    """Thread-safe; ``workers`` calls may run beside each other, one core each.

    Raises ``ModelUnavailable`` if the package or the folder is missing, saying what to do.
    """

    def __init__(self, folder: Path, workers: int = 1) -> None:
        try:
            from faster_whisper import WhisperModel
        except ImportError as error:
            raise ModelUnavailable(
                "Whisper needs the package faster-whisper: pip install 'antiphon[whisper]'"
            ) from error
        if not (folder / "model.bin").is_file():
            what = "holds no model of faster-whisper's format (model.bin)" if folder.is_dir() else "is not there"
            raise ModelUnavailable(f"{folder} {what}; 'antiphon models pull whisper-base' fetches one")
        try:
            self._model: Any = WhisperModel(
                str(folder),
                device="cpu",
                compute_type="int8",
                cpu_threads=1,  # the scheduler owns the cores
                num_workers=max(1, workers),
                local_files_only=True,
            )
        except Exception as error:  # the library raises whatever CTranslate2 does
            raise ModelUnavailable(f"{folder} cannot be loaded: {error}") from error
        self.languages: tuple[str, ...] = tuple(self._model.supported_languages)

    def transcribe(
        self, samples: Samples, language: str = "", hotwords: str = "", beam: int = 1
    ) -> WhisperTranscript:
        """Recognise at most 30 s of 16 kHz ``samples`` [n]; ``language`` "" finds it out. Raises ``EngineFailed``."""
        try:
            segments, info = self._model.transcribe(
                samples[:MAX_SAMPLES],
                language=language or None,
                beam_size=beam,
                word_timestamps=True,
                condition_on_previous_text=False,
                temperature=0.0,
                vad_filter=False,
                hotwords=hotwords or None,
            )
            found = list(segments)
        except Exception as error:
            raise EngineFailed(f"whisper: {error}") from error
        words = tuple(
            WhisperWord(word.word.strip(), float(word.start), float(word.end), float(word.probability))
            for segment in found
            for word in segment.words or ()
            if word.word.strip()
        )
        return WhisperTranscript(
            words=words,
            language=info.language,
            avg_logprob=min((float(segment.avg_logprob) for segment in found), default=0.0),
            no_speech=max((float(segment.no_speech_prob) for segment in found), default=0.0),
            compression=max((float(segment.compression_ratio) for segment in found), default=0.0),
        )
