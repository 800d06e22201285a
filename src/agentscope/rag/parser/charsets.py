"""Character sets that Python has no codec for; importing this module registers them.

EUC-TW follows CNS 11643, whose planes 1 and 2 hold the characters of Big5 in almost the same
order: the tables say which runs of a plane are which runs of Big5 (checked against glibc's
iconv). VISCII and TCVN are Vietnamese, GEORGIAN-PS is Georgian.
"""

import codecs
from functools import lru_cache
from typing import Any

_ROW = 94
_BIG5_ROW = 157
_GETA = "〓"
# Start in the plane, start in Big5, length; all count characters from the first one.
_PLANE_1 = (
    "0:0:5 6:6:8 15:15:6 21:23:2 24:22:1 29:29:44 73:74:1 74:73:1 75:75:22 98:98:1 "
    "100:100:27 127:128:1 128:127:1 129:129:19 148:149:1 149:148:1 150:150:4 155:21:1 "
    "156:158:2 160:160:1 162:162:1 165:165:69 282:234:29 312:264:1 314:266:142 "
    "470:6101:20 3290:471:1412 4702:1884:424 5126:1883:1 5127:2308:1876 7003:4571:1 "
    "7004:4184:387 7391:4572:525 7916:5286:1 7917:5097:105 8023:5203:83 8106:5287:84 "
    "8190:5517:1 8191:5371:54 8245:5426:1 8246:5425:1 8247:5427:90 8337:5518:354 "
)
_PLANE_2 = (
    "0:6280:10 10:6291:33 43:6372:1 44:6324:48 92:6373:46 138:6586:1 139:6419:167 "
    "306:6587:1840 2146:9074:1 2147:8428:108 2255:8537:537 2792:8427:1 2793:9075:100 "
    "2893:8536:1 2894:9175:399 3293:9575:1637 4930:11761:1 4931:11212:146 5077:11899:1 "
    "5078:11358:287 5365:12508:1 5366:11645:116 5482:11762:137 5619:11900:104 "
    "5723:12425:1 5724:12004:222 5946:12227:198 6144:12426:82 6226:12509:86 6312:12226:1 "
    "6313:12595:8 6321:12604:153 6474:12758:56 6530:13114:1 6531:12814:113 6644:12603:1 "
    "6645:12927:142 6787:12757:1 6788:13069:45 6833:13115:71 6904:13380:1 6905:13186:194 "
    "7099:13381:490 7589:13914:1 7590:13871:43 7633:13915:1 7634:13917:11 7645:13916:1 "
    "7646:13928:4 "
)
_PLANE_1_OTHERS = {
    5: "・",
    14: "﹑",
    23: "︲",
    154: "‖",
    158: "∕",
    159: "﹨",
    161: "￥",
    163: "￠",
    164: "￡",
    571: "亠",
    578: "冫",
    583: "勹",
    8022: "彞",
    **{490 + number: chr(0x2170 + number) for number in range(10)},
}
_VISCII_LOW = {0x02: "Ẳ", 0x05: "Ẵ", 0x06: "Ẫ", 0x14: "Ỷ", 0x19: "Ỹ", 0x1E: "Ỵ"}
_VISCII = (
    "ẠẮẰẶẤẦẨẬẼẸẾỀỂỄỆỐỒỔỖỘỢỚỜỞỊỎỌỈỦŨỤỲÕắằặấầẩậẽẹếềểễệốồổỗỠƠộờởịỰỨỪỬơớƯÀÁÂÃẢĂẳẵÈÉÊẺÌÍĨỳĐứÒÓ"
    "ÔạỷừửÙÚỹỵÝỡưàáâãảăữẫèéêẻìíĩỉđựòóôõỏọụùúũủýợỮ"
)
_TCVN_LOW = {
    0x01: "Ú",
    0x02: "Ụ",
    0x04: "Ừ",
    0x05: "Ử",
    0x06: "Ữ",
    0x11: "Ứ",
    0x12: "Ự",
    0x13: "Ỳ",
    0x14: "Ỷ",
    0x15: "Ỹ",
    0x16: "Ý",
    0x17: "Ỵ",
}
_TCVN = (
    "ÀẢÃÁẠẶẬÈẺẼÉẸỆÌỈĨÍỊÒỎÕÓỌỘỜỞỠỚỢÙỦŨ\u00a0ĂÂÊÔƠƯĐăâêôơưđẰ\u0300\u0309\u0303\u0301\u0323à"
    "ảãáạẲằẳẵắẴẮẦẨẪẤỀặầẩẫấậèỂẻẽéẹềểễếệìỉỄẾỒĩíịòỔỏõóọồổỗốộờởỡớợùỖủũúụừửữứựỳỷỹýỵỐ"
)
_GEORGIAN = (
    "\u0080\u0081‚ƒ„…†‡ˆ‰Š‹Œ\u008d\u008e\u008f\u0090‘’“”•–—˜™š›œ\u009d\u009eŸ\u00a0¡¢£¤¥¦"
    "§¨©ª«¬\u00ad®¯°±²³´µ¶·¸¹º»¼½¾¿აბგდევზჱთიკლმნჲოპჟრსტჳუფქღყშჩცძწჭხჴჯჰჵæçèéêëìíîïðñòóôõ"
    "ö÷øùúûüýþÿ"
)


