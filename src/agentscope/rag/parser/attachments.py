"""Attachments of messages, read by the parsers that read such files on their own."""

from collections.abc import Iterator, Sequence

from agentscope.errors import ParseError, UnsupportedMediaTypeError
from agentscope.rag.document import ParseReport, Section
from agentscope.rag.parser.base import ParseOptions, ParserBase
from agentscope.rag.parser.registry import HEAD_BYTES, ParserRegistry

ATTACHMENTS_MAX = 200
ATTACHMENT_BYTES_MAX = 128 << 20


class AttachmentReader:
    """Routes attachments to `parsers`; what cannot be read becomes a warning, not an error.

    Messages inside messages are not its business: the parser of the message follows them
    itself, so that their depth is bounded in one place.
    """

    def __init__(self, parsers: Sequence[ParserBase]) -> None:
        self.parsers = list(parsers)

    def sections(
        self, data: bytes, name: str, media_type: str, source: str, report: ParseReport
    ) -> Iterator[Section]:
        """Yield the sections of one attachment, with its name as `attachment` in the metadata."""
        if not data:
            return
        shown = name[:200] or "without a name"
        if len(data) > ATTACHMENT_BYTES_MAX:
            report.warn(f"The attachment {shown} is too large and was left out.")
            return
        registry = ParserRegistry({kind: p for p in self.parsers for kind in _kinds(p)})
        try:
            route = registry.route(
                name, declared=media_type or None, explicit=None, head=data[:HEAD_BYTES]
            )
        except UnsupportedMediaTypeError:
            report.warn(f"The attachment {shown} is of a type that is not read.")
            return
        inner = ParseReport()
        options = ParseOptions(media_type=route.media_type)
        try:
            for section in route.parser.iter_sections(data, name or source, options, inner):
                metadata = {**section.metadata, "attachment": name}
                yield section.model_copy(update={"source": source, "metadata": metadata})
        except ParseError as exc:
            report.warn(f"The attachment {shown} could not be read: {exc.message}")
        for warning in inner.warnings:
            report.warn(f"Attachment {shown}: {warning}")


def _kinds(parser: ParserBase) -> list[str]:
    return [name.lower() for name in parser.supported_media_types]
