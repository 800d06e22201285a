"""Storage in SQL: one text of statements for SQLite (one process) and PostgreSQL (many).

dialect: where the two differ · session: one transaction's view · transaction: records with their
counters and events · documents, knowledge_bases, ledger: the nouns · claims: fair claims and
sweeps · migrations: the schema in numbered steps · sqlite, postgres: connections · url: by address.
"""
