"""Storage in Redis 7 or Valkey, for many processes.

keys: names · scripts: the atomic steps on the server · commit: builds a write · server: load and
commit with retries · documents, knowledge_bases, ledger: the nouns · claims: fair claims and
sweeps · lists: pages and filters · store: the whole.
"""
