"""Which run of which document a search may show."""

from collections.abc import Collection, Mapping
from typing import Protocol


class Visibility(Protocol):
    """Answers from the records; without records every stored run is visible."""

    async def active_runs(self, document_ids: Collection[str]) -> Mapping[str, str]:
        """Return the active run of each visible document; the others are left out."""
        ...
