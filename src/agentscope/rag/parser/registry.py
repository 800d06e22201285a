"""Which parser reads which file: by override, declared type, extension, then content."""

import logging
import mimetypes
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib.util import find_spec

from agentscope.errors import UnsupportedMediaTypeError
from agentscope.rag.parser.base import ParserBase
from agentscope.rag.parser.magic import in_words, sniffed
from agentscope.rag.parser.media_types import (
    GENERIC,
    MEDIA_TYPE_OF_EXTENSION,
    SPREADSHEET_NAMES,
    SYNONYMS,
    extension_of,
    extensions_of,
    plain_media_type,
)

logger = logging.getLogger(__name__)
HEAD_BYTES = 8192
"""How much of a file `route` wants to see."""
_LISTED_MAX = 60
_CONTROLS = frozenset(range(9)) | frozenset(range(14, 32)) - {27}


@dataclass(frozen=True, slots=True)
class Route:
    """The parser for a file, the media type to give it, and a sentence if names disagreed."""

    parser: ParserBase
    media_type: str
    note: str | None = None


class ParserRegistry:
    """Routes files to parsers.

    In a sequence a later parser takes over the types it shares with an earlier one, with a
    warning in the log. A mapping from media type to parser is taken as it stands.
    """

    def __init__(self, parsers: Sequence[ParserBase] | Mapping[str, ParserBase]) -> None:
        self._parsers: dict[str, ParserBase] = {}
        self._extensions: dict[str, str] = {}
        self._missing: dict[str, str] = {}
        if isinstance(parsers, Mapping):
            for media_type, parser in parsers.items():
                name = plain_media_type(media_type) or media_type.strip().lower()
                self._parsers[name] = parser
                self._add_extensions([name], _extensions_by_type([name]))
            return
        for parser in parsers:
            self._register(parser)

    def _register(self, parser: ParserBase) -> None:
        if not can_run(parser):
            logger.warning("parser_unavailable", extra={"parser": type(parser).__name__})
            needed = ", ".join(getattr(parser, "required_modules", ()))
            extensions = [name.lower() for name in parser.supported_extensions()]
            names = [name.lower() for name in parser.supported_media_types]
            self._missing.update(dict.fromkeys([*names, *extensions], needed))
            return
        names = [name.lower() for name in parser.supported_media_types]
        taken = [name for name in names if name in self._parsers]
        if taken:
            logger.warning(
                "parser_overridden",
                extra={"media_types": taken, "parser": type(parser).__name__},
            )
        self._parsers.update(dict.fromkeys(names, parser))
        self._add_extensions(names, [name.lower() for name in parser.supported_extensions()])

    def _add_extensions(self, names: list[str], extensions: list[str]) -> None:
        for extension in extensions:
            usual = MEDIA_TYPE_OF_EXTENSION.get(extension, "")
            candidates = [name for name in SYNONYMS.get(usual, (usual,)) if name in names]
            if usual in names:
                self._extensions[extension] = usual
            elif candidates or names:
                self._extensions[extension] = (candidates or names)[0]

    def supported_media_types(self) -> list[str]:
        """Return the media types, sorted."""
        return sorted(self._parsers)

    def supported_extensions(self) -> list[str]:
        """Return the extensions with their dot, sorted."""
        return sorted(self._extensions)

    def parser_for(self, media_type: str) -> ParserBase | None:
        """Return the parser of a media type or of one of its other names."""
        name = self._known(plain_media_type(media_type))
        return self._parsers[name] if name else None

    def route(
        self, filename: str, *, declared: str | None, explicit: str | None, head: bytes
    ) -> Route:
        """Return where a file goes; `head` is its beginning, `HEAD_BYTES` are enough.

        Raises:
            UnsupportedMediaTypeError: no parser takes it; names what is supported.
        """
        if explicit and explicit.strip():
            name = self._known(plain_media_type(explicit))
            if name is None:
                raise self._refusal(explicit.split(";", 1)[0].strip())
            return Route(self._parsers[name], name)
        proven = sniffed(head)
        named = self._by_name(filename, plain_media_type(declared))
        if named is None:
            return self._by_content(filename, plain_media_type(declared), proven, head)
        found = self._known(proven) if proven else None
        packed_drawing = (named, proven) == ("image/svg+xml", "application/gzip")
        if proven and _is_textual(named) and not _is_textual(proven) and not packed_drawing:
            if found is None:
                raise self._refusal(proven)
            return Route(self._parsers[found], found, _mismatch(named, found))
        differs = found is not None and found != named and not _same_kind(found, named)
        return Route(self._parsers[named], named, _mismatch(named, found) if differs else None)

    def _by_name(self, filename: str, declared: str) -> str | None:
        """Decide by declared type and extension; a generic or table type yields to the name."""
        by_declared = self._known(declared)
        by_extension = self._extensions.get(extension_of(filename))
        if declared in SPREADSHEET_NAMES and by_extension and _is_textual(by_extension):
            return by_extension
        if declared in GENERIC and by_extension:
            return by_extension
        return by_declared or by_extension

    def _by_content(self, filename: str, declared: str, proven: str | None, head: bytes) -> Route:
        found = self._known(proven) if proven else None
        if found:
            return Route(self._parsers[found], found)
        unnamed = not extension_of(filename) and declared in GENERIC
        text_name = self._known("text/plain")
        says_text = declared.startswith("text/") or unnamed
        if text_name and says_text and not proven and _looks_like_text(head):
            return Route(self._parsers[text_name], text_name)
        raise self._refusal(declared if declared not in GENERIC else extension_of(filename))

    def _known(self, name: str) -> str | None:
        if name in self._parsers:
            return name
        return next((other for other in SYNONYMS.get(name, ()) if other in self._parsers), None)

    def _refusal(self, what: str) -> UnsupportedMediaTypeError:
        extensions = self.supported_extensions()
        shown = ", ".join(extensions[:_LISTED_MAX]) or "nothing"
        more = ", …" if len(extensions) > _LISTED_MAX else ""
        subject = f"Files of type {what[:100]}" if what else "Files of this type"
        if what in self._missing:
            needed = self._missing[what]
            subject = f"{subject} need {needed}, which is not installed here; they"
        return UnsupportedMediaTypeError(
            f"{subject} are not supported. Supported are: {shown}{more}.",
            context={"supported_media_types": self.supported_media_types()},
        )


def can_run(parser: ParserBase) -> bool:
    """Tell whether the packages are here that the parser names in `required_modules`."""
    names: Sequence[str] = getattr(parser, "required_modules", ())
    return all(find_spec(name) is not None for name in names)


def _extensions_by_type(names: list[str]) -> list[str]:
    found = set(extensions_of(names))
    for name in names:
        found.update(mimetypes.guess_all_extensions(name))
    return sorted(found)


def _is_textual(media_type: str) -> bool:
    return (
        media_type.startswith("text/")
        or media_type.endswith(("+json", "+xml", "/json", "/xml", "yaml", "json"))
        or media_type in ("application/toml", "application/sql", "application/x-subrip")
    )


def _mismatch(named: str, found: str | None) -> str:
    return f"The file is named like {in_words(named)} but is {in_words(found or '')}."


def _same_kind(one: str, other: str) -> bool:
    """Tell whether two types are one family, for which the parser itself looks closer."""
    families = ("image/", "application/vnd.openxmlformats", "application/vnd.oasis")
    return any(one.startswith(family) and other.startswith(family) for family in families)


def _looks_like_text(head: bytes) -> bool:
    controls = sum(byte in _CONTROLS for byte in head)
    return controls * 20 <= len(head)
