"""Every setting in one strict, frozen tree: a TOML file, then ``ANTIPHON_*`` variables, then the command line.

Later sources win key by key. Unknown keys are errors, because a misspelt limit that is silently ignored is no limit.
``Settings()`` is the plain defaults; :func:`load` reads the sources.
"""

from antiphon.settings.agent import (
    AgentSettings,
    AgentToolSettings,
    HandoverSettings,
    PhraseSettings,
    ToolOverride,
)
from antiphon.settings.brain import BrainSettings, LlmEndpointSettings
from antiphon.settings.house import (
    ApiKey,
    BenchSettings,
    EngineSettings,
    LogSettings,
    ModelSettings,
    ServerSettings,
    SttSettings,
    TlsSettings,
    TtsSettings,
    available_cores,
)
from antiphon.settings.kinds import Listed, SettingsError, UserPath
from antiphon.settings.load import CONFIG_VARIABLE, load
from antiphon.settings.records import Boundary, BoundarySettings, Kind, RecordSettings, TelemetrySettings
from antiphon.settings.tree import ENV_DELIMITER, ENV_PREFIX, Settings

__all__ = [
    "CONFIG_VARIABLE",
    "ENV_DELIMITER",
    "ENV_PREFIX",
    "AgentSettings",
    "AgentToolSettings",
    "ApiKey",
    "BenchSettings",
    "Boundary",
    "BoundarySettings",
    "BrainSettings",
    "EngineSettings",
    "HandoverSettings",
    "Kind",
    "Listed",
    "LlmEndpointSettings",
    "LogSettings",
    "ModelSettings",
    "PhraseSettings",
    "RecordSettings",
    "ServerSettings",
    "Settings",
    "SettingsError",
    "SttSettings",
    "TelemetrySettings",
    "TlsSettings",
    "ToolOverride",
    "TtsSettings",
    "UserPath",
    "available_cores",
    "load",
]
