"""Reads the sources. The only module that may look at the environment."""

import difflib
import os
import re
import tomllib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, get_args

from pydantic import ValidationError
from pydantic_settings import EnvSettingsSource

from antiphon.settings.house import ApiKey
from antiphon.settings.kinds import SettingsError, named_keys
from antiphon.settings.tree import ENV_DELIMITER, ENV_PREFIX, Settings

CONFIG_VARIABLE = "ANTIPHON_CONFIG"
"""Names the TOML file when no path is given on the command line."""
_VARIABLE = re.compile(r"\$\{(\w+)\}")


def load(config: Path | None = None, overrides: Mapping[str, Any] | None = None) -> Settings:
    """Read ``config`` (or the file that ANTIPHON_CONFIG names), the environment, then ``overrides``.

    ``overrides`` maps dotted names to values (``{"server.port": 9000}``); None values count as not given.
    Raises ``SettingsError`` with one line per fault.
    """
    _refuse_unknown_variables()
    path = config or (Path(named).expanduser() if (named := os.environ.get(CONFIG_VARIABLE)) else None)
    tree = _read_toml(path) if path else {}
    try:
        tree = _merged(tree, EnvSettingsSource(Settings)())
        for name, value in (overrides or {}).items():
            if value is not None:
                tree = _merged(tree, _nested(name.split("."), value))
        server = tree.get("server")
        if keys_file := server.get("api_keys_file") if isinstance(server, Mapping) else None:
            keys = {"server": {"api_keys": named_keys(_read_toml(Path(keys_file).expanduser()))}}
            tree = _merged(keys, _with_named_keys(tree))
        if limits_file := server.get("limits_file") if isinstance(server, Mapping) else None:
            tree = _merged(_read_toml(Path(limits_file).expanduser()), tree)
        return Settings(**_with_variables(tree))
    except ValidationError as error:
        raise SettingsError("\n".join(_lines(error, path))) from None
    except ValueError as error:  # pydantic-settings: a variable that should be JSON and is not
        raise SettingsError(f"environment: {error}") from None


def _read_toml(path: Path) -> dict[str, Any]:
    try:
        with path.open("rb") as file:
            return tomllib.load(file)
    except OSError as error:
        raise SettingsError(f"cannot read settings from {path}: {error.strerror}") from None
    except ValueError as error:  # also of bytes that are no text
        raise SettingsError(f"{path} is not valid TOML: {error}") from None


def _merged(under: Mapping[str, Any], over: Mapping[str, Any]) -> dict[str, Any]:
    result = dict(under)
    for key, value in over.items():
        below = result.get(key)
        both = isinstance(below, Mapping) and isinstance(value, Mapping)
        result[key] = _merged(below, value) if both else value  # type: ignore[arg-type]
    return result


def _nested(names: list[str], value: Any) -> dict[str, Any]:
    for name in reversed(names):
        value = {name: value}
    return dict(value)


def _with_named_keys(tree: dict[str, Any]) -> dict[str, Any]:
    server = dict(tree["server"])
    if "api_keys" in server:
        server["api_keys"] = named_keys(server["api_keys"])
    return {**tree, "server": server}


def _with_variables(tree: dict[str, Any]) -> dict[str, Any]:
    """``${NAME}`` in what a tool is sent (headers, env) and in the handover's secret, so that no file need hold it."""
    agent = tree.get("agent")
    if not isinstance(agent, Mapping):
        return tree
    agent = dict(agent)
    tools = agent.get("tools")
    if isinstance(tools, list | tuple):
        agent["tools"] = [
            {key: _filled(value) if key in ("headers", "env") else value for key, value in tool.items()}
            if isinstance(tool, Mapping)
            else tool
            for tool in tools
        ]
    handover = agent.get("handover")
    if isinstance(handover, Mapping):
        agent["handover"] = {key: _filled(value) if key == "secret" else value for key, value in handover.items()}
    return {**tree, "agent": agent}


def _filled(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {key: _filled(one) for key, one in value.items()}
    return _VARIABLE.sub(_variable, value) if isinstance(value, str) else value


def _variable(match: re.Match[str]) -> str:
    value = os.environ.get(match[1])
    if value is None:
        raise SettingsError(f"agent: ${{{match[1]}}} stands in the settings, but there is no such variable")
    return value


def _refuse_unknown_variables() -> None:
    """pydantic-settings skips variables that match no field at the top; a misspelt one must not be skipped."""
    for variable in sorted(os.environ):
        if not variable.upper().startswith(ENV_PREFIX) or variable.upper() == CONFIG_VARIABLE:
            continue
        section = variable[len(ENV_PREFIX) :].split(ENV_DELIMITER)[0].lower()
        if section not in Settings.model_fields:
            hint = f"{ENV_PREFIX}<SECTION>{ENV_DELIMITER}<NAME> with section {', '.join(Settings.model_fields)}"
            raise SettingsError(f"{variable}: no such setting; variables are named {hint}")


def _lines(error: ValidationError, path: Path | None) -> Iterator[str]:
    for fault in error.errors(include_url=False, include_input=False):
        name = ".".join(str(part) for part in fault["loc"])
        if fault["type"] != "extra_forbidden":
            yield f"{name}: {fault['msg']}"
            continue
        near = difflib.get_close_matches(str(fault["loc"][-1]), _siblings(fault["loc"]), n=1)
        hint = f"; did you mean {near[0]!r}?" if near else f"; known here: {', '.join(_siblings(fault['loc']))}"
        where = f" (looked at {path} and {ENV_PREFIX}* variables)" if path else ""
        yield f"{name}: no such setting{hint}{where}"


def _siblings(loc: tuple[int | str, ...]) -> list[str]:
    model: Any = Settings
    for part in loc[:-1]:
        known = getattr(model, "model_fields", {})
        # Not a field: a place in a list or a name in a table, whose values have fields of their own.
        inner = (one for one in get_args(model) if hasattr(one, "model_fields"))
        model = known[part].annotation if part in known else next(inner, ApiKey)
    return list(getattr(model, "model_fields", {}))
