"""Credential models, their forms and default names."""

import json
from typing import Literal

import pytest
from pydantic import SecretStr, ValidationError

from agentscope.credential import (
    CredentialBase,
    CredentialFactory,
    DashScopeCredential,
    LocalCredential,
    OllamaCredential,
    OpenAICredential,
)
from agentscope.credential.base import MASK
from agentscope.credential.factory import default_name

_TITLES = {
    "anthropic_credential": "Anthropic API",
    "dashscope_credential": "DashScope API",
    "deepseek_credential": "DeepSeek API",
    "gemini_credential": "Gemini API",
    "minimax_credential": "MiniMaxCredential",
    "moonshot_credential": "Moonshot API",
    "ollama_credential": "Ollama API",
    "openai_credential": "OpenAI API",
    "xai_credential": "xAI API",
    "volcengine_credential": "Volcengine Ark API",
}


def test_schemas_come_in_the_documented_order_and_are_flat() -> None:
    """A form needs no reference resolution, no description, and knows which field is secret."""
    schemas = CredentialFactory.list_schemas()
    found = {schema["properties"]["type"]["const"]: schema for schema in schemas}
    assert {name: schema["title"] for name, schema in found.items()} == _TITLES
    assert list(found) == list(_TITLES)
    for schema in schemas:
        assert "$ref" not in json.dumps(schema)
        assert "$defs" not in schema
        assert "description" not in schema
        assert list(schema["properties"])[:3] == ["id", "name", "type"]
    openai = found["openai_credential"]
    assert openai["required"] == ["api_key"]
    assert openai["properties"]["api_key"] == {
        "format": "password",
        "title": "Api Key",
        "type": "string",
        "writeOnly": True,
    }
    assert found["ollama_credential"].get("required") is None
    assert found["xai_credential"]["properties"]["api_host"]["title"] == "API Host"


def test_a_payload_is_told_apart_by_its_type() -> None:
    """The factory makes the class of the type and generates an id."""
    credential = CredentialFactory.from_dict({"type": "openai_credential", "api_key": "sk-1"})
    assert isinstance(credential, OpenAICredential)
    assert len(credential.id) == 32
    assert credential.name == ""
    assert "sk-1" not in repr(credential)
    assert "sk-1" not in credential.model_dump_json()
    assert credential.reveal()["api_key"] == "sk-1"
    assert credential.secret_fields() == {"api_key"}
    assert OllamaCredential.secret_fields() == set()


@pytest.mark.parametrize(
    "data",
    [
        {},
        {"type": "unknown"},
        {"type": "local_credential"},
        {"type": "openai_credential"},
        {"type": "openai_credential", "api_key": 5},
        {"type": "openai_credential", "api_key": MASK},
        {"type": "openai_credential", "api_key": "a\r\nHost: x"},
        {"type": "openai_credential", "api_key": "k" * 9000},
        {"type": "openai_credential", "api_key": "k", "id": "../x"},
        {"type": "openai_credential", "api_key": "k", "base_url": "http://a\n"},
    ],
)
def test_wrong_payloads_are_refused_as_validation_errors(data: dict[str, object]) -> None:
    """Unknown types, missing or masked secrets and header injection never get in."""
    with pytest.raises(ValidationError):
        CredentialFactory.from_dict(data)


@pytest.mark.parametrize(
    "data",
    [
        {"type": "openai_credential", "api_key": "sk-secret", "base_url": 7},
        {"type": "unknown", "api_key": "sk-secret"},
        {"type": "openai_credential", "apikey": "sk-secret"},
    ],
)
def test_a_validation_error_does_not_print_the_secret(data: dict[str, object]) -> None:
    """The secret is not part of the message a client or a log sees."""
    with pytest.raises(ValidationError) as caught:
        CredentialFactory.from_dict(data)
    assert "sk-secret" not in str(caught.value)
    assert "sk-secret" not in str(caught.value.errors(include_input=False))


def test_embedders_register_further_types() -> None:
    """A registered class has a schema, and registering it twice changes nothing."""

    class HouseCredential(CredentialBase):
        type: Literal["house_credential"] = "house_credential"
        token: SecretStr

    before = len(CredentialFactory.list_schemas())
    try:
        CredentialFactory.register_credential(HouseCredential)
        CredentialFactory.register_credential(HouseCredential)
        assert len(CredentialFactory.list_schemas()) == before + 1
        made = CredentialFactory.from_dict({"type": "house_credential", "token": "t"})
        assert isinstance(made, HouseCredential)
        assert CredentialFactory.get_credential_class("house_credential") is HouseCredential
    finally:
        CredentialFactory._classes.pop("house_credential")
        CredentialFactory._adapter = None


def test_default_names_are_numbered() -> None:
    """The second unnamed credential of a type is told apart from the first."""
    assert default_name("openai_credential", []) == "Openai"
    assert default_name("openai_credential", ["Openai"]) == "Openai (2)"
    assert default_name("openai_credential", ["Openai", "Openai (2)"]) == "Openai (3)"


def test_the_endpoint_of_a_credential_is_known_for_policy_checks() -> None:
    """Whatever the field is called, the URL that would be called can be checked first."""
    assert OpenAICredential(api_key=SecretStr("k")).endpoint_url() is None
    assert OllamaCredential(host="http://gpu:11434").endpoint_url() == "http://gpu:11434"
    assert DashScopeCredential(api_key=SecretStr("k")).endpoint_url() == (
        "https://dashscope.aliyuncs.com/compatible-mode/v1"
    )
    xai = CredentialFactory.from_dict({"type": "xai_credential", "api_key": "k"})
    assert xai.endpoint_url() == "https://api.x.ai"


def test_the_local_credential_is_not_a_type_a_user_can_store() -> None:
    """It exists for views only."""
    local = LocalCredential()
    assert (local.id, local.type) == ("local", "local_credential")
    assert CredentialFactory.get_credential_class("local_credential") is None
