"""The whole tree."""

from pydantic_settings import BaseSettings, PydanticBaseSettingsSource, SettingsConfigDict

from antiphon.settings.agent import AgentSettings
from antiphon.settings.brain import BrainSettings
from antiphon.settings.house import (
    BenchSettings,
    EngineSettings,
    LogSettings,
    ModelSettings,
    ServerSettings,
    SttSettings,
    TtsSettings,
)
from antiphon.settings.records import BoundarySettings, RecordSettings, TelemetrySettings

ENV_PREFIX = "ANTIPHON_"
ENV_DELIMITER = "__"


class Settings(BaseSettings):
    """The whole tree. Built directly it is the defaults plus the given values, and reads nothing from outside."""

    model_config = SettingsConfigDict(
        frozen=True,
        extra="forbid",
        env_prefix=ENV_PREFIX,
        env_nested_delimiter=ENV_DELIMITER,
    )

    server: ServerSettings = ServerSettings()
    engine: EngineSettings = EngineSettings()
    models: ModelSettings = ModelSettings()
    tts: TtsSettings = TtsSettings()
    stt: SttSettings = SttSettings()
    brain: BrainSettings = BrainSettings()
    agent: AgentSettings = AgentSettings()
    bench: BenchSettings = BenchSettings()
    log: LogSettings = LogSettings()
    record: RecordSettings = RecordSettings()
    boundaries: BoundarySettings = BoundarySettings()
    telemetry: TelemetrySettings = TelemetrySettings()

    @property
    def stream_limit(self) -> int:
        return self.server.max_streams or 50 * self.engine.worker_count

    @property
    def listener_limit(self) -> int:
        return self.stt.max_streams or 12 * self.engine.worker_count

    @classmethod
    def settings_customise_sources(
        cls,
        settings_cls: type[BaseSettings],
        init_settings: PydanticBaseSettingsSource,
        env_settings: PydanticBaseSettingsSource,
        dotenv_settings: PydanticBaseSettingsSource,
        file_secret_settings: PydanticBaseSettingsSource,
    ) -> tuple[PydanticBaseSettingsSource, ...]:
        return (init_settings,)
