"""A circuit breaker per embedding credential: a provider that is down burns no attempts."""

from dataclasses import dataclass, field

from agentscope.app.records import KnowledgeBaseRecord
from agentscope.clock import Clock

FAILURES_TO_OPEN = 4
FIRST_PAUSE_SECONDS = 15.0
LONGEST_PAUSE_SECONDS = 300.0
MAX_CREDENTIALS = 10_000


@dataclass(slots=True)
class _Circuit:
    failures: int = 0  # in a row
    pause_seconds: float = FIRST_PAUSE_SECONDS
    closed_from: float = 0.0  # monotonic; before it nothing is claimed
    knowledge_bases: set[str] = field(default_factory=set)


class Breaker:
    """Says which knowledge bases to leave alone because their provider does not answer.

    After a pause one claim is let through: if it fails, the pause doubles, else all is well.
    """

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._circuits: dict[tuple[str, str], _Circuit] = {}

    def failed(self, knowledge_base: KnowledgeBaseRecord) -> float:
        """Note a failure of the provider that may pass; return for how long it is left alone."""
        if len(self._circuits) >= MAX_CREDENTIALS:
            self._circuits.clear()
        circuit = self._circuits.setdefault(_key(knowledge_base), _Circuit())
        circuit.knowledge_bases.add(knowledge_base.id)
        circuit.failures += 1
        now = self._clock.monotonic()
        if circuit.failures >= FAILURES_TO_OPEN and circuit.closed_from <= now:
            circuit.closed_from = now + circuit.pause_seconds
            circuit.pause_seconds = min(LONGEST_PAUSE_SECONDS, circuit.pause_seconds * 2)
        return max(0.0, circuit.closed_from - now)

    def paused(self, knowledge_base: KnowledgeBaseRecord, seconds: float) -> None:
        """Note that the provider must not be asked for a while; nothing failed."""
        if len(self._circuits) >= MAX_CREDENTIALS:
            self._circuits.clear()
        circuit = self._circuits.setdefault(_key(knowledge_base), _Circuit())
        circuit.knowledge_bases.add(knowledge_base.id)
        circuit.closed_from = max(circuit.closed_from, self._clock.monotonic() + seconds)

    def succeeded(self, knowledge_base: KnowledgeBaseRecord) -> None:
        """Note that the provider answers."""
        self._circuits.pop(_key(knowledge_base), None)

    def skipped(self) -> frozenset[str]:
        """Return the knowledge bases whose provider is not asked now."""
        if not self._circuits:
            return frozenset()
        now = self._clock.monotonic()
        return frozenset(
            name
            for circuit in self._circuits.values()
            if circuit.closed_from > now
            for name in circuit.knowledge_bases
        )


def _key(knowledge_base: KnowledgeBaseRecord) -> tuple[str, str]:
    return knowledge_base.user_id, knowledge_base.embedding_model_config.credential_id
