from pathlib import Path

import pytest
from pydantic import ValidationError

from antiphon.settings import Settings, SettingsError, available_cores, load


@pytest.fixture(autouse=True)
def _no_settings_of_this_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    import os

    for name in list(os.environ):
        if name.startswith("ANTIPHON_"):
            monkeypatch.delenv(name)


def toml(tmp_path: Path, text: str) -> Path:
    path = tmp_path / "antiphon.toml"
    path.write_text(text)
    return path


def test_the_defaults_are_safe() -> None:
    found = load()
    assert found == Settings()
    assert found.server.host == "127.0.0.1"
    assert found.server.port == 8080
    assert found.server.cors_origins == ()
    assert not found.server.api_keys
    assert found.server.idle_timeout_s >= 300
    assert found.server.ping_interval_s <= 25
    assert found.engine.lead_s is None
    assert found.engine.worker_count == available_cores()


def test_the_command_line_wins_over_the_environment_and_that_over_the_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = toml(tmp_path, '[server]\nport = 1\nhost = "h"\nmax_contexts = 3\n[log]\nlevel = "debug"\n')
    monkeypatch.setenv("ANTIPHON_SERVER__PORT", "2")
    monkeypatch.setenv("ANTIPHON_SERVER__HOST", "e")
    found = load(path, {"server.port": 3, "server.host": None, "log.level": None})
    assert (found.server.port, found.server.host, found.server.max_contexts) == (3, "e", 3)
    assert found.log.level == "debug"


def test_the_file_may_be_named_in_the_environment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ANTIPHON_CONFIG", str(toml(tmp_path, "[server]\nport = 7\n")))
    assert load().server.port == 7


def test_an_unknown_key_in_the_file_is_an_error_that_names_the_nearest(tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match=r"server\.prot: no such setting; did you mean 'port'\?"):
        load(toml(tmp_path, "[server]\nprot = 9\n"))


@pytest.mark.parametrize(
    ("variable", "named"),
    [("ANTIPHON_SERVER__PROT", "server.prot"), ("ANTIPHON_PORT", "ANTIPHON_PORT"), ("ANTIPHON_SEVER__PORT", "SEVER")],
)
def test_an_unknown_variable_is_an_error(variable: str, named: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(variable, "1")
    with pytest.raises(SettingsError, match=named):
        load()


def test_an_unknown_override_is_an_error() -> None:
    with pytest.raises(SettingsError, match=r"server\.nothing"):
        load(overrides={"server.nothing": 1})


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ("[server]\nport = 70000\n", "server.port"),
        ("[server]\nidle_timeout_s = 299\n", "server.idle_timeout_s"),
        ("[server]\nping_interval_s = 30\n", "server.ping_interval_s"),
        ("[tts]\nmax_buffer_delay_s = 6\n", "tts.max_buffer_delay_s"),
        ('[log]\nlevel = "loud"\n', "log.level"),
        ('[server.tls]\nkey = "k.pem"\n', "server.tls"),
        ("[server\n", "not valid TOML"),
    ],
)
def test_bad_values_are_named(text: str, named: str, tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match=named):
        load(toml(tmp_path, text))


@pytest.mark.parametrize(
    "text",
    [
        '[brain]\nllm_url = "http://127.0.0.1:1/v1"',
        '[brain]\nllm_model = "small"',
        '[brain]\nllm_url = "http://127.0.0.1:1/v1"\nllm_model = "small"\nrules = "brain.toml"',
        '[brain]\nllm_url = "http://h/v1"\nllm_model = "m"\n[[brain.endpoints]]\nurl = "http://i/v1"\nmodel = "m"',
    ],
)
def test_half_a_brain_and_two_brains_are_errors(text: str, tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match="llm_url"):
        load(toml(tmp_path, text))


def test_several_language_models_in_the_order_to_ask_them(tmp_path: Path) -> None:
    text = '[[brain.endpoints]]\nurl = "http://a/v1"\nmodel = "big"\nkey = "k"\n'
    text += '[[brain.endpoints]]\nurl = "http://b/v1"\nmodel = "small"\nfirst_token_s = 2.0\n'
    brain = load(toml(tmp_path, text)).brain
    assert [(one.url, one.model, one.first_token_s) for one in brain.endpoints] == [
        ("http://a/v1", "big", 5.0), ("http://b/v1", "small", 2.0),
    ]  # fmt: skip
    assert "k" not in str(brain.endpoints[0].key)


def test_a_missing_file_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match=r"none\.toml"):
        load(tmp_path / "none.toml")


def test_keys_come_from_file_environment_and_key_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    keys = tmp_path / "keys.toml"
    keys.write_text('carol = "kc"\n[dave]\nkey = "kd"\nmax_streams = 2\n')
    path = toml(tmp_path, f'[server]\napi_keys_file = "{keys}"\n[server.api_keys.bob]\nkey = "kb"\nmax_streams = 4\n')
    monkeypatch.setenv("ANTIPHON_SERVER__API_KEYS__ALICE", "ka")
    found = load(path).server.api_keys
    assert {name: (key.key.get_secret_value(), key.max_streams) for name, key in found.items()} == {
        "alice": ("ka", None),
        "bob": ("kb", 4),
        "carol": ("kc", None),
        "dave": ("kd", 2),
    }


def test_keys_are_not_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ANTIPHON_SERVER__API_KEYS__ALICE", "very-secret")
    assert "very-secret" not in repr(load())


def test_an_empty_key_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ANTIPHON_SERVER__API_KEYS__ALICE", "")
    with pytest.raises(SettingsError, match=r"server\.api_keys\.alice"):
        load()


def test_lists_are_separated_by_commas(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ANTIPHON_SERVER__CORS_ORIGINS", "https://a.example, https://b.example")
    assert load().server.cors_origins == ("https://a.example", "https://b.example")


def test_paths_know_home() -> None:
    assert load(overrides={"models.root": "~/m"}).models.root == Path.home() / "m"
    assert load().models.root == Path.home() / ".cache/antiphon/models"


def test_nothing_can_be_changed_later() -> None:
    with pytest.raises(ValidationError):
        Settings().server.port = 1  # type: ignore[misc]


def test_plain_settings_read_no_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ANTIPHON_SERVER__PORT", "1")
    assert Settings().server.port == 8080


def test_a_file_that_is_no_text_is_an_error(tmp_path: Path) -> None:
    file = tmp_path / "a.toml"
    file.write_bytes(b"\xff\xfe")
    with pytest.raises(SettingsError, match=r"a\.toml is not valid TOML"):
        load(file)


def test_a_section_that_is_no_section_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ANTIPHON_SERVER", "5")
    with pytest.raises(SettingsError, match="server"):
        load()
