"""The chunkers a service offers, and the one that a knowledge base was created with."""

from collections.abc import Sequence
from typing import Any

from pydantic import BaseModel, ValidationError

from agentscope.app.records import ChunkerConfig
from agentscope.errors import ConfigurationError, InvalidInputError
from agentscope.rag.chunker.approx_token import ApproxTokenChunker
from agentscope.rag.chunker.base import ChunkerBase

ChunkerChoice = ChunkerBase | type[ChunkerBase]


class ChunkerChoices:
    """Chunkers by type; the first is what a knowledge base gets that asks for none.

    A choice is a class, or an instance whose parameters are the defaults of its type.
    """

    def __init__(self, choices: ChunkerChoice | Sequence[ChunkerChoice] | None = None) -> None:
        """Take the choices in order.

        Raises:
            ConfigurationError: two of them have the same type, or something is no chunker.
        """
        listed = _listed(choices)
        self._default = listed[0]
        self._by_type: dict[str, ChunkerChoice] = {}
        for choice in listed:
            if choice.chunker_type in self._by_type:
                raise ConfigurationError(
                    f"Two chunkers have the type '{choice.chunker_type}'; types must be unique."
                )
            self._by_type[choice.chunker_type] = choice

    def offered(self) -> list[tuple[str, dict[str, Any]]]:
        """Return (type, JSON schema of the parameters) of each choice that has a type."""
        return [(name, _schema(choice)) for name, choice in self._by_type.items() if name]

    def config(self, wanted: ChunkerConfig | None) -> ChunkerConfig | None:
        """Return what to record for a new knowledge base; None stands for an untyped default.

        Raises:
            InvalidInputError: unknown type or bad parameters.
        """
        if wanted is None:
            if not self._default.chunker_type:
                return None
            wanted = ChunkerConfig(type=self._default.chunker_type)
        choice = self._choice(wanted.type)
        given = {**_own_parameters(choice), **wanted.parameters}
        try:
            _class(choice).Parameters.model_validate(given)
        except ValidationError as exc:
            raise InvalidInputError(f"Invalid chunker parameters: {_sentence(exc)}") from exc
        return ChunkerConfig(type=wanted.type, parameters=given)

    def build(self, config: ChunkerConfig | None) -> ChunkerBase:
        """Return the chunker of a knowledge base.

        Raises:
            InvalidInputError: this process does not have it, or the parameters do not fit it.
        """
        if config is None:
            return self._default if isinstance(self._default, ChunkerBase) else self._default()
        choice = self._choice(config.type)
        kind: Any = _class(choice)
        if not config.parameters or not kind.Parameters.model_fields:
            return choice if isinstance(choice, ChunkerBase) else choice()
        try:
            parameters = kind.Parameters.model_validate(
                {**_own_parameters(choice), **config.parameters}
            )
        except ValidationError as exc:
            raise InvalidInputError(f"Invalid chunker parameters: {_sentence(exc)}") from exc
        built: ChunkerBase = kind(parameters)
        return built

    def _choice(self, name: str) -> ChunkerChoice:
        choice = self._by_type.get(name) if name else None
        if choice is None:
            available = [known for known in self._by_type if known]
            raise InvalidInputError(f"Unknown chunker type: '{name[:100]}', available: {available}")
        return choice


def _listed(choices: ChunkerChoice | Sequence[ChunkerChoice] | None) -> list[ChunkerChoice]:
    if choices is None:
        return [ApproxTokenChunker]
    listed = list(choices) if isinstance(choices, Sequence) else [choices]
    for choice in listed:
        if not (isinstance(choice, ChunkerBase) or _is_chunker_class(choice)):
            raise ConfigurationError("A chunker must be an instance or subclass of ChunkerBase.")
    return listed or [ApproxTokenChunker]


def _is_chunker_class(choice: object) -> bool:
    return isinstance(choice, type) and issubclass(choice, ChunkerBase)


def _class(choice: ChunkerChoice) -> type[ChunkerBase]:
    return type(choice) if isinstance(choice, ChunkerBase) else choice


def _own_parameters(choice: ChunkerChoice) -> dict[str, Any]:
    parameters = getattr(choice, "parameters", None)
    return parameters.model_dump(mode="json") if isinstance(parameters, BaseModel) else {}


def _schema(choice: ChunkerChoice) -> dict[str, Any]:
    schema = _class(choice).Parameters.model_json_schema()
    schema.pop("description", None)
    for name, value in _own_parameters(choice).items():
        if name in schema.get("properties", {}):
            schema["properties"][name]["default"] = value
    return schema


def _sentence(exc: ValidationError) -> str:
    parts = []
    for error in exc.errors(include_url=False, include_input=False, include_context=False)[:5]:
        place = ".".join(str(part) for part in error["loc"])
        parts.append(f"{place}: {error['msg']}" if place else str(error["msg"]))
    return "; ".join(parts)
