"""The credential types this process knows, in the order the forms show them."""

from collections.abc import Collection, Mapping
from typing import Annotated, Any, ClassVar, Union

from pydantic import ConfigDict, Field, TypeAdapter

from agentscope.credential.anthropic import AnthropicCredential
from agentscope.credential.base import CredentialBase
from agentscope.credential.dashscope import DashScopeCredential
from agentscope.credential.deepseek import DeepSeekCredential
from agentscope.credential.gemini import GeminiCredential
from agentscope.credential.minimax import MiniMaxCredential
from agentscope.credential.moonshot import MoonshotCredential
from agentscope.credential.ollama import OllamaCredential
from agentscope.credential.openai import OpenAICredential
from agentscope.credential.volcengine import VolcengineCredential
from agentscope.credential.xai import XAICredential

_BUILT_IN: tuple[type[CredentialBase], ...] = (
    AnthropicCredential,
    DashScopeCredential,
    DeepSeekCredential,
    GeminiCredential,
    MiniMaxCredential,
    MoonshotCredential,
    OllamaCredential,
    OpenAICredential,
    XAICredential,
    VolcengineCredential,
)


def credential_type(cls: type[CredentialBase]) -> str:
    """Return the literal that tells `cls` from the other credential classes."""
    return str(cls.model_fields["type"].default)


class CredentialFactory:
    """Makes credentials from stored payloads; types registered here are known process-wide."""

    _classes: ClassVar[dict[str, type[CredentialBase]]] = {
        credential_type(cls): cls for cls in _BUILT_IN
    }
    _adapter: ClassVar[TypeAdapter[CredentialBase] | None] = None

    @classmethod
    def register_credential(cls, credential_class: type[CredentialBase]) -> None:
        """Make a further type known; a class with a known `type` replaces the earlier one."""
        cls._classes[credential_type(credential_class)] = credential_class
        cls._adapter = None

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> CredentialBase:
        """Return the credential that `data` describes, chosen by its `type`.

        Raises:
            pydantic.ValidationError: the type is unknown or a field is missing or wrong. Its text
                holds no input; show `errors(include_input=False)`.
        """
        if cls._adapter is None:
            # The union is only known at run time, because embedders register further types.
            union: Any = Union[tuple(cls._classes.values())]  # noqa: UP007
            cls._adapter = TypeAdapter(
                Annotated[union, Field(discriminator="type")],
                config=ConfigDict(hide_input_in_errors=True),
            )
        return cls._adapter.validate_python(dict(data))

    @classmethod
    def get_credential_class(cls, type_name: str) -> type[CredentialBase] | None:
        """Return the class registered for `type_name`."""
        return cls._classes.get(type_name)

    @classmethod
    def list_schemas(cls) -> list[dict[str, Any]]:
        """Return one flat JSON schema per type, in order of registration."""
        return [known.model_json_schema() for known in cls._classes.values()]


def default_name(type_name: str, taken: Collection[str]) -> str:
    """Return the name of a credential stored without one: `Openai`, then `Openai (2)`, ...

    `taken` are the names of the user's credentials of this type.
    """
    word = type_name.removesuffix("_credential").replace("_", " ").title()
    name, number = word, 1
    while name in taken:
        number += 1
        name = f"{word} ({number})"
    return name