@lru_cache(maxsize=1)
def _euc_tw_table() -> dict[bytes, str]:
    table: dict[bytes, str] = {}
    for prefix, runs in ((b"", _PLANE_1), (b"\x8e\xa1", _PLANE_1), (b"\x8e\xa2", _PLANE_2)):
        for run in runs.split():
            start, big5_start, length = (int(number) for number in run.split(":"))
            for offset in range(length):
                table[prefix + _cns_code(start + offset)] = _big5_char(big5_start + offset)
    for index, char in _PLANE_1_OTHERS.items():
        table[_cns_code(index)] = table[b"\x8e\xa1" + _cns_code(index)] = char
    return table


def _cns_code(index: int) -> bytes:
    row, column = divmod(index, _ROW)
    return bytes((0xA1 + row, 0xA1 + column))


def _big5_char(index: int) -> str:
    row, column = divmod(index, _BIG5_ROW)
    trail = column + 0x40 if column < 63 else column - 63 + 0xA1
    return bytes((0xA1 + row, trail)).decode("big5")


def _is_rare(code: bytes) -> bool:
    return len(code) == 4 and 0xA3 <= code[1] <= 0xB0 and min(code[2:]) >= 0xA1


class _EucTwDecoder(codecs.BufferedIncrementalDecoder):
    """Decodes EUC-TW; characters of the planes above 2 are rare and become a geta mark."""

    def _buffer_decode(self, data: bytes, errors: str, final: bool) -> tuple[str, int]:  # type: ignore[override]
        table, out, at = _euc_tw_table(), list[str](), 0
        while at < len(data):
            lead = data[at]
            if lead < 0x80:
                out.append(chr(lead))
                at += 1
                continue
            length = 4 if lead == 0x8E else 2
            code = bytes(data[at : at + length])
            if len(code) < length and not final:
                break
            char = table.get(code) or (_GETA if _is_rare(code) else "")
            if char:
                out.append(char)
                at += length
                continue
            error = UnicodeDecodeError("euc_tw", bytes(data), at, at + 1, "not in EUC-TW")
            replacement, at = codecs.lookup_error(errors)(error)
            out.append(str(replacement))
        return "".join(out), at


def _multi_byte(name: str, decoder: type[codecs.BufferedIncrementalDecoder]) -> codecs.CodecInfo:
    def decode(data: Any, errors: str = "strict") -> tuple[str, int]:
        return decoder(errors).decode(data, final=True), len(data)

    return codecs.CodecInfo(_refuse, decode, incrementaldecoder=decoder, name=name)


def _single_byte(name: str, low: dict[int, str], high: str) -> codecs.CodecInfo:
    table = "".join(low.get(byte, chr(byte)) for byte in range(128)) + high.replace(
        "\ufffd", "\ufffe"
    )

    class Decoder(codecs.IncrementalDecoder):
        def decode(self, data: bytes, final: bool = False) -> str:  # type: ignore[override]
            del final
            return codecs.charmap_decode(data, self.errors, table)[0]

    def decode(data: Any, errors: str = "strict") -> tuple[str, int]:
        return codecs.charmap_decode(data, errors, table)

    return codecs.CodecInfo(_refuse, decode, incrementaldecoder=Decoder, name=name)


def _refuse(text: str, errors: str = "strict") -> tuple[bytes, int]:
    del errors
    raise UnicodeEncodeError("charsets", text, 0, len(text), "this character set is only read")


@lru_cache(maxsize=8)
def _search(name: str) -> codecs.CodecInfo | None:
    if name in ("euc_tw", "x_euc_tw", "cns11643"):
        return _multi_byte("euc_tw", _EucTwDecoder)
    if name in ("viscii", "csviscii"):
        return _single_byte("viscii", _VISCII_LOW, _VISCII)
    if name in ("tcvn", "tcvn5712_1", "tcvn_5712", "x_viet_tcvn5712"):
        return _single_byte("tcvn", _TCVN_LOW, _TCVN)
    if name in ("georgian_ps", "geostd8"):
        return _single_byte("georgian_ps", {}, _GEORGIAN)
    return None


codecs.register(_search)
