"""Who answers."""

from typing import Self

from pydantic import Field, SecretStr, model_validator

from antiphon.settings.kinds import Section, UserPath


class LlmEndpointSettings(Section):
    """One of several places to ask a language model."""

    url: str = Field(min_length=1)
    """Base URL of an OpenAI-compatible chat endpoint (https://host/v1)."""
    model: str = Field(min_length=1)
    key: SecretStr | None = None
    first_token_s: float = Field(default=5.0, gt=0)
    mute_s: float = Field(default=5.0, gt=0)


class BrainSettings(Section):
    """Who answers on sockets that answer: a language model if ``llm_url`` or ``endpoints`` is set, else rules."""

    endpoints: tuple[LlmEndpointSettings, ...] = ()
    """Several, asked in this order: where one fails the next is asked, and it is asked last for a while."""

    llm_url: str | None = None
    """Base URL of an OpenAI-compatible chat endpoint (https://host/v1)."""
    llm_model: str | None = None
    llm_key: SecretStr | None = None
    llm_first_token_s: float = Field(default=5.0, gt=0)
    """The longest wait for the first word or tool call; more for models that think first."""
    llm_mute_s: float = Field(default=5.0, gt=0)
    """The longest silence after that."""
    rules: UserPath | None = None
    """A rule brain's TOML file; None: one that greets, repeats and says what it is."""
    instructions: str = (
        "You are a voice assistant: what you write is spoken. Answer in a few short sentences of plain words, "
        "without lists, markup or emoji."
    )
    """What the model is told unless the client tells it something else."""

    @model_validator(mode="after")
    def _one_brain(self) -> Self:
        if self.llm_url is not None and not self.llm_model:
            raise ValueError("llm_url needs llm_model, the name of the model to ask for")
        if self.llm_url is None and self.llm_model is not None:
            raise ValueError("llm_model needs llm_url, the address of the model's server")
        if self.llm_url is not None and self.rules is not None:
            raise ValueError("set one of llm_url and rules, not both")
        if self.endpoints and (self.llm_url is not None or self.rules is not None):
            other = "rules" if self.llm_url is None else "llm_url (put it among the endpoints)"
            raise ValueError(f"set one of endpoints and {other}, not both")
        return self
