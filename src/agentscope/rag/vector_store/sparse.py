"""BM25 as a sparse vector, for stores that know sparse vectors and apply the idf themselves."""

import hashlib
from collections import Counter

from agentscope.rag.terms import document_terms, query_terms

_K1 = 1.2
_B = 0.75
MAX_WEIGHT = _K1 + 1
"""No term of a text weighs as much, however often it stands there."""

_USUAL_LENGTH = 300
"""Terms of a usual chunk: the store cannot tell a writer the average of its collection."""


def document_weights(text: str) -> dict[int, float]:
    """Return the weight of each term number in a text, without idf."""
    terms = Counter(document_terms(text))
    scale = _K1 * (1 - _B + _B * terms.total() / _USUAL_LENGTH)
    weights: dict[int, float] = {}
    for term, times in terms.items():
        number = term_number(term)
        weights[number] = weights.get(number, 0.0) + times * (_K1 + 1) / (times + scale)
    return weights


def query_weights(text: str) -> dict[int, float]:
    """Return weight 1 for each term number of a query."""
    return dict.fromkeys(map(term_number, query_terms(text)), 1.0)


def term_number(term: str) -> int:
    """Return the 32-bit number of a term."""
    digest = hashlib.blake2b(term.encode("utf-8", "surrogatepass"), digest_size=4).digest()
    return int.from_bytes(digest, "big")
