"""The Content-Disposition header: read from form parts, written for downloads."""

import re
from urllib.parse import quote, unquote

_PARAMETER = re.compile(
    r";\s*([!#$%&'*+.^_`|~0-9A-Za-z-]+)\s*=\s*(?:\"((?:[^\"\\]|\\.)*)\"|([^;\s]*))"
)
_ESCAPED = re.compile(r"\\([\"\\])")
_TOKEN = re.compile(r"[A-Za-z0-9!#$&+.^_`|~-]+")


def disposition_parameters(value: str) -> dict[str, str]:
    """Return the parameters of a form part's header; `filename*` wins over `filename`.

    Browsers write a quotation mark in a name as `%22` and escape nothing else, so that is undone.
    A backslash that escapes nothing is kept: it separates folders in names from old clients.
    """
    found: dict[str, str] = {}
    for name, quoted, bare in _PARAMETER.findall(value):
        found.setdefault(name.lower(), _ESCAPED.sub(r"\1", quoted) if quoted else bare)
    if "filename" in found:
        found["filename"] = found["filename"].replace("%22", '"')
    extended = found.pop("filename*", None)
    if extended is not None and extended.count("'") >= 2:
        charset, _, encoded = extended.split("'", 2)
        if charset.lower() in ("utf-8", "iso-8859-1"):
            found["filename"] = unquote(encoded, encoding=charset, errors="replace")
    return found


def content_disposition(kind: str, filename: str) -> str:
    """Return the header of a download; names beyond plain ASCII also get an ASCII fallback."""
    encoded = quote(filename, safe="")
    header = f"{kind}; filename*=UTF-8''{encoded}"
    if _TOKEN.fullmatch(filename):
        return header
    plain = filename.encode("ascii", "replace").decode().replace("?", "_")
    fallback = re.sub(r"[^\x20-\x7e]|[\"\\/%;]", "_", plain)
    return f'{header}; filename="{fallback}"'
