"""Highlight ranges, in code points of the text as it stands."""

from agentscope.rag.highlight import MAX_HIGHLIGHTS, highlight_terms, highlights


def marked(text: str, *queries: str) -> list[str]:
    """Return the highlighted pieces of `text`."""
    return [text[a:b] for a, b in highlights(text, highlight_terms(queries))]


def test_words_match_by_stem_case_and_accent() -> None:
    """What the keyword leg finds is what is shown."""
    assert marked("He RUNS daily; running is naïve.", "run naive") == ["RUNS", "running", "naïve"]


def test_overlapping_pairs_become_one_range() -> None:
    """Chinese, Japanese, Korean: the whole matched run is one range."""
    assert marked("混合检索与重排序很好", "检索与重排") == ["检索与重排"]
    assert marked("知識ベース検索の仕組み", "検索") == ["検索"]
    assert marked("한국어지식베이스", "지식베이스") == ["지식베이스"]


def test_a_single_character_is_marked() -> None:
    """A query of one character shows it."""
    assert marked("排序和次序", "序") == ["序", "序"]


def test_identifiers_are_marked_whole() -> None:
    """Also when only a part was asked for, then that part."""
    assert marked("see ERR-0x19 now", "err-0x19") == ["ERR-0x19"]
    assert marked("see ERR-0x19 now", "0X19") == ["0x19"]


def test_ranges_are_right_where_normalisation_changes_lengths() -> None:
    """Ligatures, fractions, half-width kana, full-width letters and emoji before the match."""
    for prefix in ("ﬁ ½ ", "🦜👩‍👩‍👧 ", "ｶﾞｷﾞ ", "e\u0301 ", "ＡＢＣ ", "İ ", "각 "):
        assert marked(f"{prefix}quartz 检索 end", "quartz 检索") == ["quartz", "检索"], prefix
    assert marked("ＱＵＡＲＴＺ", "quartz") == ["ＱＵＡＲＴＺ"]
    assert marked("ｶﾞｷﾞ検索", "ガギ") == ["ｶﾞｷﾞ"]
    assert marked("the ﬁle", "file") == ["ﬁle"]


def test_function_words_are_shown_only_when_nothing_else_was_asked() -> None:
    """A question does not paint the page."""
    assert marked("the cat is the best", "what is the cat") == ["cat"]
    assert marked("the cat", "the") == ["the"]


def test_the_number_of_ranges_is_bounded() -> None:
    """Nothing matches everywhere without an end; nothing asked, nothing shown."""
    assert len(highlights("cat dog " * 1000, frozenset({"cat"}))) == MAX_HIGHLIGHTS
    assert highlights("text", frozenset()) == []
    assert highlights("", frozenset({"cat"})) == []
