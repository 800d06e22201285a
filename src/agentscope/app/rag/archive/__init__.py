"""The file that one knowledge base is exported to: a tar archive, written and read as a stream.

`tar` frames entries, `layout` says which ones there are and what they hold, `vectors` packs
vectors, `writer` and `reader` keep the order and the checksums. Nothing here knows a storage.
"""
