"""Names of file types: which extension means which media type, which names mean the same.

The tables are our own: the ones of the operating system differ from machine to machine.
"""

import re
from collections.abc import Iterable
from pathlib import PurePosixPath

_OFFICE = "application/vnd.openxmlformats-officedocument."
_ODF = "application/vnd.oasis.opendocument."

MEDIA_TYPE_OF_EXTENSION = {
    ".asc": "text/plain",
    ".conf": "text/plain",
    ".ini": "text/plain",
    ".log": "text/plain",
    ".text": "text/plain",
    ".toml": "application/toml",
    ".txt": "text/plain",
    ".srt": "application/x-subrip",
    ".vtt": "text/vtt",
    ".tex": "text/x-tex",
    ".markdown": "text/markdown",
    ".md": "text/markdown",
    ".mdown": "text/markdown",
    ".mkd": "text/markdown",
    ".htm": "text/html",
    ".html": "text/html",
    ".shtml": "text/html",
    ".xhtml": "application/xhtml+xml",
    ".csv": "text/csv",
    ".tab": "text/tab-separated-values",
    ".tsv": "text/tab-separated-values",
    ".rst": "text/x-rst",
    ".json": "application/json",
    ".jsonl": "application/x-ndjson",
    ".ndjson": "application/x-ndjson",
    ".geojson": "application/geo+json",
    ".ipynb": "application/x-ipynb+json",
    ".atom": "application/atom+xml",
    ".rss": "application/rss+xml",
    ".xml": "application/xml",
    ".xsd": "application/xml",
    ".xsl": "application/xml",
    ".xslt": "application/xml",
    ".yaml": "application/x-yaml",
    ".yml": "application/x-yaml",
    ".bash": "text/x-shellscript",
    ".bat": "text/x-bat",
    ".c": "text/x-c",
    ".cc": "text/x-c++",
    ".cpp": "text/x-c++",
    ".cs": "text/x-csharp",
    ".css": "text/css",
    ".cxx": "text/x-c++",
    ".go": "text/x-go",
    ".h": "text/x-c",
    ".hpp": "text/x-c++",
    ".java": "text/x-java",
    ".js": "text/javascript",
    ".jsx": "text/javascript",
    ".kt": "text/x-kotlin",
    ".lua": "text/x-lua",
    ".mjs": "text/javascript",
    ".php": "text/x-php",
    ".pl": "text/x-perl",
    ".ps1": "text/x-powershell",
    ".py": "text/x-python",
    ".r": "text/x-r",
    ".rb": "text/x-ruby",
    ".rs": "text/x-rust",
    ".scala": "text/x-scala",
    ".sh": "text/x-shellscript",
    ".sql": "application/sql",
    ".swift": "text/x-swift",
    ".ts": "text/x-typescript",
    ".tsx": "text/x-typescript",
    ".pdf": "application/pdf",
    ".doc": "application/msword",
    ".docm": "application/vnd.ms-word.document.macroenabled.12",
    ".docx": _OFFICE + "wordprocessingml.document",
    ".dotx": _OFFICE + "wordprocessingml.template",
    ".pot": "application/vnd.ms-powerpoint",
    ".potx": _OFFICE + "presentationml.template",
    ".pps": "application/vnd.ms-powerpoint",
    ".ppsx": _OFFICE + "presentationml.slideshow",
    ".ppt": "application/vnd.ms-powerpoint",
    ".pptm": "application/vnd.ms-powerpoint.presentation.macroenabled.12",
    ".pptx": _OFFICE + "presentationml.presentation",
    ".xls": "application/vnd.ms-excel",
    ".xlsb": "application/vnd.ms-excel.sheet.binary.macroenabled.12",
    ".xlsm": "application/vnd.ms-excel.sheet.macroenabled.12",
    ".xlsx": _OFFICE + "spreadsheetml.sheet",
    ".xltx": _OFFICE + "spreadsheetml.template",
    ".odp": _ODF + "presentation",
    ".ods": _ODF + "spreadsheet",
    ".odt": _ODF + "text",
    ".otp": _ODF + "presentation-template",
    ".ots": _ODF + "spreadsheet-template",
    ".ott": _ODF + "text-template",
    ".rtf": "application/rtf",
    ".epub": "application/epub+zip",
    ".eml": "message/rfc822",
    ".msg": "application/vnd.ms-outlook",
    ".avif": "image/avif",
    ".bmp": "image/bmp",
    ".gif": "image/gif",
    ".heic": "image/heic",
    ".heif": "image/heif",
    ".ico": "image/vnd.microsoft.icon",
    ".jpeg": "image/jpeg",
    ".jpg": "image/jpeg",
    ".png": "image/png",
    ".svg": "image/svg+xml",
    ".svgz": "image/svg+xml",
    ".tif": "image/tiff",
    ".tiff": "image/tiff",
    ".webp": "image/webp",
}

