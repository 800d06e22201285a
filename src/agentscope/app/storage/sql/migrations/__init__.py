"""Numbered steps of the schema, one file each, forward only; a step is never edited once shipped.

A step may only add (tables, nullable columns, indexes), so that the previous version keeps
working beside the new one; a removal comes one release after its last reader.
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
