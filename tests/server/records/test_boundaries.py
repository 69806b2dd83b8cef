import json
from typing import Any

import pytest

from antiphon.server.records.boundaries import KINDS, flows, may_keep_sessions, place_of, report, table, violations
from antiphon.server.records.keepers import Keepers, require_boundaries
from antiphon.settings import Settings, SettingsError


def settings(**sections: Any) -> Settings:
    return Settings(**sections)


FAR = {"llm_url": "https://api.example/v1", "llm_model": "m"}


def goes(found: Settings, kind: str) -> set[str]:
    return {flow.place for flow in flows(found) if flow.kind == kind and not flow.passing}


def test_by_default_nothing_leaves_and_nothing_is_refused() -> None:
    found = settings()
    assert violations(found) == []
    assert goes(found, "audio") == set()
    assert goes(found, "transcript") == goes(found, "generated") == goes(found, "log") == {"machine"}
    assert {flow.by for flow in flows(found) if flow.kind == "transcript"} == {"agent.keep_sessions"}


@pytest.mark.parametrize(
    ("agent", "boundaries", "kept"),
    [
        ({}, {}, True),
        ({"keep_sessions": "no"}, {}, False),
        ({"resume_window_s": 0}, {}, False),
        ({}, {"generated": {"to": "machine"}}, True),
        ({}, {"transcript": {"to": "nowhere"}}, False),
        ({}, {"retrieved": {"keep_days": 0}}, False),
        ({"keep_sessions": "crash"}, {}, True),
    ],
)
def test_sessions_that_outlive_the_server_are_told_of_and_off_where_words_may_not_be_kept(
    agent: dict[str, Any], boundaries: dict[str, Any], kept: bool
) -> None:
    found = settings(agent=agent, boundaries=boundaries)
    told = [flow for flow in flows(found) if flow.by == "agent.keep_sessions"]
    assert {flow.kind for flow in told} == (set(KINDS[1:]) if kept else set())
    assert violations(found) == []
    assert all("30 s at most" in flow.kept and "not redacted" in flow.what for flow in told)
    assert may_keep_sessions(found) or not kept


def test_sessions_that_shall_be_kept_against_a_boundary_are_one_clear_line() -> None:
    (line,) = violations(settings(agent={"keep_sessions": "restart"}, boundaries={"transcript": {"keep_days": 0}}))
    assert "boundaries.transcript.keep_days is 0, but agent.keep_sessions" in line
    (line,) = violations(settings(agent={"keep_sessions": "crash"}, boundaries={"retrieved": {"to": "nowhere"}}))
    assert "agent.keep_sessions takes retrieved to this machine" in line


def test_every_setting_that_sends_data_somewhere_is_told() -> None:
    found = settings(
        brain=FAR,
        agent={
            "tools": [
                {"name": "orders", "url": "https://shop.example:8443/orders", "effect": "read"},
                {"name": "local", "mcp_command": "orders-server"},
                {"name": "code", "python": "shop.tools:find"},
                {"name": "remote", "mcp_url": "http://mcp.example/mcp"},
            ],
            "handover": {"url": "https://desk.example/hook"},
        },
        telemetry={"otlp_url": "http://collector.example:4318/v1/traces"},
        record={"dir": "/var/lib/antiphon", "kinds": ["audio", "log"]},
    )
    places = {"api.example:443", "shop.example:8443", "machine", "mcp.example:80", "desk.example:443"}
    assert goes(found, "transcript") == places
    assert goes(found, "generated") == places
    assert goes(found, "audio") == {"machine"}
    assert goes(found, "log") == {"machine", "collector.example:4318", "desk.example:443"}
    assert violations(found) == []


