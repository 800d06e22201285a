"""What an upload does about documents of its name: nothing, refuse, or become their new version.

The old version stays searchable until the new one is: it goes with the publish of the new one, or
with the collection after it, whichever happens first.
"""

import enum

from agentscope.app.records import DocumentQuery, DocumentRecord, Page
from agentscope.app.storage.base import DocumentStorage
from agentscope.errors import DuplicateNameError

PAGE = 128
MAX_REPLACED = 1000


class OnSameName(enum.StrEnum):
    """What an upload does when documents of the knowledge base have exactly its name."""

    KEEP = "keep"  # they stay
    REPLACE = "replace"  # they go once the new one is searchable
    REJECT = "reject"  # store nothing and fail


async def replaced_by(
    documents: DocumentStorage, upload: DocumentRecord, policy: OnSameName
) -> tuple[str, ...]:
    """Return the documents that the upload is a new version of; at most 1,000.

    Looking for them reads the knowledge base once, as every filter by name does.

    Raises:
        DuplicateNameError: there is one and it must not be.
    """
    if policy is OnSameName.KEEP:
        return ()
    found: list[str] = []
    query = DocumentQuery(filename_contains=upload.filename)
    number, total = 1, PAGE
    while (number - 1) * PAGE < total and len(found) < MAX_REPLACED:
        page = Page(number=number, size=PAGE, descending=False)
        records, total = await documents.page(upload.user_id, upload.knowledge_base_id, query, page)
        found += [record.id for record in records if record.filename == upload.filename]
        number += 1
    if found and policy is OnSameName.REJECT:
        raise DuplicateNameError(
            "A document of this name is already in this knowledge base.",
            context={"document_id": found[0]},
        )
    return tuple(found[:MAX_REPLACED])
