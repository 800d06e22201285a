"""Where test data is that the repository does not carry."""

import os
from pathlib import Path

import pytest

VARIABLE = "RAG_SHARED"


def shared_folder(name: str) -> Path:
    """Return the folder `name` of the shared data; `RAG_SHARED` says where that is.

    Without it the test is skipped and says so; under CI that is a failure, because a suite that
    silently skips its hardest part is green for the wrong reason.
    """
    default = Path(__file__).parents[4] / "shared"
    folder = Path(os.environ.get(VARIABLE, default)) / name
    if not folder.is_dir():
        message = f"NOT TESTED: there is no folder {name!r} in the shared data; set {VARIABLE}."
        if os.environ.get("CI"):
            pytest.fail(message)
        pytest.skip(message)
    return folder
