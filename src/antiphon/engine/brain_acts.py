"""What callers say that has nothing to do with the business: yes, no, hello, say that again, a person please."""

from collections.abc import Sequence
from functools import lru_cache
from typing import Literal, TypeAlias

from antiphon.engine.brain_words import Token, find_phrase, word_set

Act: TypeAlias = Literal[
    "yes", "no", "greeting", "goodbye", "thanks", "identity", "help", "repeat", "handover", "drop", "wait", "ack"
]


def _phrases(*lines: str) -> tuple[tuple[str, ...], ...]:
    return tuple(tuple(phrase.split()) for line in lines for phrase in line.split("|"))


_PHRASES: dict[Act, tuple[tuple[str, ...], ...]] = {
    "yes": _phrases("yes|yeah|yep|yup|sure|correct|right|ok|okay|please do|go ahead|exactly|of course|absolutely",
                    "indeed|definitely|do it|do that|affirmative|go for it|that's fine|sounds good|i do|please"),
    "no": _phrases("no|nope|nah|don't|do not|rather not|not really|negative|leave it|better not|no way|not now"),
    "greeting": _phrases("hello|hi|hey|good morning|good afternoon|good evening|good day|greetings"),
    "goodbye": _phrases("goodbye|good bye|bye|bye bye|see you|that's all|that is all|that's it|that was all",
                        "have a nice day|nothing else|have a good day|i'm done|talk to you later"),
    "thanks": _phrases("thanks|thank you|cheers|much appreciated|very kind"),
    "identity": _phrases("are you a robot|are you a bot|are you a machine|are you a computer|are you human",
                         "are you a human|are you real|are you a real person|are you a person|are you an ai",
                         "are you ai|are you chatgpt",
                         "are you a language model|are you a large language model|are you an llm",
                         "are you an automated",
                         "am i talking to|am i speaking to|am i speaking with|am i talking with|is this a robot",
                         "is this a machine|is this a recording|is this an ai|who are you|what are you",
                         "are you a chatbot|are you gpt|are you some kind of|are you artificial",
                         "which model are you|what model are you"),
    "help": _phrases("what can you do|how can you help|what can i ask|what do you do|help me",
                     "what are my options|help"),
    "repeat": _phrases("say that again|say it again|come again|repeat that|repeat it|repeat please|can you repeat",
                       "could you repeat|please repeat|once more|one more time|pardon|you just say|what did you say",
                       "didn't catch that|did not catch that|didn't hear|didn't get that|didn't understand you",
                       "what was that|say again",
                       "beg your pardon|repeat|excuse me what"),
    "handover": _phrases("speak to someone|talk to someone|speak to somebody|talk to somebody|speak with someone",
                         "a human|a person|a real person|a human being|an agent|a live agent|a real human",
                         "somebody else|someone else|a representative|an operator|an employee|a colleague",
                         "your manager|a manager",
                         "the manager|your supervisor|a supervisor|someone real|somebody real|customer service",
                         "support staff|the operator|put me through|transfer me|connect me|a member of staff",
                         "a live person",
                         "representative"),
    "ack": _phrases("mhm|mm hmm|uh huh|cool|great|perfect|alright|all right|i see|got it|good|wonderful|fine"),
    "drop": _phrases("never mind|nevermind|forget it|forget that|leave it|drop it|doesn't matter|don't bother",
                     "skip it"),
    "wait": _phrases("hold on|one moment|just a moment|just a second|one second|give me a second|give me a moment",
                     "hang on|wait a moment|wait a second|wait a minute|let me check|let me look|let me see",
                     "bear with me"),
}  # fmt: skip
_LONG_ENOUGH = 6
_DOUBTS = _phrases("not sure|are you sure|not right|not correct|not ok|not okay|isn't right|not really|right now",
                   "not yet|maybe|perhaps")  # fmt: skip
_QUESTIONS = word_set(
    "but if what what's which who when where why how is are does did can could would will should may before first wait"
)
_ASKING = word_set("what what's which who when when's where where's why how how's any tell know wonder wondering")
_ASKING_FIRST = word_set("is are was were does did has have isn't aren't hasn't didn't doesn't")
_BEFORE_FIRST = word_set("and so um uh hi hello hey please sorry but well")
_WISHES = word_set("want need prefer rather")
_NEVER = word_set("no not don't never nope nah stop")
_FILLERS = word_set("um uh er erm hm hmm mm ah well so like")
_WHAT = word_set("what sorry huh pardon excuse me")


@lru_cache(maxsize=2048)
def acts_in(tokens: tuple[Token, ...]) -> frozenset[Act]:
    """All acts in an utterance."""
    words = [token.text for token in tokens]
    acts = {act for act, phrases in _PHRASES.items() if any(find_phrase(words, phrase) >= 0 for phrase in phrases)}
    if "yes" in acts and _is_doubted(words):
        acts.discard("yes")
    if words and _FILLERS.issuperset(words):
        acts.add("wait")
    if words and len(words) < 3 and _WHAT.issuperset(words):
        acts.add("repeat")
    if "identity" in acts:
        # "am I talking to a person?" asks what this is; it does not ask for a person.
        acts.discard("handover")
    if "no" in acts and "yes" in acts and words[0] in ("no", "nope", "nah", "don't"):
        acts.discard("yes")
    if "yes" in acts and "no" in acts and words[0] in ("yes", "yeah", "yep", "sure"):
        acts.discard("no")
    return frozenset(acts)


def is_short(tokens: Sequence[Token]) -> bool:
    """Short enough that an act is all it says."""
    return len(tokens) <= _LONG_ENOUGH


def asks(tokens: Sequence[Token]) -> bool:
    """Whether this asks for information, and for nothing to be done."""
    words = {token.text for token in tokens}
    inverted = any(
        token.text in _ASKING_FIRST and (at == 0 or token.after_break or tokens[at - 1].text in _BEFORE_FIRST)
        for at, token in enumerate(tokens)
    )
    return (inverted or not _ASKING.isdisjoint(words)) and _NEVER.isdisjoint(words) and _WISHES.isdisjoint(words)


def consents(tokens: tuple[Token, ...], *, restated: bool) -> bool:
    """Whether this is a plain yes to something that cannot be undone: no condition, no question, no doubt.

    ``restated``: the request itself was said again ("yes" need not be said then, if little else is).
    """
    words = [token.text for token in tokens]
    asks = any(find_phrase(words, ("do", who)) >= 0 for who in ("i", "you", "we"))
    if asks or not _QUESTIONS.isdisjoint(words):
        return False
    early = "yes" in acts_in(tokens[:3])
    short = is_short(tokens) and ("yes" in acts_in(tokens) or restated)
    return (early or short) and not _is_doubted(words) and _NEVER.isdisjoint(words)


def _is_doubted(words: Sequence[str]) -> bool:
    return any(find_phrase(words, doubt) >= 0 for doubt in _DOUBTS)
