"""Messages: bodies in every encoding, messages inside messages, attachments by router."""

import email.message
import email.policy
import struct

import pytest

from agentscope.errors import CorruptFileError, EncryptedFileError
from agentscope.rag.parser.attachments import AttachmentReader
from agentscope.rag.parser.email import EmailParser
from agentscope.rag.parser.msg import OutlookParser
from agentscope.rag.parser.rtf import RTFParser
from agentscope.rag.parser.word import WordParser
from agentscope.testing.office_files import compound_file, parsed, word_file

READER = AttachmentReader([WordParser(), RTFParser()])
RICH = b"{\\rtf1 attached words}"


def message(**headers: str) -> email.message.EmailMessage:
    made = email.message.EmailMessage(email.policy.SMTP)
    for name, value in headers.items():
        made[name] = value
    return made


def test_headers_and_body_are_one_section() -> None:
    """Encoded words are decoded."""
    mail = message(Subject="日本語 ☸", To="bob@example.com")
    mail["From"] = "Ann <ann@example.com>"
    mail.set_content("Grüße", charset="iso-8859-1")
    found = parsed(EmailParser(), mail.as_bytes())
    assert found.text.splitlines() == [
        "Subject: 日本語 ☸",
        "From: Ann <ann@example.com>",
        "To: bob@example.com",
        "",
        "Grüße",
    ]


def test_the_plain_form_wins_unless_the_other_says_more() -> None:
    """Both are read when the plain one is only a hint to use another program."""
    mail = message(Subject="x")
    mail.set_content("the same words here")
    mail.add_alternative("<p>the <b>same</b> words here</p>", subtype="html")
    assert parsed(EmailParser(), mail.as_bytes()).text.count("same") == 1
    other = message(Subject="x")
    other.set_content("Your program shows no HTML.")
    other.add_alternative("<p>Quarterly figures rose by nine percent</p>", subtype="html")
    assert "figures" in parsed(EmailParser(), other.as_bytes()).text


def test_attachments_go_to_the_parser_of_their_type() -> None:
    """The name is in the metadata; what cannot be read is a warning."""
    mail = message(Subject="files")
    mail.set_content("see attached")
    mail.add_attachment(RICH, maintype="application", subtype="rtf", filename="a.rtf")
    mail.add_attachment(
        word_file("<w:p><w:r><w:t>from word</w:t></w:r></w:p>"),
        maintype="application", subtype="octet-stream", filename="Bericht ü.docx",
    )  # fmt: skip
    mail.add_attachment(b"\0" * 10, maintype="application", subtype="x-odd", filename="odd.bin")
    mail.add_attachment(b"PK broken", maintype="application", subtype="x", filename="bad.docx")
    found = parsed(EmailParser(READER), mail.as_bytes())
    names = {section.metadata.get("attachment") for section in found.sections}
    assert names == {None, "a.rtf", "Bericht ü.docx"}
    assert "attached words" in found.text
    assert "from word" in found.text
    assert len(found.report.warnings) == 2
    assert {section.source for section in found.sections} == {"file"}
    assert parsed(EmailParser(), mail.as_bytes()).report.warnings == ["Attachments were left out."]


def test_messages_inside_messages_are_read_to_a_bound() -> None:
    """The innermost beyond the bound is left out with a warning."""
    inner = message(Subject="inner subject")
    inner.set_content("inner text")
    outer = message(Subject="outer")
    outer.set_content("outer text")
    outer.add_attachment(inner)
    text = parsed(EmailParser(), outer.as_bytes()).text
    assert text.index("outer text") < text.index("inner subject") < text.index("inner text")
    deep = b"Content-Type: message/rfc822\n\n" * 40 + b"Subject: x\n\ncore"
    found = parsed(EmailParser(), deep)
    assert "core" not in found.text
    assert found.report.warnings


@pytest.mark.parametrize(
    ("charset", "codec"), [("gb2312", "gb18030"), ("", "utf-8"), ("no-such", "utf-8")]
)
def test_a_wrong_or_missing_charset_still_reads(charset: str, codec: str) -> None:
    """What was stated is tried first, then what fits."""
    head = f"Content-Type: text/plain; charset={charset}\n\n" if charset else "Subject: x\n\n"
    assert "知识库检索" in parsed(EmailParser(), head.encode() + "知识库检索".encode(codec)).text


def test_encrypted_and_binary_content_are_refused() -> None:
    """An empty file is an empty message."""
    mail = b"Content-Type: application/pkcs7-mime; smime-type=enveloped-data\n\nMIIB"
    with pytest.raises(EncryptedFileError):
        parsed(EmailParser(), mail)
    with pytest.raises(CorruptFileError):
        parsed(EmailParser(), b"\x00\x01\x02")
    assert parsed(EmailParser(), b"").sections == []


def outlook(folder: str = "", **properties: str) -> dict[str, bytes]:
    head = bytes(24 if folder else 32)
    codepage = struct.pack("<HHIQ", 3, 0x3FFD, 6, 1252)
    sent = struct.pack("<HHIQ", 0x40, 0x39, 6, 133_500_000_000_000_000)
    return {
        f"{folder}__properties_version1.0": head + codepage + sent,
        **{
            f"{folder}__substg1.0_{tag.lstrip('p')}001F": text.encode("utf-16-le")
            for tag, text in properties.items()
        },
    }


def test_outlook_messages_are_read_with_their_attachments() -> None:
    """Plain body, sender, date, an attached file and an attached message."""
    first = "__attach_version1.0_#00000000/"
    second = "__attach_version1.0_#00000001/"
    inner = f"{second}__substg1.0_3701000D/"
    data = compound_file(
        {
            **outlook(p0037="Plan", p0C1A="Ann", p0C1F="ann@example.com", p1000="Hello 世界"),
            f"{first}__substg1.0_3707001F": "a.rtf".encode("utf-16-le"),
            f"{first}__substg1.0_37010102": RICH,
            **outlook(inner, p0037="Inner", p1000="deep body"),
        }
    )
    found = parsed(OutlookParser(READER), data)
    assert found.text.splitlines()[:3] == [
        "Subject: Plan",
        "From: Ann <ann@example.com>",
        "Date: 2024-01-17 21:20:00+00:00",
    ]
    for words in ("Hello 世界", "attached words", "Subject: Inner", "deep body"):
        assert words in found.text


def test_outlook_bodies_of_other_kinds_are_read() -> None:
    """HTML, then stored rich text, when there is no plain body."""
    html = {**outlook(p0037="x"), "__substg1.0_10130102": b"<p>web <b>body</b></p>"}
    assert "web body" in parsed(OutlookParser(), compound_file(html)).text
    rich = b"\x10\0\0\0" + struct.pack("<I", len(RICH)) + b"MELA\0\0\0\0" + RICH
    packed = {**outlook(p0037="x"), "__substg1.0_10090102": rich}
    assert "attached words" in parsed(OutlookParser(), compound_file(packed)).text
    for data in (b"", b"text", compound_file({"WordDocument": b"x"})):
        with pytest.raises(CorruptFileError):
            parsed(OutlookParser(), data)