# Names under which the same format is known; the first name of a line is looked for first.
_SAME: tuple[tuple[str, ...], ...] = (
    ("application/xml", "text/xml"),
    ("application/x-yaml", "application/yaml", "text/yaml", "text/x-yaml"),
    ("application/json", "text/json", "application/x-json"),
    (
        "application/x-ndjson",
        "application/jsonl",
        "application/x-jsonlines",
        "application/jsonlines",
    ),
    ("text/markdown", "text/x-markdown", "text/x-web-markdown"),
    ("text/csv", "application/csv", "text/x-csv", "text/comma-separated-values"),
    ("text/tab-separated-values", "text/tsv"),
    ("text/html", "application/xhtml+xml"),
    ("text/x-rst", "text/restructuredtext", "text/prs.fallenstein.rst"),
    ("text/javascript", "application/javascript", "application/x-javascript"),
    ("text/x-python", "application/x-python-code", "text/x-script.python"),
    ("text/x-shellscript", "application/x-sh", "text/x-sh"),
    ("text/x-typescript", "application/typescript"),
    ("text/x-php", "application/x-httpd-php"),
    ("text/x-c++", "text/x-c++src", "text/x-c++hdr"),
    ("text/x-c", "text/x-csrc", "text/x-chdr"),
    ("application/pdf", "application/x-pdf", "application/acrobat", "text/pdf"),
    ("application/rtf", "text/rtf", "application/x-rtf", "text/richtext"),
    ("image/jpeg", "image/jpg", "image/pjpeg"),
    ("image/bmp", "image/x-ms-bmp", "image/x-bmp"),
    ("image/png", "image/x-png", "image/apng"),
    ("image/vnd.microsoft.icon", "image/x-icon"),
    ("message/rfc822", "message/global"),
    ("application/vnd.ms-outlook", "application/x-msg"),
    ("application/sql", "text/x-sql"),
)
SYNONYMS: dict[str, tuple[str, ...]] = {name: group for group in _SAME for name in group}

# Types that browsers and scripts send when they know nothing; the name says more.
GENERIC = frozenset(
    {
        "",
        "*/*",
        "application/binary",
        "application/download",
        "application/force-download",
        "application/octet-stream",
        "application/octetstream",
        "application/unknown",
        "application/x-binary",
        "application/x-download",
        "application/x-unknown",
        "application/x-zip",
        "application/x-zip-compressed",
        "application/zip",
        "binary/octet-stream",
        "content/unknown",
        "multipart/form-data",
        "text/plain",
        "unknown/unknown",
    }
)
# Windows reports these for text tables when a spreadsheet program owns the extension.
SPREADSHEET_NAMES = frozenset({"application/vnd.ms-excel", "application/msexcel"})
_VALID = re.compile(r"[a-z0-9][a-z0-9!#$&^_.+-]*/[a-z0-9*][a-z0-9!#$&^_.+*-]*")


def plain_media_type(value: str | None) -> str:
    """Return `value` in lower case without parameters; empty if it is no media type."""
    name = (value or "").split(";", 1)[0].strip().lower()
    return name if _VALID.fullmatch(name) or name == "*/*" else ""


def charset_of(value: str | None) -> str | None:
    """Return the `charset` parameter of a media type, if it has one."""
    match = re.search(r";\s*charset\s*=\s*[\"']?([^\s\"';]{1,40})", value or "", re.IGNORECASE)
    return match.group(1) if match else None


def extension_of(filename: str) -> str:
    """Return the extension with its dot in lower case; empty if there is none."""
    name = filename.replace("\\", "/").rstrip("/ .").rsplit("/", 1)[-1]
    return PurePosixPath(name).suffix.lower() if name else ""


def extensions_of(media_types: Iterable[str]) -> list[str]:
    """Return the extensions of our table that mean one of `media_types`, sorted."""
    wanted = {other for name in media_types for other in SYNONYMS.get(name, (name,))}
    return sorted(
        extension for extension, name in MEDIA_TYPE_OF_EXTENSION.items() if name in wanted
    )
