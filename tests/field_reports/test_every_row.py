"""Every row of the field reports has a test that bears its number."""

import re
from pathlib import Path

from agentscope.testing.shared_data import shared_folder

HERE = Path(__file__).parent


def test_every_field_report_has_a_test() -> None:
    """The numbers in the first column of the document, and the numbers in the names of tests."""
    document = (shared_folder("reference") / "field-reports.md").read_text("utf-8")
    rows = {int(number) for number in re.findall(r"^\| (\d+) \|", document, re.MULTILINE)}
    assert len(rows) > 40
    names = re.compile(r"def test_field_report_(\d+)_\w+")
    tested = {
        int(number) for path in HERE.glob("test_*.py") for number in names.findall(path.read_text())
    }
    assert sorted(rows - tested) == []
