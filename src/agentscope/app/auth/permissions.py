"""What an identified caller may do: capabilities, and to which knowledge bases they reach."""

import enum


class Capability(enum.StrEnum):
    """A kind of action; each includes the ones before it."""

    READ = "read"  # list, search, browse, download
    WRITE = "write"  # also upload, change and delete
    ADMIN = "admin"  # also credentials, API keys and the audit log


_ORDER = (Capability.READ, Capability.WRITE, Capability.ADMIN)


def includes(held: Capability, needed: Capability) -> bool:
    """Say whether holding one capability covers another."""
    return _ORDER.index(held) >= _ORDER.index(needed)
