"""The languages that transcription APIs name: a code in requests, an English word in OpenAI's ``verbose_json``.

Source: the language list of Whisper, which both APIs document as theirs.
"""

_ROWS = """
en english, zh chinese, de german, es spanish, ru russian, ko korean, fr french, ja japanese, pt portuguese, tr turkish,
pl polish, ca catalan, nl dutch, ar arabic, sv swedish, it italian, id indonesian, hi hindi, fi finnish, vi vietnamese,
he hebrew, uk ukrainian, el greek, ms malay, cs czech, ro romanian, da danish, hu hungarian, ta tamil, no norwegian,
th thai, ur urdu, hr croatian, bg bulgarian, lt lithuanian, la latin, mi maori, ml malayalam, cy welsh, sk slovak,
te telugu, fa persian, lv latvian, bn bengali, sr serbian, az azerbaijani, sl slovenian, kn kannada, et estonian,
mk macedonian, br breton, eu basque, is icelandic, hy armenian, ne nepali, mn mongolian, bs bosnian, kk kazakh,
sq albanian, sw swahili, gl galician, mr marathi, pa punjabi, si sinhala, km khmer, sn shona, yo yoruba, so somali,
af afrikaans, oc occitan, ka georgian, be belarusian, tg tajik, sd sindhi, gu gujarati, am amharic, yi yiddish, lo lao,
uz uzbek, fo faroese, ht haitian creole, ps pashto, tk turkmen, nn nynorsk, mt maltese, sa sanskrit, lb luxembourgish,
my myanmar, bo tibetan, tl tagalog, mg malagasy, as assamese, tt tatar, haw hawaiian, ln lingala, ha hausa, ba bashkir,
jw javanese, su sundanese, yue cantonese
"""

NAMES: dict[str, str] = dict(
    (code, name) for row in _ROWS.replace("\n", " ").split(",") for code, _, name in [row.strip().partition(" ")]
)
"""Code -> name."""

_CODES = {name: code for code, name in NAMES.items()}


def language_name(tag: str) -> str:
    """``english`` for ``en`` or ``en-GB``; the tag itself where it has no name here."""
    return NAMES.get(tag.replace("_", "-").partition("-")[0].lower(), tag)


def language_code(name_or_tag: str) -> str:
    """``en`` for ``English``; anything that is no such name comes back as it is."""
    return _CODES.get(name_or_tag.strip().lower(), name_or_tag)
