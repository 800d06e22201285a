"""What an audit says."""

from collections import Counter
from dataclasses import dataclass, field

MAX_LISTED = 1000


@dataclass(frozen=True, slots=True)
class Subject:
    """The thing a finding is about."""

    kind: str  # document | knowledge_base | user | run | collection | blob
    id: str
    collection: str = ""
    document_id: str = ""
    epoch: int = 0  # of a run
    age_seconds: float | None = None  # None: the back end does not know


@dataclass(frozen=True, slots=True)
class Finding:
    """An invariant that does not hold; numbers as in docs/explanation/indexing-protocol.md."""

    invariant: str
    subject: Subject
    message: str
    repairable: bool = False


@dataclass(slots=True)
class AuditReport:
    """Faults apart from work that is merely not finished."""

    findings: list[Finding] = field(default_factory=list)  # the first 1,000
    total: int = 0
    unfinished: Counter[str] = field(default_factory=Counter)
    counts: Counter[str] = field(default_factory=Counter)  # of what was looked at
    repaired: list[str] = field(default_factory=list)  # one sentence each, the first 1,000
    waiting: int = 0  # repairs that must wait until the thing is old enough

    @property
    def clean(self) -> bool:
        """Whether every invariant holds."""
        return self.total == 0

    def add(self, finding: Finding) -> None:
        """Note a fault."""
        self.total += 1
        if len(self.findings) < MAX_LISTED:
            self.findings.append(finding)

    def pending(self, kind: str) -> None:
        """Note something unfinished."""
        self.unfinished[kind] += 1

    def checked(self, kind: str) -> None:
        """Note that one more thing was looked at."""
        self.counts[kind] += 1

    def mended(self, sentence: str) -> None:
        """Note a repair."""
        if len(self.repaired) < MAX_LISTED:
            self.repaired.append(sentence)
