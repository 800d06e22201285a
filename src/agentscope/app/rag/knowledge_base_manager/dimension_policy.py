"""Which vector dimensions a new knowledge base may have."""

import enum
from dataclasses import dataclass

from agentscope.embedding.base import EmbeddingModelCard
from agentscope.errors import DimensionPolicyError


class DimensionPolicyKind(enum.StrEnum):
    """How free the choice is."""

    ANY = "any"  # every knowledge base has its own collection
    FIXED = "fixed"  # set by the operator
    LOCKED_BY_EXISTING = "locked_by_existing"  # the first knowledge base decided


@dataclass(frozen=True, slots=True)
class DimensionPolicy:
    """`dimension` is None exactly when every dimension is accepted."""

    kind: DimensionPolicyKind = DimensionPolicyKind.ANY
    dimension: int | None = None

    def __post_init__(self) -> None:
        if (self.kind is DimensionPolicyKind.ANY) is not (self.dimension is None):
            raise ValueError("Only the policy 'any' has no dimension.")
        if self.dimension is not None and self.dimension < 1:
            raise ValueError("A dimension is at least 1.")

    def accepts(self, dimension: int) -> bool:
        """Say whether a knowledge base may have this dimension."""
        return self.dimension is None or dimension == self.dimension

    def require(self, dimension: int) -> None:
        """Raise `DimensionPolicyError` for a dimension that is not accepted."""
        if not self.accepts(dimension):
            raise DimensionPolicyError(
                f"Knowledge bases here have {self.dimension} dimensions, not {dimension}.",
                requested_dimension=dimension,
                policy_dimension=self.dimension,
            )

    def filter_card(self, card: EmbeddingModelCard) -> EmbeddingModelCard | None:
        """Return the card narrowed to what is accepted, or None if nothing of it is left."""
        if self.dimension is None:
            return card
        if self.dimension not in (card.supported_dimensions or [card.dimensions]):
            return None
        narrowed = None if card.supported_dimensions is None else [self.dimension]
        return card.model_copy(
            update={"dimensions": self.dimension, "supported_dimensions": narrowed}
        )
