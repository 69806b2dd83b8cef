"""Every language of the protocol, through the real SDKs: it speaks, or the error says what to install."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any, get_args

import pytest

from antiphon.text.languages import LANGUAGES, base_language

from .heard import SPEECH_RMS_DBFS, dbfs, file_wave, raw_wave
from .required import required
from .running import Server, serving, strict

cartesia = required("cartesia")
openai = required("openai")
required("espeakng_loader")

RAW = {"container": "raw", "encoding": "pcm_s16le", "sample_rate": 24000}
ALIAS = "f786b574-daa5-4673-aa0c-cbe3e8534c02"
"""The voice that LiveKit's plugin hard-codes: whoever answers here."""
WITHOUT_ESPEAK = "import sys; sys.modules['espeakng_loader'] = None; from antiphon.cli import main; main()"

SENTENCES = {
    "ar": "صباح الخير، كيف حالك؟",
    "bg": "Добро утро, как сте?",
    "bn": "শুভ সকাল, কেমন আছেন?",
    "cs": "Dobré ráno, jak se máte?",
    "da": "Godmorgen, hvordan har du det?",
    "de": "Guten Morgen, wie geht es Ihnen?",
    "el": "Καλημέρα, τι κάνετε;",
    "en": "Good morning, how are you?",
    "es": "Buenos días, ¿cómo está?",
    "fi": "Hyvää huomenta, mitä kuuluu?",
    "fr": "Bonjour, comment allez-vous ?",
    "gu": "સુપ્રભાત, તમે કેમ છો?",
    "he": "בוקר טוב, מה שלומך?",
    "hi": "नमस्ते, आप कैसे हैं?",
    "hr": "Dobro jutro, kako ste?",
    "hu": "Jó reggelt, hogy van?",
    "id": "Selamat pagi, apa kabar?",
    "it": "Buongiorno, come sta?",
    "ja": "おはようございます。",
    "ka": "დილა მშვიდობისა, როგორ ხართ?",
    "kn": "ಶುಭೋದಯ, ಹೇಗಿದ್ದೀರಿ?",
    "ko": "안녕하세요, 잘 지내세요?",
    "ml": "സുപ്രഭാതം, സുഖമാണോ?",
    "mr": "सुप्रभात, तुम्ही कसे आहात?",
    "ms": "Selamat pagi, apa khabar?",
    "nl": "Goedemorgen, hoe gaat het met u?",
    "no": "God morgen, hvordan har du det?",
    "or": "ଶୁଭ ସକାଳ, ଆପଣ କେମିତି ଅଛନ୍ତି?",
    "pa": "ਸਤ ਸ੍ਰੀ ਅਕਾਲ, ਤੁਸੀਂ ਕਿਵੇਂ ਹੋ?",
    "pl": "Dzień dobry, jak się pan ma?",
    "pt": "Bom dia, como vai?",
    "ro": "Bună dimineața, ce mai faceți?",
    "ru": "Доброе утро, как дела?",
    "sk": "Dobré ráno, ako sa máte?",
    "sv": "God morgon, hur mår du?",
    "ta": "காலை வணக்கம், எப்படி இருக்கிறீர்கள்?",
    "te": "శుభోదయం, మీరు ఎలా ఉన్నారు?",
    "th": "สวัสดีครับ สบายดีไหม",
    "tl": "Magandang umaga, kumusta ka?",
    "tr": "Günaydın, nasılsınız?",
    "uk": "Доброго ранку, як справи?",
    "ur": "صبح بخیر، آپ کیسے ہیں؟",
    "vi": "Chào buổi sáng, bạn khỏe không?",
    "zh": "早上好，你好吗？",
}


@pytest.fixture(scope="module")
def client(server: Server) -> Iterator[Any]:
    with strict(cartesia.Cartesia, server.http, server.key) as made:
        yield made


def assert_speaks(samples: Any, rate_hz: int) -> None:
    assert 0.4 < len(samples) / rate_hz < 8.0
    assert dbfs(samples) > SPEECH_RMS_DBFS


def test_the_sdk_knows_no_language_that_we_do_not() -> None:
    known = {tag for part in get_args(cartesia.types.SupportedLanguage) for tag in get_args(part)}
    assert {base_language(tag) for tag in known} <= set(LANGUAGES)
    assert set(SENTENCES) == set(LANGUAGES)


