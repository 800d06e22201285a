"""Decompression of rich text in Outlook messages (MS-OXRTFCP)."""

import struct

OUTPUT_BYTES_MAX = 64 << 20
_WINDOW = 4096
_START = (
    b"{\\rtf1\\ansi\\mac\\deff0\\deftab720{\\fonttbl;}{\\f0\\fnil \\froman \\fswiss \\fmodern "
    b"\\fscript \\fdecor MS Sans SerifSymbolArialTimes New RomanCourier{\\colortbl\\red0\\green0"
    b"\\blue0\r\n\\par \\pard\\plain\\f0\\fs20\\b\\i\\u\\tab\\tx"
)


def decompress(data: bytes) -> bytes:
    """Return the rich text; what is damaged or beyond `OUTPUT_BYTES_MAX` is cut off."""
    if len(data) < 16:
        return b""
    _, raw_size, kind, _ = struct.unpack_from("<IIII", data)
    if kind == 0x414C454D:  # "MELA": stored as it is
        return data[16 : 16 + raw_size]
    if kind != 0x75465A4C:  # "LZFu"
        return b""
    return _inflate(data, min(raw_size, OUTPUT_BYTES_MAX))


def _inflate(data: bytes, size_max: int) -> bytes:
    window = bytearray(_START.ljust(_WINDOW, b"\0"))
    write = len(_START)
    out = bytearray()
    at = 16
    while at < len(data) and len(out) < size_max:
        control = data[at]
        at += 1
        for bit in range(8):
            if at >= len(data) or len(out) >= size_max:
                break
            if not control >> bit & 1:
                piece = data[at : at + 1]
                at += 1
            else:
                token = int.from_bytes(data[at : at + 2], "big")
                at += 2
                offset = token >> 4
                if offset == write:
                    return bytes(out)
                piece = _copied(window, offset, (token & 0xF) + 2, write)
            for byte in piece:
                window[write] = byte
                write = (write + 1) % _WINDOW
            out += piece
    return bytes(out)


def _copied(window: bytearray, offset: int, length: int, write: int) -> bytes:
    """Return what a reference means; it may run into the bytes that it itself writes."""
    piece = bytearray()
    for step in range(length):
        place = (offset + step) % _WINDOW
        distance = (place - write) % _WINDOW
        piece.append(piece[distance] if distance < step else window[place])
    return bytes(piece)
