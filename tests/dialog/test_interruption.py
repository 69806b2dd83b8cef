"""What a sound during the agent's speech means."""

from dataclasses import replace

import pytest

from antiphon.dialog.interruption import InterruptionSettings, Overlap, judge
from tests.dialog.interruption_score import examples, score

AGENT = "Your order was sent on Monday and it should be with you by the end of the week"


def meaning(text: str, duration_s: float = 0.5, final: bool = False, agent: str = AGENT, **settings: object) -> str:
    return judge(Overlap(text, duration_s, agent, final), InterruptionSettings(**settings)).meaning


def test_the_list_is_long_enough_and_both_halves_hold_every_label():
    assert len(examples()) >= 100
    for half in ("tuned", "reported"):
        assert {example.label for example in examples(half)} == {"backchannel", "noise", "echo", "interruption"}


def test_the_figures_of_the_docs_hold_on_the_half_that_was_not_tuned_on():
    result = score(examples("reported"))
    assert result.examples == 79
    assert round(result.selectivity, 2) == 0.83
    assert round(result.yields, 2) == 1.0
    assert result.named > 0.9


def test_sound_without_words_interrupts_only_when_it_lasts():
    assert meaning("", 0.5) == "undecided"
    assert meaning("", 1.6) == "interruption"
    assert meaning("", 5.0, final=True) == "noise"
    assert judge(Overlap("", 5.0, speech=False)).meaning == "noise"


def test_B4_listeners_words_do_not_interrupt():
    for text in ("mhm", "Yeah.", "okay okay", "Uh-huh", "ja genau", "はい"):
        assert meaning(text) == "backchannel", text


def test_a_listeners_word_answers_a_question():
    assert meaning("yes", agent="Shall I book it?") == "interruption"
    assert meaning("yes", agent="I shall book it.") == "backchannel"


def test_a_word_that_may_become_a_listeners_is_waited_for():
    assert meaning("got") == "undecided"
    assert meaning("got it") == "backchannel"
    assert meaning("got a problem") == "interruption"


def test_a_hesitation_is_waited_for_and_is_nothing_alone():
    assert meaning("um") == "undecided"
    assert meaning("um", final=True) == "backchannel"
    assert meaning("um it is late") == "interruption"


def test_B5_the_agents_words_are_its_echo_also_misheard():
    assert meaning("was sent on Monday", final=True) == "echo"
    assert meaning("was send on Munday and it should", final=True) == "echo"
    assert meaning("was sent") == "undecided"
    assert meaning("was sent to the wrong address", final=True) == "interruption"


def test_one_word_of_the_agents_is_a_choice_unless_the_client_does_not_cancel_echo():
    assert meaning("Monday", final=True) == "interruption"
    assert meaning("Monday", final=True, echo_cancelled=False) == "echo"


def test_min_words_spares_stop_words():
    assert meaning("Tuesday", min_words=2) == "undecided"
    assert meaning("Tuesday", min_words=2, final=True) == "backchannel"
    assert meaning("stop", min_words=2) == "interruption"


@pytest.mark.parametrize("text", ["", "?", "mhm", "what", "…", "ha ha", "मैं", "🙂", "a" * 5_000, "ha" * 2_000 + "b"])
def test_every_final_judgement_is_decided(text):
    assert meaning(text, final=True) != "undecided"


def test_a_word_that_the_recogniser_hardly_trusts_is_a_hum() -> None:
    hum = Overlap("Her.", 0.5, confidence=0.34)
    assert judge(hum).meaning == "undecided"
    assert judge(replace(hum, final=True)).meaning == "backchannel"
    assert judge(replace(hum, confidence=0.8)).meaning == "interruption"
    assert judge(replace(hum, final=True, agent_text="Shall I book it?")).meaning == "interruption", "it is an answer"
    assert judge(replace(hum, text="Stop.")).meaning == "interruption", "a stop is never doubted"
    assert judge(replace(hum, text="No, stop.")).meaning == "interruption", "nor one behind a word that is"
    assert judge(replace(hum, text="Hello.", final=True)).meaning == "backchannel", "mhm may be heard so"
    assert judge(replace(hum, text="Hello.", confidence=0.6)).meaning == "interruption"
    assert judge(replace(hum, text="Huh?", confidence=0.7, final=True)).meaning == "backchannel"
    assert judge(replace(hum, text="Her bike please")).meaning == "interruption", "so much is no hum"
