"""Retrieval for agents."""

from agentscope.middleware.parameters import Parameters, parameters_schema
from agentscope.middleware.rag import Prepared, RAGMiddleware, ToolResult

__all__ = ["Parameters", "Prepared", "RAGMiddleware", "ToolResult", "parameters_schema"]
