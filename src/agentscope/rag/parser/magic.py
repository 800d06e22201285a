"""What the first bytes of a file say about its type."""

import re

_OFFICE = "application/vnd.openxmlformats-officedocument."
_FIXED = (
    (b"\x89PNG\r\n\x1a\n", "image/png"),
    (b"\xff\xd8\xff", "image/jpeg"),
    (b"GIF87a", "image/gif"),
    (b"GIF89a", "image/gif"),
    (b"II*\x00", "image/tiff"),
    (b"MM\x00*", "image/tiff"),
    (b"{\\rtf", "application/rtf"),
    (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", "application/x-ole-storage"),
    (b"\x7fELF", "application/x-executable"),
    (b"\x1f\x8b\x08", "application/gzip"),
    (b"BZh", "application/x-bzip2"),
    (b"\xfd7zXZ\x00", "application/x-xz"),
    (b"7z\xbc\xaf\x27\x1c", "application/x-7z-compressed"),
    (b"Rar!\x1a\x07", "application/vnd.rar"),
    (b"\x28\xb5\x2f\xfd", "application/zstd"),
    (b"SQLite format 3\x00", "application/vnd.sqlite3"),
    (b"OggS", "application/ogg"),
    (b"ID3", "audio/mpeg"),
    (b"\x00asm", "application/wasm"),
    (b"\xca\xfe\xba\xbe", "application/java-vm"),
    (b"fLaC", "audio/flac"),
)
_ZIP_PARTS = (
    (b"word/", _OFFICE + "wordprocessingml.document"),
    (b"ppt/", _OFFICE + "presentationml.presentation"),
    (b"xl/", _OFFICE + "spreadsheetml.sheet"),
)
_ZIP_MIMETYPE = re.compile(
    rb"mimetype(?:[^a]{0,64}?)(application/[a-z0-9.+-]{3,80}?)(?=PK|\s|$|\x00)"
)
_FTYP = {
    b"avif": "image/avif",
    b"avis": "image/avif",
    b"heic": "image/heic",
    b"heix": "image/heic",
    b"mif1": "image/heif",
    b"msf1": "image/heif",
}
_WORDS = {
    "application/pdf": "a PDF",
    _OFFICE + "wordprocessingml.document": "a Word document",
    _OFFICE + "presentationml.presentation": "a presentation",
    _OFFICE + "spreadsheetml.sheet": "a spreadsheet",
    "application/epub+zip": "an e-book",
    "application/rtf": "an RTF document",
    "application/zip": "a ZIP archive",
    "application/x-ole-storage": "an older office document",
}


def sniffed(head: bytes) -> str | None:
    """Return the media type that `head` proves, or None; plain text proves nothing."""
    if b"%PDF-" in head[:1024]:
        return "application/pdf"
    for mark, media_type in _FIXED:
        if head.startswith(mark):
            return media_type
    if head[:4] in (b"PK\x03\x04", b"PK\x05\x06"):
        return _sniffed_zip(head)
    return _sniffed_container(head)


def _sniffed_container(head: bytes) -> str | None:
    if head[:4] == b"RIFF" and head[8:12] == b"WEBP":
        return "image/webp"
    if head[:4] == b"RIFF" and head[8:12] in (b"WAVE", b"AVI "):
        return "application/x-riff"
    if head[4:8] == b"ftyp":
        return _FTYP.get(head[8:12], "video/mp4")
    if head[:2] == b"BM" and len(head) >= 18 and head[6:10] == b"\0\0\0\0":
        return "image/bmp"
    if head[:4] == b"\x00\x00\x01\x00" and len(head) >= 22:
        return "image/vnd.microsoft.icon"
    return None


def _sniffed_zip(head: bytes) -> str:
    if match := _ZIP_MIMETYPE.search(head[:512]):
        return match.group(1).decode("ascii")
    found = [
        (position, media_type)
        for part, media_type in _ZIP_PARTS
        if (position := head.find(part)) >= 0
    ]
    return min(found)[1] if found and b"[Content_Types]" in head else "application/zip"


def in_words(media_type: str) -> str:
    """Return what to call a file of `media_type` in a sentence, with its article."""
    if media_type in _WORDS:
        return _WORDS[media_type]
    kind = media_type.split("/", 1)[0]
    if kind == "text":
        return "a text"
    if kind in ("image", "audio", "video"):
        return f"{'a' if kind == 'video' else 'an'} {kind} file"
    return f"a file of type {media_type}"
