"""The terms of the keyword leg."""

import time

from agentscope.rag.stemmer import stem
from agentscope.rag.terms import (
    MAX_QUERY_TERMS,
    document_terms,
    normalise,
    places,
    query_terms,
)


def test_words_are_folded_stemmed_and_freed_of_accents() -> None:
    """Case, width, plural and accent do not matter."""
    assert query_terms("Connections CONNECTED ｃｏｎｎｅｃｔｉｎｇ") == ["connect"]
    assert query_terms("naïve Übung") == ["naiv", "ubung"]


def test_identifiers_are_terms_as_a_whole_and_in_parts() -> None:
    """A part finds the identifier, the whole finds it better."""
    terms = document_terms("ERR-0x19 in GOALS.md, 0xC0190034 and foo_bar.")
    for term in ("err-0x19", "err", "0x19", "goals.md", "md", "0xc0190034", "foo_bar", "bar"):
        assert term in terms
    assert set(query_terms("err-0x19")) <= set(terms)


def test_scripts_without_spaces_give_pairs_and_single_characters() -> None:
    """A query of one character finds; longer ones ask for pairs only."""
    assert document_terms("重排序") == ["重排", "排序", "重", "排", "序"]
    assert query_terms("重排序") == ["重排", "排序"]
    assert query_terms("序") == ["序"]
    assert query_terms("ｶﾞｷﾞ") == ["ガギ"]
    assert query_terms("지식 베이스") == ["지식", "베이", "이스"]
    assert "สวัส"[:2] in query_terms("สวัสดี")


def test_mixed_text_is_cut_at_the_change_of_script() -> None:
    """Words and pairs stand side by side."""
    assert query_terms("GitHub备份失败v2") == ["github", "备份", "份失", "失败", "v2"]


def test_marks_of_other_scripts_stay_with_their_word() -> None:
    """Devanagari words are not torn at their vowel signs."""
    assert query_terms("हिन्दी भाषा") == ["हिन्दी", "भाषा"]


def test_terms_are_bounded_and_fast() -> None:
    """A query has a bounded number of terms; hostile text takes linear time."""
    assert len(query_terms(" ".join(f"w{n}" for n in range(5000)))) == MAX_QUERY_TERMS
    assert document_terms("") == [] == query_terms(" \n\t.-_ ")
    begin = time.perf_counter()
    for text in ("a-" * 100_000, "_" * 100_000, "." * 100_000, "a" * 100_000, "字" * 100_000):
        document_terms(text)
    assert time.perf_counter() - begin < 5


def test_places_of_terms_hold_those_terms() -> None:
    """Every term of a text has a place in it, which gives the term again."""
    text = normalise("GitHub备份失败 v2.0.1-rc_1 naïve हिन्दी a-b 知 ガギ ERR-0x19. don't 𐍈𐍉 🦜x")
    for term in document_terms(text):
        ranges = list(places(text, frozenset({term})))
        assert ranges, term
        for start, end in ranges:
            assert term in document_terms(text[start:end])


def test_known_stems() -> None:
    """Examples from the steps of the published algorithm."""
    pairs = {
        "caresses": "caress", "ponies": "poni", "cats": "cat", "feed": "feed", "agreed": "agre",
        "plastered": "plaster", "motoring": "motor", "sing": "sing", "hopping": "hop",
        "falling": "fall", "filing": "file", "happy": "happi", "sky": "sky",
        "relational": "relat", "conditional": "condit", "digitizer": "digit",
        "vietnamization": "vietnam", "sensibiliti": "sensibl", "triplicate": "triplic",
        "hopefulness": "hope", "revival": "reviv", "adoption": "adopt", "effective": "effect",
        "probate": "probat", "rate": "rate", "controll": "control", "roll": "roll",
        "technology": "technolog", "possibly": "possibl", "is": "is",
    }  # fmt: skip
    assert {word: stem(word) for word in pairs} == pairs
