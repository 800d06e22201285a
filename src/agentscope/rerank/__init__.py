"""Rerankers: a second look at the best hits by a model that reads query and text together.

None runs locally: no reranker with a usable licence and safe weights comes in a package.
"""

from agentscope.rerank.base import RerankerBase
from agentscope.rerank.http import HTTPReranker, RerankProtocol

__all__ = ["HTTPReranker", "RerankProtocol", "RerankerBase"]
