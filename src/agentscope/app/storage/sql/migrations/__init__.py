"""Numbered steps of the schema, one file each, forward only; a step is never edited once shipped.

A step may only add (tables, nullable columns, indexes), so that the previous version keeps
working beside the new one; a removal comes one release after its last reader, together with a
higher `OLDEST_READER`.
"""

from agentscope.app.storage.sql.migrations import (
    m0001_records,
    m0002_failed,
    m0003_shares,
    m0004_arriving_bytes,
)

STEPS = (
    (1, m0001_records.statements),
    (2, m0002_failed.statements),
    (3, m0003_shares.statements),
    (4, m0004_arriving_bytes.statements),
)

OLDEST_READER = 1
"""The newest step that a program must know at least to work on this schema.

It is kept with the data, so that an older program knows by itself whether it may start.
"""
