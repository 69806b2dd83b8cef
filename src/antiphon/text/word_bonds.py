"""Which words belong together: where a clause ends or a phrase begins, and what leans on its neighbour."""

from antiphon.text.languages import base_language
from antiphon.text.vocabulary import NO_PHRASING, PHRASING, SCALES, TITLES, Phrasing

CLOSERS = "\"'”’»›)]}」』）】》"
_NUMBER_WORDS = frozenset({"hundred", "thousand", "million", "billion", "point", "minus", "plus"})


class WordBonds:
    """Of one language."""

    def __init__(self, language: str) -> None:
        self._phrasing: Phrasing = PHRASING.get(base_language(language), NO_PHRASING)

    def introduces(self, word: str) -> bool:
        """Whether a word (lower case) opens what follows, as an article does: a cut is better before it than after."""
        return word in self._phrasing.leaning

    def clause_ends(self, word: str) -> bool:
        """Whether a clause ends after ``word``; one that opens right before it ("and, as you know") does not count."""
        bare = word.rstrip(CLOSERS)
        if word in ("-", "--"):
            return True
        lower = bare[:-1].lower()
        opens = lower in self._phrasing.conjunctions or lower in self._phrasing.prepositions
        return bare[-1:] in (",", ";", ":", "،", "؛", "—", "–") and not opens

    def phrase_starts(self, following: str, word: str, *, late: bool) -> bool:
        """Whether ``following`` begins a phrase after ``word``. ``late``: so many words are before it that a
        preposition may."""
        lower = following.lower().rstrip(",;:")
        bare = word.lower()
        if (bare not in self._phrasing.objects and self.leans(bare)) or self.belong(bare, lower):
            return False
        if lower in self._phrasing.conjunctions:
            return not (word[-1:].isdigit() or word.lower() in _NUMBER_WORDS)
        if bare in self._phrasing.binding and lower != "that":
            return False
        return lower in self._phrasing.prepositions and late

    def leans(self, word: str) -> bool:
        """Whether a word (lower case) leans on the next one, so that nothing may end on it."""
        bare = word.strip("\"'“”‘’([{")
        if bare[-1:] in ".!?…,;:":
            return bare[-1:] == "." and bare[:-1] in TITLES
        if bare and bare[-1] in "-–—/$€£#@&(":
            return True
        return bare in self._phrasing.leaning

    @staticmethod
    def belong(word: str, following: str) -> bool:
        """Whether two neighbours are one expression: "5 km", "$3 million", "+44 20", "Mr. Smith", "J. K."."""
        ends_digit = word[-1:].isdigit()
        bare = following.rstrip(".,;:!?")
        if ends_digit and (following[:1].isdigit() or bare in SCALES or following in SCALES):
            return True
        if word[-1:] == "." and (word[:-1] in TITLES or (len(word) == 2 and word[0].isalpha())):
            return True
        if word in ("+", "$", "€", "£", "#", "no.", "p.", "pp.") or (word in _NUMBER_WORDS and following[:1].isalpha()):
            return following not in ("-", "–", "—")
        return word in SCALES and bare in ("and",)
