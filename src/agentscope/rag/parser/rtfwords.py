"""Control words of RTF 1.9.1 that the reader needs to know."""

import codecs

CHARACTERS = {
    "tab": "\t",
    "line": "\n",
    "lbr": "\n",
    "emdash": "\u2014",
    "endash": "\u2013",
    "lquote": "\u2018",
    "rquote": "\u2019",
    "ldblquote": "\u201c",
    "rdblquote": "\u201d",
    "bullet": "\u2022",
    "emspace": "\u2003",
    "enspace": "\u2002",
    "qmspace": "\u2005",
    "column": "\n",
    "softline": "\n",
    "zwj": "\u200d",
    "zwnj": "\u200c",
}

# Destinations without body text. Headers and footers repeat on each page, so they go too.
SKIPPED = frozenset(
    {
        "author",
        "blipuid",
        "buptim",
        "category",
        "colortbl",
        "comment",
        "company",
        "creatim",
        "datafield",
        "datastore",
        "doccomm",
        "filetbl",
        "fldinst",
        "fontemb",
        "fonttbl",
        "footer",
        "footerf",
        "footerl",
        "footerr",
        "generator",
        "header",
        "headerf",
        "headerl",
        "headerr",
        "info",
        "keywords",
        "latentstyles",
        "listoverridetable",
        "listtable",
        "nonshppict",
        "objdata",
        "operator",
        "pict",
        "printim",
        "private",
        "revtbl",
        "revtim",
        "rsidtbl",
        "rxe",
        "stylesheet",
        "tc",
        "themedata",
        "title",
        "subject",
        "txe",
        "xe",
        "xmlnstbl",
        "xmlopen",
    }
)

_CHARSETS = {
    0: "cp1252",
    77: "mac_roman",
    78: "shift_jis",
    79: "johab",
    80: "gb2312",
    81: "big5",
    128: "cp932",
    129: "cp949",
    130: "johab",
    134: "gb18030",
    136: "cp950",
    161: "cp1253",
    162: "cp1254",
    163: "cp1258",
    177: "cp1255",
    178: "cp1256",
    186: "cp1257",
    204: "cp1251",
    222: "cp874",
    238: "cp1250",
    254: "cp437",
    255: "cp850",
}
_PAGES = {10000: "mac_roman", 936: "gb18030", 65001: "utf-8", 1361: "johab", 10001: "shift_jis"}


def codec_of_charset(number: int) -> str:
    """Return the codec of a font's character set, "" when it says nothing."""
    return _CHARSETS.get(number, "")


def codec_of_page(word: str, number: int | None) -> str:
    """Return the codec that `ansicpg` with its number, or `mac`, `pc` or `pca` names."""
    if word != "ansicpg":
        return {"mac": "mac_roman", "pc": "cp437", "pca": "cp850"}[word]
    name = _PAGES.get(number or 0, f"cp{number}")
    try:
        codecs.lookup(name)
    except LookupError:
        return "cp1252"
    return name
