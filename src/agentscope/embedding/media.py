"""Checks images before they are sent to a multimodal model."""

from agentscope.errors import EmbeddingInputError
from agentscope.message.blocks import Base64Source, DataBlock

MAX_IMAGE_BYTES = 10 << 20


def inline_image(block: DataBlock) -> Base64Source:
    """Return the inline data of an image.

    Raises:
        EmbeddingInputError: it is not an image, is given by URL (which nobody fetches here), or
            is larger than 10 MiB.
    """
    source = block.source
    if not isinstance(source, Base64Source):
        raise EmbeddingInputError("An image must be given inline to be embedded, not by address.")
    if not source.media_type.startswith("image/"):
        raise EmbeddingInputError("This embedding model takes text and images only.")
    if len(source.data) * 3 // 4 > MAX_IMAGE_BYTES:
        raise EmbeddingInputError("The image is larger than 10 MiB.")
    return source
