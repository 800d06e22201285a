"""The service: `create_app` puts it together."""

from agentscope.app.factory import create_app

__all__ = ["create_app"]
