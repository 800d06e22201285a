"""Health that is asked for, not assumed: every part is called and has to answer in time."""

import asyncio
import logging
import time
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass

logger = logging.getLogger(__name__)

Probe = Callable[[], Awaitable[None]]

PROBE_SECONDS = 3.0
KEPT_SECONDS = 1.0


@dataclass(frozen=True, slots=True)
class HealthReport:
    """State of each part: ok, not_ready or disabled."""

    version: str
    components: Mapping[str, str]

    @property
    def ready(self) -> bool:
        """Whether every part that is switched on works."""
        return "not_ready" not in self.components.values()


class Health:
    """Asks the parts, at most once a second however often it is asked itself."""

    def __init__(
        self, version: str, probes: Mapping[str, Probe], fixed: Mapping[str, bool]
    ) -> None:
        self._version = version
        self._probes = probes
        self._fixed = {name: "ok" if there else "disabled" for name, there in fixed.items()}
        self._report: HealthReport | None = None
        self._asked_at = 0.0
        self._asking = asyncio.Lock()

    async def report(self) -> HealthReport:
        """Return the state of all parts."""
        async with self._asking:
            now = time.monotonic()
            if self._report is None or now - self._asked_at > KEPT_SECONDS:
                states = await asyncio.gather(
                    *(self._state(name, probe) for name, probe in self._probes.items())
                )
                found = dict(zip(self._probes, states, strict=True))
                self._report = HealthReport(self._version, self._fixed | found)
                self._asked_at = now
            return self._report

    async def _state(self, name: str, probe: Probe) -> str:
        try:
            async with asyncio.timeout(PROBE_SECONDS):
                await probe()
        except Exception as exc:
            logger.warning("component_not_ready", extra={"component": name, "error": str(exc)})
            return "not_ready"
        return "ok"
