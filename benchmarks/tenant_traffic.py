"""Recorded traffic of two tenants, and the search for anything of one in what the other was told.

Every answer goes to a file of its tenant, whole: status, headers and body. After the load both
files are read again, because an id may have been told to the wrong one before its owner knew it.
"""

import base64
import json
import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

ID = re.compile(rb"(?<![0-9a-zA-Z])[0-9a-f]{32}(?![0-9a-zA-Z])")
MAX_LISTED = 50
REPEATS_REQUESTS = "audit_log"


def ids_in(data: bytes) -> set[bytes]:
    """Return what looks like an id."""
    return set(ID.findall(data))


@dataclass(slots=True)
class Traffic:
    """What one tenant was told; `marker` stands in all its texts, names and file names."""

    tenant: str
    marker: str
    path: Path
    faults: list[str] = field(default_factory=list)
    answers: Counter[str] = field(default_factory=Counter)  # by kind
    statuses: Counter[str] = field(default_factory=Counter)

    def add(
        self, kind: str, status: int, body: bytes, *, head: bytes = b"", asked: str = ""
    ) -> None:
        """Keep an answer; `asked` is what the request held, which may come back in the answer."""
        self.answers[kind] += 1
        self.statuses[str(status)] += 1
        if status >= 500:
            self.fault(f"{kind} was answered {status}: {body[:200]!r}")
        line = {
            "kind": kind,
            "asked": asked,
            "head": head.decode("latin-1"),
            "body": base64.b64encode(body).decode(),
        }
        with self.path.open("a") as file:
            file.write(json.dumps(line) + "\n")

    def fault(self, sentence: str) -> None:
        """Note something that must not be."""
        self.faults.append(f"{self.tenant}: {sentence}")

    def recorded(self) -> Iterator[tuple[str, bytes, bytes]]:
        """Yield kind, request and answer of everything that was kept."""
        if not self.path.exists():
            return
        with self.path.open() as file:
            for line in file:
                entry: dict[str, Any] = json.loads(line)
                told = entry["head"].encode("latin-1") + base64.b64decode(entry["body"])
                yield entry["kind"], entry["asked"].encode(), told


def crossed(one: Traffic, other: Traffic) -> list[str]:
    """Return what stands in the answers of both tenants though no request of the second held it.

    Markers are looked for in every answer, too: text, names and file names carry one.
    """
    found = _with_marker(one, other.marker) + _with_marker(other, one.marker)
    known = {traffic.tenant: _told(traffic) for traffic in (one, other)}
    shared = known[one.tenant].keys() & known[other.tenant].keys()
    for name in sorted(shared):
        kinds = f"{known[one.tenant][name]} and {known[other.tenant][name]}"
        found.append(f"the id {name.decode()} was told to both: {kinds}")
    return found[:MAX_LISTED]


def _told(traffic: Traffic) -> dict[bytes, str]:
    """Return the ids a tenant was told without having asked with them, and in what first."""
    known: dict[bytes, str] = {}
    asked_ever: set[bytes] = set()
    for kind, asked, told in traffic.recorded():
        asked_ever |= ids_in(asked)
        # The audit log repeats what the tenant itself asked for, foreign ids included.
        for name in ids_in(told) - (asked_ever if kind == REPEATS_REQUESTS else ids_in(asked)):
            known.setdefault(name, kind)
    return known


def _with_marker(traffic: Traffic, marker: str) -> list[str]:
    word = marker.encode()
    return [
        f"{traffic.tenant} was told the other's marker in {kind}"
        for kind, asked, told in traffic.recorded()
        if word in told.lower() and word not in asked.lower()
    ]


def distinct_ids(traffic: Traffic) -> int:
    """Return how many ids a tenant was told."""
    return len(_told(traffic))
