"""A worker process: takes documents from the storage it shares with the API and indexes them."""

from agentscope.app.rag.index_worker.run import run_worker

__all__ = ["run_worker"]
