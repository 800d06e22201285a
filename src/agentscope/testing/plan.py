"""How rough a run of the simulation is."""

from dataclasses import dataclass, field, replace

from agentscope.testing.faults import FaultRates


@dataclass(frozen=True, slots=True)
class Plan:
    """How rough a run of the simulation is."""

    requests: int = 20
    knowledge_bases: int = 2
    workers: int = 3
    apis: int = 2
    rates: FaultRates = field(default_factory=FaultRates)
    disasters: int = 10  # kills, freezes and drains
    misbehaving: float = 0.2  # share of files that break readers
    provider_faults: int = 2
    migrations: float = 0.0
    """Weight of changing the embedding model among the requests; searches then use vectors, too."""
    suspends: bool = False
    """Machines are suspended: no local deadline holds, so garbage may come after the last purge.
    Nobody may ever see it, and the audit must find and remove it."""


ROUGH = Plan(
    rates=FaultRates(
        before=0.03,
        after=0.03,
        late=0.03,
        slow=0.03,
        signal_lost=0.2,
        signal_twice=0.2,
        signal_cut=0.1,
        swallowed=0.1,
    )
)
SUSPENDED = replace(ROUGH, suspends=True)
MIGRATING = replace(
    ROUGH, migrations=4.0, requests=40, knowledge_bases=1, misbehaving=0.05, disasters=14
)
CALM = Plan(disasters=0, misbehaving=0.0, provider_faults=0)
BUS_OFF = Plan(rates=FaultRates(signal_lost=1.0, signal_cut=1.0), disasters=2, provider_faults=0)