@pytest.mark.parametrize("language", LANGUAGES)
def test_cartesia_speaks_every_language_with_the_voice_it_always_sends(client: Any, language: str) -> None:
    words: list[str] = []
    audio = bytearray()
    for event in client.tts.generate_sse(
        model_id="sonic-3",
        transcript=SENTENCES[language],
        voice={"mode": "id", "id": ALIAS},
        output_format=RAW,
        language=language,
        add_timestamps=True,
    ):
        if event.type == "chunk":
            audio += event.audio
        elif event.type == "timestamps":
            words += event.word_timestamps.words
    assert_speaks(raw_wave(bytes(audio), "pcm_s16le", 24000), 24000)
    assert "".join(words) == "".join(SENTENCES[language].split())


@pytest.mark.parametrize("language", ["de", "ru", "hi"])
def test_openai_speaks_a_language_by_the_name_of_a_voice(server: Server, language: str) -> None:
    with openai.OpenAI(api_key=server.key, base_url=server.openai, max_retries=0) as client:
        made = client.audio.speech.create(
            model="tts-1", voice=f"espeak-{language}", input=SENTENCES[language], response_format="wav"
        )
        wave, rate_hz, _ = file_wave(made.read())
    assert_speaks(wave, rate_hz)


def test_locales_fall_back_and_a_voice_that_was_named_is_not_swapped(client: Any) -> None:
    def speak(**asked: Any) -> int:
        return len(client.tts.generate(model_id="sonic-3", transcript="Bom dia.", output_format=RAW, **asked).read())

    assert speak(voice=ALIAS, locale="pt-PT") > 10_000
    assert speak(voice=ALIAS, language="pt-XX") > 10_000
    german = next(one for one in client.voices.list(q="German") if one.engine == "espeak")
    with pytest.raises(cartesia.BadRequestError) as raised:
        speak(voice=german.id, language="pt")
    assert "speaks de, not pt" in raised.value.body["message"]
    assert "Portuguese" in raised.value.body["message"]


def test_every_voice_says_what_it_is(client: Any) -> None:
    for voice in client.voices.list(limit=100):
        extra = voice.model_extra
        assert extra["engine"]
        assert extra["quality"]
        assert extra["licence"]
        assert voice.language
    spoken = {base_language(voice.language) for voice in client.voices.list(limit=100)}
    assert spoken >= set(LANGUAGES)


def test_numbers_and_dates_are_the_languages_own(client: Any) -> None:
    spoken = [
        word
        for event in client.tts.generate_sse(
            model_id="sonic-3",
            transcript="Am 3.10.2024 kostet es 29,50 €.",
            voice=ALIAS,
            output_format=RAW,
            language="de",
            add_timestamps=True,
            use_normalized_timestamps=True,
        )
        if event.type == "timestamps"
        for word in event.word_timestamps.words
    ]
    assert " ".join(spoken) == "Am dritten Oktober 2024 kostet es 29 Euro 50."


@pytest.fixture(scope="module")
def bare(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """A server where the extra was never installed."""
    folder: Path = tmp_path_factory.mktemp("bare")
    with serving(folder, program=("-c", WITHOUT_ESPEAK)) as running:
        yield running


@pytest.mark.parametrize("language", LANGUAGES)
def test_without_the_extra_the_error_says_what_to_install(bare: Server, language: str) -> None:
    asked = {"model_id": "sonic-3", "transcript": SENTENCES[language], "voice": ALIAS, "output_format": RAW}
    with strict(cartesia.Cartesia, bare.http, bare.key) as client:
        if language in {base_language(voice.language) for voice in client.voices.list(limit=100)}:
            audio = client.tts.generate(language=language, **asked).read()
            assert_speaks(raw_wave(audio, "pcm_s16le", 24000), 24000)
            return
        with pytest.raises(cartesia.BadRequestError) as raised:
            client.tts.generate(language=language, **asked)
    assert "pip install 'antiphon[espeak]'" in raised.value.body["message"]
    assert LANGUAGES[language].name in raised.value.body["message"]
