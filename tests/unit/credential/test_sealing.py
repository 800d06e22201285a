"""Secrets at rest: sealed, rotated, masked, merged; and the key file."""

import stat
import threading
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import SecretStr

from agentscope.credential import OpenAICredential
from agentscope.credential.base import MASK
from agentscope.credential.sealing import (
    SecretBox,
    key_from_file,
    masked_payload,
    merged_payload,
    opened_credential,
    opened_payload,
    resealed_payload,
    sealed_payload,
)
from agentscope.errors import ConfigurationError

OLD, NEW = "old-key-0123456789abcdef", "new-key-0123456789abcdef"


def _credential() -> OpenAICredential:
    return OpenAICredential(
        id="c1", name="n", api_key=SecretStr("sk-geheim"), base_url="http://e/v1"
    )


@given(st.text(alphabet=st.characters(exclude_categories=["Cs"]), max_size=200))
def test_what_was_sealed_opens(text: str) -> None:
    """Any text survives, and the sealed value does not contain it."""
    box = SecretBox([NEW])
    sealed = box.seal(text, place="p")
    assert box.open(sealed, place="p") == text
    assert sealed.isascii()
    assert box.seal(text, place="p") != sealed


def test_only_secret_fields_are_sealed() -> None:
    """Name and URL stay readable; the secret is nowhere in the stored payload."""
    box = SecretBox([NEW])
    stored = sealed_payload(box, _credential(), owner="u1")
    assert stored["base_url"] == "http://e/v1"
    assert stored["name"] == "n"
    assert "geheim" not in str(stored)
    back = opened_credential(box, stored, owner="u1")
    assert back == _credential()


def test_a_sealed_value_is_bound_to_its_place() -> None:
    """Copied to another owner or credential, or altered, it does not open."""
    box = SecretBox([NEW])
    stored = sealed_payload(box, _credential(), owner="u1")
    with pytest.raises(ConfigurationError):
        opened_payload(box, stored, owner="u2")
    with pytest.raises(ConfigurationError):
        opened_payload(box, {**stored, "id": "c2"}, owner="u1")
    with pytest.raises(ConfigurationError):
        opened_payload(box, {**stored, "api_key": stored["api_key"][:-8] + "AAAAAAA="}, owner="u1")
    with pytest.raises(ConfigurationError):
        opened_payload(box, {**stored, "api_key": "sk-clear"}, owner="u1")


def test_keys_rotate() -> None:
    """The newest key seals, older ones open, and stored payloads move to the newest."""
    stored = sealed_payload(SecretBox([OLD]), _credential(), owner="u1")
    both = SecretBox([NEW, OLD])
    assert opened_payload(both, stored, owner="u1")["api_key"] == "sk-geheim"
    moved = resealed_payload(both, stored, owner="u1")
    assert moved is not None
    assert resealed_payload(both, moved, owner="u1") is None
    assert opened_payload(SecretBox([NEW]), moved, owner="u1")["api_key"] == "sk-geheim"
    with pytest.raises(ConfigurationError):
        opened_payload(SecretBox([NEW]), stored, owner="u1")


def test_a_foreign_key_is_noticed_at_start() -> None:
    """The stored key id tells whether this key can open what is stored."""
    assert SecretBox([OLD]).key_id != SecretBox([NEW]).key_id
    SecretBox.from_text(f"{NEW}, {OLD}").ensure_known(SecretBox([OLD]).key_id)
    with pytest.raises(ConfigurationError):
        SecretBox([NEW]).ensure_known(SecretBox([OLD]).key_id)


@pytest.mark.parametrize("keys", [[], ["short"]])
def test_weak_keys_are_refused(keys: list[str]) -> None:
    """No key and a short key are mistakes worth stopping for."""
    with pytest.raises(ConfigurationError):
        SecretBox(keys)


def test_derived_keys_differ_by_purpose_and_key() -> None:
    """A download secret reveals nothing about the sealing key or another purpose."""
    box = SecretBox([NEW, OLD])
    assert len(box.derive("download")) == 32
    assert box.derive("download") != box.derive("other")
    assert box.derive_all("download") == [
        SecretBox([NEW]).derive("download"),
        SecretBox([OLD]).derive("download"),
    ]


def test_reads_are_masked_without_a_key() -> None:
    """A set secret reads as the placeholder; other fields stay."""
    stored = sealed_payload(SecretBox([NEW]), _credential(), owner="u1")
    shown = masked_payload(stored)
    assert shown == {**stored, "api_key": MASK}
    assert masked_payload({"type": "gone_credential", "token": stored["api_key"]})["token"] == MASK


@pytest.mark.parametrize("secret", [{}, {"api_key": MASK}, {"api_key": ""}, {"api_key": None}])
def test_an_update_without_the_secret_keeps_it(secret: dict[str, object]) -> None:
    """The edit form sends back what it got, with the placeholder."""
    opened = _credential().reveal()
    update = {"type": "openai_credential", "name": "renamed", "base_url": None, **secret}
    merged = merged_payload(opened, update)
    assert merged["api_key"] == "sk-geheim"
    assert (merged["name"], merged["base_url"], merged["id"]) == ("renamed", None, "c1")


def test_an_update_with_a_secret_replaces_it_and_a_new_type_never_inherits_one() -> None:
    """The key of one provider is not sent to another."""
    opened = _credential().reveal()
    assert merged_payload(opened, {"api_key": "sk-2"})["api_key"] == "sk-2"
    moved = merged_payload(opened, {"type": "gemini_credential", "api_key": MASK})
    assert moved["api_key"] == MASK


def test_the_key_file_is_made_once_and_private(tmp_path: Path) -> None:
    """Eight racing processes read one key; the file is readable by its owner only."""
    path = tmp_path / "deep" / "secret.key"
    keys: list[str] = []
    threads = [threading.Thread(target=lambda: keys.append(key_from_file(path))) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(set(keys)) == 1
    assert len(keys[0]) >= 40
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert [entry.name for entry in path.parent.iterdir()] == ["secret.key"]
    assert key_from_file(path) == keys[0]
    path.write_text("")
    with pytest.raises(ConfigurationError):
        key_from_file(path)
