"""Numbered steps of the schema, one file each, forward only; a step is never edited once shipped.

A step may only add (tables, nullable columns, indexes), so that the previous version keeps
working beside the new one; a removal comes one release after its last reader.
"""

from agentscope.app.storage.sql.migrations import m0001_records

STEPS = ((1, m0001_records.statements),)
