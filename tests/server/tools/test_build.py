"""A tool box from settings: what is wrong with them is said before anything runs."""

import json
from pathlib import Path
from typing import Any

import pytest
from pydantic import ValidationError

from antiphon.server.tools import tool_box
from antiphon.settings import AgentToolSettings, HandoverSettings, SettingsError, load

from ..support import run
from .support import answer, web


def given(**values: Any) -> AgentToolSettings:
    return AgentToolSettings(**{"name": "act", **values})


def greet(name: str) -> str:
    """Greet somebody."""
    return f"Hello {name}"


def silent(name: str) -> None: ...


HERE = f"{__name__}:greet"


@pytest.mark.parametrize(
    ("tools", "says"),
    [
        ([given(python=HERE), given(python=HERE)], "two are named 'act'"),
        ([given(python="nowhere:f")], "act: nowhere:f: cannot import nowhere"),
        ([given(python=f"{__name__}:silent")], "description"),
        ([given(python=HERE, targets=("nam",))], "targets names 'nam'"),
        ([given(url="http://host/{id}", description="x", parameters={"properties": {}})], "{id}"),
        ([given(url="http://{host}/", description="x")], "not in the host"),
        ([given(url="http://host/")], "description"),
        ([given(python=HERE, parameters={"type": "string"})], "schema of an object"),
        ([given(mcp_url="localhost/mcp")], "https://host/path"),
    ],
)
def test_what_is_wrong_is_said_with_the_tools_name(tools: list[AgentToolSettings], says: str) -> None:
    with pytest.raises(SettingsError, match=r"agent\.tools: .*") as failure:
        tool_box(tools)
    assert says in str(failure.value)


def test_a_handover_url_that_cannot_work_is_said() -> None:
    with pytest.raises(SettingsError, match=r"agent\.handover\.url"):
        tool_box([], HandoverSettings(url="nowhere"))


@pytest.mark.parametrize(
    "values",
    [
        {},
        {"python": HERE, "url": "http://host"},
        {"python": HERE, "allow": ("a",)},
        {"url": "http://host", "env": {"A": "b"}},
    ],
)
def test_a_tool_is_of_one_kind(values: dict[str, Any]) -> None:
    with pytest.raises(ValidationError):
        given(**values)


def test_tools_come_from_a_file_and_secrets_from_the_environment(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def test() -> None:
        async with web(answer(403, {"you sent": "tok-12345"})) as site:
            config = tmp_path / "agent.toml"
            config.write_text(
                f"""
                [[agent.tools]]
                name = "greet"
                python = "{HERE}"
                effect = "read"

                [[agent.tools]]
                name = "pay"
                url = "{site.url}/pay/{{order}}"
                description = "Pay."
                targets = ["order"]
                headers = {{ Authorization = "Bearer ${{SHOP_TOKEN}}" }}
                """
            )
            monkeypatch.setenv("SHOP_TOKEN", "tok-12345")
            settings = load(config)
            assert "tok-12345" not in repr(settings)
            box = tool_box(settings.agent.tools, settings.agent.handover)
            await box.open()
            assert [(spec.name, spec.effect) for spec in box.specs()] == [("greet", "read"), ("pay", "write")]
            assert box.targets == {"pay": ("order",)}
            assert (await box.call("greet", {"name": "Ana"})).content == "Hello Ana"
            refused = await box.call("pay", {"order": "1"})
            assert site.asked[0].headers["authorization"] == "Bearer tok-12345"
            assert json.loads(refused.content)["answer"] == {"you sent": "***"}
            await box.aclose()

    run(test())


def test_a_variable_that_is_missing_is_named(tmp_path: Path) -> None:
    config = tmp_path / "agent.toml"
    config.write_text('[[agent.tools]]\nname = "a"\nurl = "http://h"\nheaders = { A = "${NO_SUCH_TOKEN}" }\n')
    with pytest.raises(SettingsError, match="NO_SUCH_TOKEN"):
        load(config)
