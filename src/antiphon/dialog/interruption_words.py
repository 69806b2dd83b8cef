"""Words by which listeners show that they listen, and words that always take the floor."""


def _set(phrases: str) -> frozenset[str]:
    return frozenset(phrase.strip() for phrase in phrases.split("|"))


BACKCHANNELS = _set(
    # English
    "mhm|mm|mmm|mm hmm|mmhmm|mm hm|hm|hmm|huh|uh huh|uhhuh|aha|ah|oh|ooh|yeah|yea|yep|yup|yes|ok|okay|kay|right|sure|"
    "alright|all right|i see|got it|gotcha|cool|great|nice|good|fine|perfect|exactly|true|of course|okay great|"
    "sounds good|makes sense|that makes sense|fair enough|oh okay|oh wow|wow|really|oh really|interesting|"
    "no worries|no problem|thanks|thank you|for sure|absolutely|definitely|totally|indeed|i know|"
    "go on|very good|oh nice|oh good|oh great|that's nice|that is nice|that's good|that is good|that's great|"
    "that is great|"
    # German
    "ja|jaja|genau|aha|ach so|achso|stimmt|klar|gut|verstehe|ich verstehe|alles klar|na gut|okay gut|richtig|"
    # French
    "oui|ouais|d'accord|daccord|ah bon|ah oui|bien sûr|très bien|je vois|c'est ça|voilà|entendu|"
    # Spanish
    "sí|si|claro|vale|ajá|ya|ya veo|bueno|de acuerdo|entiendo|muy bien|exacto|"
    # Italian
    "sì|certo|va bene|capisco|ho capito|esatto|già|bene|"
    # Portuguese
    "sim|certo|tá|tá bom|está bem|entendo|claro|pois|pois é|isso|"
    # Dutch
    "ja|jawel|precies|oké|goed|ik snap het|ik begrijp het|inderdaad|"
    # Hindi, romanised and not
    "haan|haan ji|ji|ji haan|accha|acha|theek hai|thik hai|sahi|हाँ|हां|जी|अच्छा|ठीक है|"
    # Japanese, Chinese, Korean
    "はい|うん|うんうん|ええ|そうですね|そうですか|なるほど|嗯|嗯嗯|好|好的|对|对对|是|是的|明白|네|예|응|그래요|아|맞아요"
)
"""Alone during the agent's speech these mean "go on", whatever they mean as an answer."""

HUMMED = _set("hello|no")
"""Stop words that a recogniser may make of a hum: only these are doubted where it hardly trusts them."""

HESITATIONS = _set("um|uh|er|erm|uhm|eh|äh|ähm|euh|este|ehm|えっと|那个|음")
"""A speaker who may be about to begin."""

STOPS = _set(
    "stop|wait|hold on|hang on|no|nope|quiet|enough|pause|cancel|excuse me|sorry|hello|halt|warte|moment|nein|stopp|"
    "attends|attendez|non|arrête|espera|para|alto|aspetta|basta|fermo|espere|pare|não|wacht|nee|ruko|bas|nahi|"
    "रुको|नहीं|待って|ちょっと|いや|等等|等一下|不|停|잠깐|잠깐만|아니|아니요"
)
"""One of these takes the floor at once."""

LISTENERS = BACKCHANNELS | HESITATIONS
LONGEST = max(len(phrase.split()) for phrase in LISTENERS | STOPS)
