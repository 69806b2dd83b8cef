"""Texts that a voice must speak or pass over, whatever they are."""

ODD = {
    "300 digits": "1" * 300,
    "10,000 letters": "qwx" * 3_333,
    "10,000 characters": "word " * 2_000,
    "no words": " \n ",
    "emoji": "🙂🎉",
    "marks": "...!?",
    "dashes": "a-" * 400,
    "address": "https://example.com/" + "x/" * 200,
    "chinese": "你好 hello",
    "japanese": "こんにちは",
    "arabic": "مرحبا",
    "russian": "Привет мир",
    "control": "a\u200bb \x00 c\x01",
    "half a pair": "\ud83d ok",
    "accents": "e\u0301" * 50,
    "link": "[Kokoro](/kˈO/) and [a](b)",
    "numbers": "1e999 1.2.3.4 -5 ½ ² 1/0 99:99 13/45/2024 $$$ 5 % €",
}
