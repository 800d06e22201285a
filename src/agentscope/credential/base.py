"""The credential contract: what a user stores so that the product may call a provider.

A credential is a flat pydantic model; its JSON schema is the form the web UI shows. Secrets are
`SecretStr`, so that no log line or traceback prints them.
"""

import importlib
import re
from typing import Annotated, Any, ClassVar

from pydantic import (
    AfterValidator,
    BaseModel,
    ConfigDict,
    Field,
    SecretStr,
    field_validator,
)

from agentscope.identity import new_id

MASK = "••••••••"
"""Stands for a secret on every read; coming back in an update it means "keep what is stored"."""

MAX_VALUE_LENGTH = 8192
_ID = re.compile(r"[A-Za-z0-9._-]{1,128}")


def _check_id(value: str) -> str:
    if not _ID.fullmatch(value):
        raise ValueError("use 1 to 128 letters, digits, '.', '_' and '-'")
    return value


def _drop_description(schema: dict[str, Any]) -> None:
    # The class docstring is for programmers; the form shows the title only.
    schema.pop("description", None)


class CredentialBase(BaseModel):
    """A provider credential; `type` is a literal that is unique among registered classes."""

    # A validation error would otherwise print the whole payload, secret included.
    model_config = ConfigDict(json_schema_extra=_drop_description, hide_input_in_errors=True)

    embedding_model: ClassVar[str | None] = None
    """`module:class` of the embedding model, loaded on demand like an entry point."""

    id: Annotated[str, AfterValidator(_check_id)] = Field(default_factory=new_id)
    name: str = ""

    @field_validator("*", mode="after")
    @classmethod
    def _check_value(cls, value: Any) -> Any:
        text = value.get_secret_value() if isinstance(value, SecretStr) else value
        if not isinstance(text, str):
            return value
        if len(text) > MAX_VALUE_LENGTH:
            raise ValueError(f"use at most {MAX_VALUE_LENGTH} characters")
        if not text.isprintable():
            raise ValueError("control characters and line breaks are not allowed")
        if isinstance(value, SecretStr) and text == MASK:
            raise ValueError("the masked placeholder is not a secret; enter the secret itself")
        return value

    @classmethod
    def secret_fields(cls) -> frozenset[str]:
        """Return the names of the fields that hold secrets."""
        return frozenset(
            name for name, info in cls.model_fields.items() if "SecretStr" in str(info.annotation)
        )

    def reveal(self) -> dict[str, Any]:
        """Return the payload as plain JSON values with the secrets in clear text."""
        data = self.model_dump(mode="json")
        for name in self.secret_fields():
            value = getattr(self, name)
            data[name] = value.get_secret_value() if value is not None else None
        return data

    def endpoint_url(self) -> str | None:
        """Return the URL this credential sends requests to; None means the provider's own."""
        for name in ("base_url", "host", "api_host"):
            value = getattr(self, name, None)
            if value:
                return str(value) if "://" in str(value) else f"https://{value}"
        return None

    @classmethod
    def get_embedding_model_class(cls) -> type[Any] | None:
        """Return the embedding model class of this provider; None if it has none."""
        if cls.embedding_model is None:
            return None
        module, _, name = cls.embedding_model.partition(":")
        found: type[Any] = getattr(importlib.import_module(module), name)
        return found