@pytest.mark.parametrize(
    ("sections", "named"),
    [
        ({"boundaries": {"transcript": {"to": "machine"}}, "brain": FAR}, "llm_url takes transcript to api.example"),
        ({"boundaries": {"generated": {"to": "other.example"}}, "brain": FAR}, "allow api.example:443 there"),
        ({"boundaries": {"audio": {"to": "nowhere"}}, "record": {"dir": "/r", "kinds": ["audio"]}}, "record.dir"),
        ({"boundaries": {"log": {"to": "machine"}}, "telemetry": {"otlp_url": "http://c.example/"}}, "c.example:80"),
        ({"boundaries": {"log": {"keep_days": 0}}, "record": {"dir": "/r"}}, "boundaries.log.keep_days is 0"),
        ({"boundaries": {"retrieved": {"to": "api.example:8443"}}, "brain": FAR}, "retrieved"),
        ({"boundaries": {"transcript": {"to": "machine"}},
          "agent": {"handover": {"url": "https://desk.example/h"}}}, "agent.handover.url"),
        ({"boundaries": {"transcript": {"to": "nowhere"}},
          "agent": {"tools": [{"name": "t", "url": "http://127.0.0.1:9/x", "effect": "read"}]}}, "agent.tools t"),
    ],
)  # fmt: skip
def test_a_stated_boundary_that_would_be_broken_is_one_clear_line(sections: dict[str, Any], named: str) -> None:
    found = settings(**sections)
    (line,) = violations(found)
    assert named in line
    assert "\n" not in line
    with pytest.raises(SettingsError, match=r"boundaries\."):
        require_boundaries(found)


@pytest.mark.parametrize(
    "sections",
    [
        {"boundaries": {"transcript": {"to": "api.example"}}, "brain": FAR},
        {"boundaries": {"transcript": {"to": "API.example:443"}}, "brain": FAR},
        {"boundaries": {"transcript": {"to": "machine"}}, "brain": {**FAR, "llm_url": "http://localhost:11434/v1"}},
        {"boundaries": {"audio": {"to": "machine"}}, "record": {"dir": "/r", "kinds": ["audio"]}},
        {"boundaries": {"audio": {"to": "nowhere"}, "generated": {"to": "nowhere"}}},
    ],
)
def test_what_is_allowed_starts(sections: dict[str, Any]) -> None:
    assert violations(settings(**sections)) == []
    require_boundaries(settings(**sections))


def test_several_faults_are_counted() -> None:
    found = settings(brain=FAR, boundaries={kind: {"to": "machine"} for kind in KINDS})
    assert len(violations(found)) == 3
    with pytest.raises(SettingsError, match=r"2 more: antiphon check --boundaries"):
        require_boundaries(found)


@pytest.mark.parametrize(
    ("url", "place"),
    [
        ("http://127.0.0.1:1/x", "machine"), ("https://[::1]/x", "machine"), ("http://LocalHost", "machine"),
        ("http://127.evil.example/x", "127.evil.example:80"), ("https://a.example/x", "a.example:443"),
        ("http://a.example:99999/x", "a.example:80"), ("https://user@b.example:8/x", "b.example:8"),
        ("http://10.0.0.5/x", "10.0.0.5:80"),
    ],
)  # fmt: skip
def test_places(url: str, place: str) -> None:
    assert place_of(url) == place


def test_what_a_caller_is_given_says_that_saved_speech_holds_its_text() -> None:
    secret = "a key of the whole fleet"
    for tts, where in (({}, "this process"), ({"snapshot_key": secret, "snapshot_ttl_s": 60}, "tts.snapshot_key")):
        told = "\n".join(table(settings(tts=tts)))
        assert "hold text (not spoken yet" in told
        assert where in told
        assert secret not in told


def test_the_report_is_json_and_has_no_secrets() -> None:
    found = settings(
        brain={**FAR, "llm_key": "sk-secret-1"},
        telemetry={"otlp_url": "http://c.example/v1/traces", "otlp_headers": {"authorization": "secret-2"}},
        record={"dir": "/r", "redact": False},
    )
    text = json.dumps(report(found)) + "\n".join(table(found))
    assert "secret" not in text
    assert report(found)["redaction"] == {"records": False, "log": True}
    assert "recordings OFF" in text
    assert report(found)["kinds"]["transcript"]["goes"][0]["place"] == "api.example:443"


def test_a_folder_that_cannot_be_made_is_one_line(tmp_path: Any) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(SettingsError, match=r"record\.dir"):
        Keepers(settings(record={"dir": tmp_path / "file" / "x"}))


def test_keepers_open_what_the_settings_name(tmp_path: Any) -> None:
    keepers = Keepers(settings())
    assert keepers.sinks == []
    keepers.close()
    keepers = Keepers(settings(record={"dir": tmp_path / "r"}))
    assert len(keepers.sinks) == 1
    keepers.close()
