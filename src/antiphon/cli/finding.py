"""What ``antiphon check`` has found about one thing."""

from dataclasses import dataclass
from typing import Literal, TypeAlias

Verdict: TypeAlias = Literal["ok", "slow", "fail", "note"]


@dataclass(frozen=True, slots=True)
class Finding:
    verdict: Verdict
    subject: str
    message: str
