"""Identity of callers: the documented header, and the contract for identities that prove it."""

from agentscope.app.auth.base import Caller, IdentityBase
from agentscope.app.auth.header import HeaderIdentity

__all__ = ["Caller", "HeaderIdentity", "IdentityBase"]
