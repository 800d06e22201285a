"""The indexing protocol as pure functions: a record and a time in, a record out.

Every storage runs these inside one atomic step (lock or compare-and-set), with `now` taken from
its own clock, and writes the result together with the counters and the event that follow from
the difference. So the rules exist once, whatever the back end. A refused move raises; nothing is
written then. Guards marked with a diamond (◆ and a name) are removed one by one by the mutation
check, which must then see the simulation or a directed test fail.

guards: what must hold for any move · upload · run: claim to publish · deletion: tombstones,
purge and garbage collection · knowledge_base: its own life · migration: its change of model.
"""
