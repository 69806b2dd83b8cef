"""The proof of the measuring, in virtual time; the live run of the same is ``antiphon bench selftest``."""

import pytest

from antiphon.bench.planted import PLANS
from antiphon.bench.selftest import EXPECTED, NAMES, Proof, in_virtual_time


@pytest.fixture(scope="module")
def proofs() -> dict[str, Proof]:
    return {proof.plan.name: proof for proof in in_virtual_time()}


@pytest.mark.parametrize("name", [plan.name for plan in PLANS])
def test_what_was_planted_is_measured_exactly(proofs: dict[str, Proof], name: str) -> None:
    proof = proofs[name]
    for figure, planted in EXPECTED[name].items():
        within = {"speech_s": 0.011, "pitch_hz": 1.0}.get(figure, 1e-6)
        assert proof.measured[figure] == pytest.approx(planted, abs=within), figure
    assert proof.exact
    for take in proof.figures:
        assert take.late_s == pytest.approx(0.0, abs=1e-9)


@pytest.mark.parametrize("name", [plan.name for plan in PLANS])
def test_each_planted_fault_is_named_and_no_other(proofs: dict[str, Proof], name: str) -> None:
    assert {fault.kind for fault in proofs[name].faults} == NAMES[name]


@pytest.mark.parametrize(
    ("name", "component", "words"),
    [
        ("slow connection", "network", "400 ms"),
        ("delay", "server", "650 ms"),
        ("silence padding", "voice", "330 ms"),
        ("underruns", "delivery", "pre-roll of 120 ms"),
        ("jitter", "delivery", "28 ms"),
        ("stall, hidden by the lead", "delivery", "275 ms"),
        ("truncated tail", "voice", "220 ms of speech are missing"),
        ("wrong sample rate", "voice", "0.67 times the stated one"),
        ("refusal", "server", "planted refusal"),
    ],
)
def test_the_component_at_fault_is_named_with_figures(
    proofs: dict[str, Proof], name: str, component: str, words: str
) -> None:
    (fault,) = proofs[name].faults
    assert fault.component == component
    assert words in fault.text
    assert fault.takes == (1 if name == "slow connection" else 5)


def test_a_healthy_delivery_has_no_fault_and_every_other_plan_is_expected() -> None:
    assert set(EXPECTED) == set(NAMES) == {plan.name for plan in PLANS}
    assert not NAMES["healthy"]
