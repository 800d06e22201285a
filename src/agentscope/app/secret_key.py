"""Where the secret key comes from when nobody passes one.

This one variable is read outside the command line, too: an API and its workers are often started
by different means, and both must come to the same key.
"""

import os
from pathlib import Path

from agentscope.credential.sealing import SecretBox, key_from_file

VARIABLE = "AGENTSCOPE_SECRET_KEY"


def secret_box(given: str | None) -> SecretBox:
    """Return the key that was given, else the one of the environment, else that of the user.

    Raises:
        ConfigurationError: the key is too short, or its file cannot be read or made.
    """
    text = given or os.environ.get(VARIABLE)
    return SecretBox.from_text(text or key_from_file(_default_file()))


def _default_file() -> Path:
    return Path.home() / ".config" / "agentscope" / "secret.key"
