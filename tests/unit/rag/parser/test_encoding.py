"""Encodings are found by what the text says, also in short texts."""

import codecs

import pytest

from agentscope.errors import CorruptFileError
from agentscope.rag.parser.base import ParseOptions
from agentscope.rag.parser.decoding import decoded
from agentscope.rag.parser.encoding import detect, known_codec
from agentscope.rag.parser.text import TextParser
from agentscope.testing.parser import read, shape

SENTENCES = {
    "de": "Die Größe der Äpfel überraschte die Gäste, für die es schöne Süßigkeiten gab.",
    "fr": "L'élève répète la leçon où il a été question de la forêt près du château.",
    "es": "El niño comió una piña mañana por la mañana, ¿qué más podía pedir?",
    "pl": "Zażółć gęślą jaźń, bo książka jest na półce i nie można jej dosięgnąć.",
    "cs": "Příliš žluťoučký kůň úpěl ďábelské ódy a řekl, že to není možné.",
    "hu": "Az árvíztűrő tükörfúrógép nem csak egy szó, hanem egy próba is a betűkre.",
    "tr": "Çalışkan öğrenciler bugün güneşli bir günde ağaçların altında oturdu ve bu çok güzel.",
    "ru": "Быстрая лиса прыгает через ленивую собаку, и это не первый раз в этом году.",
    "uk": "Їжак приніс яблуко до лісу, і це не був його перший подарунок для друзів.",
    "el": "Η γρήγορη αλεπού πηδάει πάνω από το τεμπέλικο σκυλί και τρέχει για το δάσος.",
    "he": "השועל המהיר קופץ מעל הכלב העצלן של השכן ולא חוזר אל היער.",
    "ar": "يقفز الثعلب السريع فوق الكلب الكسول في الحديقة على النهر من الصباح.",
    "th": "สุนัขจิ้งจอกสีน้ำตาลกระโดดข้ามสุนัขขี้เกียจในสวนของเรา",
    "ja": "素早い茶色の狐がのろまな犬を飛び越えて森の中へ走っていった。",
    "zh": "敏捷的棕色狐狸跳过了懒惰的狗，然后跑进了森林里面。",
    "zh-Hant": "敏捷的棕色狐狸跳過了懶惰的狗，然後跑進了森林裡面。",
    "ko": "빠른 갈색 여우가 게으른 개를 뛰어넘어 숲 속으로 달려갔다.",
}
CODECS = {
    "de": "cp1252 iso8859_15 cp850 mac_roman cp500 utf-16-le",
    "fr": "cp1252 iso8859_15 cp850",
    "es": "cp1252 iso8859_1",
    "pl": "cp1250 iso8859_2 cp852",
    "cs": "cp1250 iso8859_2 cp852",
    "hu": "cp1250 iso8859_2",
    "tr": "cp1254 iso8859_9",
    "ru": "cp1251 koi8_r cp866 iso8859_5 utf-16-le utf-16-be utf-32-le",
    "uk": "cp1251 koi8_u",
    "el": "cp1253 iso8859_7",
    "he": "cp1255 iso8859_8",
    "ar": "cp1256 iso8859_6",
    "th": "cp874 tis_620",
    "ja": "shift_jis euc_jp iso2022_jp utf-16-le utf-16-be",
    "zh": "gb2312 gbk gb18030 hz utf-16-le utf-32-be",
    "zh-Hant": "big5 big5hkscs gb18030",
    "ko": "euc_kr cp949 iso2022_kr utf-16-be",
}
CASES = [(language, codec) for language, names in CODECS.items() for codec in names.split()]


@pytest.mark.parametrize(("language", "codec"), CASES)
def test_a_sentence_is_read_in_its_encoding(language: str, codec: str) -> None:
    """Without any mark or declaration."""
    sentence = SENTENCES[language]
    data = sentence.encode(codec)
    assert "".join(decoded(data, detect(data))) == sentence


@pytest.mark.parametrize(
    ("text", "codec"),
    [
        ("können", "cp1252"),
        ("Straße", "cp1252"),
        ("知识", "gb18030"),
        ("検索の手引き", "shift_jis"),
        ("привет", "cp1251"),
        ("привет", "koi8_r"),
        ("지식과 검색", "euc_kr"),
        ("知识库检索 㐀", "gb18030"),
        ("檢索資料", "big5"),
        ("名前,住所\n", "shift_jis"),
    ],
)
def test_a_word_is_enough(text: str, codec: str) -> None:
    """Short cells and file titles are texts too."""
    data = text.encode(codec)
    assert "".join(decoded(data, detect(data))) == text


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16", "utf-32"])
def test_a_byte_order_mark_decides_and_is_left_out(encoding: str) -> None:
    """The mark is no text."""
    assert "".join(decoded("ein Wort".encode(encoding), encoding)) == "ein Wort"
    data = "ein Wort".encode(encoding)
    assert "".join(decoded(data, detect(data))) == "ein Wort"


def test_traditional_chinese_in_euc_tw_is_read() -> None:
    """Both planes; Python itself has no such codec."""
    data = b"\xc4\xe3\xc5\xc6 \x8e\xa2\xa1\xa1"
    text = data.decode("euc-tw")
    assert "".join(decoded(data, "euc_tw")) == text
    assert len(text) == 4
    assert text.isprintable()
    decoder = codecs.getincrementaldecoder("euc_tw")("strict")
    assert "".join(decoder.decode(data[at : at + 1]) for at in range(len(data))) == text


def test_a_declaration_tips_the_scale_but_is_not_believed() -> None:
    """A wrong charset in a page does not spoil it; a right one settles what is open."""
    wrong = '<meta charset="utf-8"><p>' + SENTENCES["ru"]
    sections, report = read(TextParser(), wrong.encode("cp1251"), "page.html")
    assert SENTENCES["ru"] in shape(sections)[0][0]
    assert report.encoding == "cp1251"
    assert detect(b"\xe4\xf6", "iso-8859-2") in ("cp1252", "iso8859_2")


def test_the_override_wins_over_detection() -> None:
    """Even where detection would say something else."""
    data = "gęś".encode("cp1250")
    sections, report = read(TextParser(), data, "a.txt", ParseOptions(encoding="windows-1250"))
    assert shape(sections)[0][0] == "gęś"
    assert report.encoding == "cp1250"


def test_binary_content_is_refused() -> None:
    """Pictures, programs and noise are no texts."""
    for data in (bytes(range(256)) * 20, b"\x7fELF\x02\x01\x01" + bytes(400), bytes(5000)):
        with pytest.raises(CorruptFileError):
            detect(data)


def test_a_stray_byte_does_not_change_the_reading() -> None:
    """One damaged byte in a long UTF-8 text is read by itself."""
    data = ("Größe und Übermut. " * 200).encode() + b"\xfc" + " Ende für alle.".encode()
    text = "".join(decoded(data, detect(data)))
    assert "ü Ende für alle." in text
    assert "Größe" in text


def test_nul_characters_go_and_the_words_stay() -> None:
    """A database cannot store them."""
    sections, _ = read(TextParser(), b"alpha\x00beta", "a.txt")
    assert shape(sections)[0][0] == "alphabeta"


def test_names_that_pages_use_are_known() -> None:
    """Aliases of browsers, and nothing that is no text encoding."""
    assert known_codec("x-sjis") == "cp932"
    assert known_codec("'GB2312'") == "gb2312"
    assert known_codec("windows-31j") == "cp932"
    assert known_codec("no-such-encoding") is None
    assert known_codec("base64") is None
