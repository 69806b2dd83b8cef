"""A task for schedulers and lanes."""


class Note:
    """A task that writes its name, ``times`` times."""

    def __init__(self, name: str, log: list[str], deadline_s: float, ready_s: float = float("-inf"), times: int = 1):
        self.name, self.log, self.times = name, log, times
        self._deadline_s, self._ready_s = deadline_s, ready_s

    def deadline_s(self) -> float:
        return self._deadline_s

    def ready_s(self) -> float:
        return self._ready_s

    def run(self) -> bool:
        self.log.append(self.name)
        self.times -= 1
        return self.times > 0
