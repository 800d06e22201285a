"""Workspace managers, accepted for compatibility: agents live in another product."""

from agentscope.app.workspace_manager.base import IsolationPolicy, WorkspaceManagerBase
from agentscope.app.workspace_manager.local import LocalWorkspaceManager

__all__ = ["IsolationPolicy", "LocalWorkspaceManager", "WorkspaceManagerBase"]
