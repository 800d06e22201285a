"""The OpenAI-compatible model against a real HTTP server that misbehaves as told."""

import asyncio
import base64
from array import array
from typing import Any

import pytest
from pydantic import SecretStr

from agentscope.credential.openai import OpenAICredential
from agentscope.embedding.gate import CredentialGate
from agentscope.embedding.openai_compatible import OpenAIEmbeddingModel
from agentscope.embedding.provider_client import Transport
from agentscope.errors import (
    AgentScopeError,
    ConfigurationError,
    DimensionMismatchError,
    EmbeddingAuthError,
    EmbeddingError,
    EmbeddingInputError,
    EmbeddingTimeoutError,
    InvalidInputError,
)
from agentscope.testing.embedding import hashed_vector
from agentscope.testing.provider import FakeProvider, Fault

KEY = "sk-secret-0123456789"


def _model(provider: FakeProvider, **options: Any) -> OpenAIEmbeddingModel:
    timeout = options.pop("timeout", 5.0)
    transport = Transport(request_timeout_seconds=timeout, **options.pop("transport", {}))
    options.setdefault("dimensions", 16)
    options.setdefault("retry_delay", 0.001)
    return OpenAIEmbeddingModel(
        OpenAICredential(
            api_key=SecretStr(KEY), organization="org-1", base_url=provider.base_url + "/"
        ),
        options.pop("model", "m"),
        transport=transport,
        **options,
    )


def _texts(count: int) -> list[str]:
    return [f"text number{i} of many" for i in range(count)]


async def test_the_request_on_the_wire_is_the_documented_one() -> None:
    """Path, headers and body are what an OpenAI-type server expects; usage is read."""
    async with FakeProvider() as provider, _model(provider, parameters={"user": "u"}) as model:
        response = await model(["one", "two"])
        (seen,) = provider.seen
        assert (seen.method, seen.path) == ("POST", "/v1/embeddings")
        assert seen.headers["authorization"] == f"Bearer {KEY}"
        assert seen.headers["openai-organization"] == "org-1"
        assert seen.body == {
            "input": ["one", "two"],
            "model": "m",
            "encoding_format": "float",
            "dimensions": 16,
            "user": "u",
        }
        assert response.embeddings == [hashed_vector("one", 16), hashed_vector("two", 16)]
        assert response.usage is not None
        assert response.usage.tokens == 2
        assert response.source == "api"


@pytest.mark.parametrize(
    "message",
    [
        "batch size is invalid, it should not be larger than 10.",
        "Bad request",
        "too many inputs: 35 > 10",
    ],
)
async def test_a_limit_of_inputs_is_found_out_and_kept(message: str) -> None:
    """35 inputs reach a provider that takes 10, in order, each once; later calls know it."""
    async with (
        FakeProvider(max_inputs=10, too_many=message) as provider,
        _model(provider) as model,
    ):
        texts = _texts(35)
        response = await model(texts)
        assert response.embeddings == [hashed_vector(text, 16) for text in texts]
        assert set(provider.embedded.values()) == {1}
        assert len(provider.embedded) == 35
        provider.seen.clear()
        await model(_texts(40))
        assert all(len(request.body["input"]) <= 10 for request in provider.seen)


async def test_a_text_too_long_for_the_provider_is_cut_and_the_others_keep_their_batch() -> None:
    """One refused text is found and shortened; the limit of inputs does not shrink for it."""

    def too_long(body: Any) -> str | None:
        long = any(len(text) > 300 for text in body["input"])
        return "This model's maximum context length is 75 tokens" if long else None

    async with FakeProvider() as provider, _model(provider) as model:
        provider.refuse_when(too_long)
        texts = [*_texts(12), "word " * 100, *_texts(3)]
        response = await model(texts)
        assert response.embeddings[11] == hashed_vector(texts[11], 16)
        assert response.embeddings[12] == hashed_vector("word", 16)
        provider.seen.clear()
        await model(_texts(20))
        assert len(provider.seen) == 1


async def test_a_refused_text_is_refused_for_good() -> None:
    """A 400 that no cutting cures ends as an input error with the provider's reason."""
    async with FakeProvider() as provider, _model(provider) as model:
        provider.refuse_when(lambda body: "content policy" if "bad" in body["input"] else None)
        with pytest.raises(EmbeddingInputError) as caught:
            await model([*_texts(8), "bad"])
        assert not caught.value.retryable
        assert "content policy" in caught.value.message
        assert all(count == 1 for count in provider.embedded.values())


async def test_a_server_that_knows_no_dimensions_is_asked_without() -> None:
    """The parameter is dropped after a refusal that names it, and the length is still checked."""

    def refuse(body: Any) -> str | None:
        return "model does not support matryoshka representation" if "dimensions" in body else None

    async with FakeProvider() as provider, _model(provider) as model:
        provider.refuse_when(refuse)
        assert len((await model(["a"])).embeddings) == 1
        assert len((await model(["b"])).embeddings) == 1
        assert len(provider.seen) == 3
    async with (
        FakeProvider(dimensions=8) as provider,
        _model(provider, pass_dimensions=False) as model,
    ):
        with pytest.raises(DimensionMismatchError) as caught:
            await model(["a"])
        assert "8" in caught.value.message
        assert "16" in caught.value.message
        assert "dimensions" not in provider.seen[0].body


@pytest.mark.parametrize(
    "faults",
    [
        [Fault(status=429), Fault(status=429)],
        [Fault(status=500), Fault(status=503)],
        [Fault(drop=True), Fault(status=502, body=b"<html>")],
        [Fault(status=429, headers={"Retry-After": "0"})],
        [Fault(body={"error": {"message": "Rate limit reached", "code": "rate_limit"}})],
        [Fault(body={"code": "Throttling.RateQuota", "message": "Requests throttled"})],
        [Fault(body={"error": {"code": 503, "message": "overloaded"}})],
        [Fault(body=b"<html>gateway</html>")],
    ],
)
async def test_what_passes_soon_is_tried_again_in_place(faults: list[Fault]) -> None:
    """Up to two failures of the kind that passes are not seen by the caller."""
    async with FakeProvider() as provider, _model(provider) as model:
        provider.fail_next(*faults)
        assert (await model(["a"])).embeddings == [hashed_vector("a", 16)]
        assert len(provider.seen) == len(faults) + 1


@pytest.mark.parametrize(
    ("fault", "kind", "retryable", "tries", "words"),
    [
        (Fault(status=401), EmbeddingAuthError, False, 1, "401"),
        (Fault(status=403), EmbeddingAuthError, False, 1, "key"),
        (Fault(body={"error": {"message": "Invalid API key"}}), EmbeddingAuthError, False, 1, ""),
        (Fault(status=404), EmbeddingError, False, 1, "model"),
        (Fault(status=302, headers={"Location": "http://x/"}), EmbeddingError, False, 1, "redire"),
        (Fault(status=429), EmbeddingError, True, 3, "rate"),
        (Fault(status=503), EmbeddingError, True, 3, "problem"),
        (Fault(drop=True), EmbeddingError, True, 3, "reached"),
        (
            Fault(status=429, body={"error": {"code": "insufficient_quota", "message": "pay"}}),
            EmbeddingError,
            False,
            1,
            "quota",
        ),
        (Fault(body=b"<html>gateway</html>"), EmbeddingError, False, 3, "JSON"),
        (Fault(body=b'{"data": [{"embedding": [NaN, 1'), EmbeddingError, False, 3, "JSON"),
        (Fault(body={"data": "none"}), EmbeddingError, False, 1, "vectors"),
        (Fault(body=[]), EmbeddingError, False, 1, "vectors"),
        (Fault(body={"data": [{"index": 0, "embedding": None}]}), EmbeddingError, False, 1, "vec"),
        (Fault(body={"data": [{"index": 0, "embedding": ["x"]}]}), EmbeddingError, False, 1, "vec"),
        (Fault(body={"data": [{"index": 1, "embedding": [1]}]}), EmbeddingError, False, 1, "vec"),
        (Fault(body={"data": [{"embedding": "!!"}]}), EmbeddingError, False, 1, "vector"),
        (Fault(body=b'{"data": [{"embedding": [NaN]}]}'), EmbeddingError, False, 1, "vector"),
        (Fault(body={"data": []}), EmbeddingError, False, 1, "0 vectors for 1"),
        (
            Fault(body={"data": [{"index": 0, "embedding": [0.5] * 32}]}),
            DimensionMismatchError,
            False,
            1,
            "32 dimensions",
        ),
    ],
)
async def test_every_failure_has_its_error(
    fault: Fault, kind: type[AgentScopeError], retryable: bool, tries: int, words: str
) -> None:
    """Class, retryable, the number of tries and a plain message without the key."""
    async with FakeProvider() as provider, _model(provider) as model:
        provider.fail_always(fault)
        with pytest.raises(kind) as caught:
            await model(["a"])
        assert caught.value.retryable is retryable
        assert len(provider.seen) == tries
        assert words in caught.value.message
        assert KEY not in caught.value.message + str(caught.value.context)
        provider.heal()
        assert len((await model(["a"])).embeddings) == 1


async def test_a_long_retry_after_is_left_to_the_caller() -> None:
    """Nobody sleeps for 20 seconds in place: the error carries the time."""
    async with FakeProvider() as provider, _model(provider) as model:
        provider.fail_always(Fault(status=429, headers={"Retry-After": "20"}))
        with pytest.raises(EmbeddingError) as caught:
            await model(["a"])
        assert caught.value.retry_after_seconds == 20
        assert len(provider.seen) == 1


async def test_a_hanging_provider_times_out_once() -> None:
    """A timeout is not tried again in place; the connection is given up."""
    async with FakeProvider() as provider, _model(provider, timeout=0.1) as model:
        provider.fail_next(Fault(hang=True))
        with pytest.raises(EmbeddingTimeoutError) as caught:
            await model(["a"])
        assert caught.value.retryable
        assert len(provider.seen) == 1
        assert len((await model(["a"])).embeddings) == 1


async def test_nothing_is_embedded_twice_when_one_batch_of_many_fails() -> None:
    """Batches that were answered are kept while one is tried again."""
    async with FakeProvider() as provider, _model(provider, batch_size=10) as model:
        provider.fail_next(Fault(status=503), Fault(status=429))
        response = await model(_texts(95))
        assert response.embeddings == [hashed_vector(text, 16) for text in _texts(95)]
        assert set(provider.embedded.values()) == {1}


async def test_one_client_and_bounded_concurrency_for_all_calls_of_a_credential() -> None:
    """Connections are reused, and never more than the gate lets through."""
    gate = CredentialGate(concurrency=3)
    async with FakeProvider() as provider:
        provider.latency_seconds = 0.005
        options: dict[str, Any] = {"batch_size": 5, "transport": {"gate": gate}}
        async with _model(provider, **options) as one, _model(provider, **options) as two:
            await asyncio.gather(one(_texts(60)), two(_texts(60)))
            assert provider.running_max == 3
            assert provider.connections <= 6
            before = provider.connections
            for _ in range(5):
                await one(["again"])
            assert provider.connections <= before + 1


async def test_queries_have_their_own_places() -> None:
    """A query is answered while indexing fills every place of the credential."""
    gate = CredentialGate(concurrency=1)
    async with FakeProvider() as provider, _model(provider, transport={"gate": gate}) as model:
        provider.fail_next(Fault(hang=True))
        indexing = asyncio.create_task(model(_texts(10)))
        await provider.reached.wait()
        assert len((await asyncio.wait_for(model(["query"]), 5)).embeddings) == 1
        indexing.cancel()
        await asyncio.gather(indexing, return_exceptions=True)


async def test_the_breaker_spares_a_provider_that_is_down() -> None:
    """After 5 failures calls fail at once, with the time to wait."""
    async with FakeProvider() as provider, _model(provider, max_retries=1) as model:
        provider.fail_always(Fault(status=500))
        for _ in range(7):
            with pytest.raises(EmbeddingError) as caught:
                await model(["a"])
        assert len(provider.seen) == 5
        assert caught.value.retryable
        assert caught.value.retry_after_seconds is not None
        assert 0 < caught.value.retry_after_seconds <= 5


async def test_closing_does_not_break_calls_in_flight() -> None:
    """A model that is closed while it works finishes, and opens again when asked again."""
    async with FakeProvider() as provider:
        model = _model(provider)
        provider.latency_seconds = 0.05
        call = asyncio.create_task(model(["a"]))
        await provider.reached.wait()
        await model.aclose()
        assert len((await call).embeddings) == 1
        assert len((await model(["b"])).embeddings) == 1
        await model.aclose()


async def test_a_forbidden_address_is_never_called() -> None:
    """The policy sees the URL of every request, off the event loop, and its word is final."""

    def refuse(url: str) -> None:
        raise InvalidInputError("This address is not allowed.")

    async with FakeProvider() as provider:
        async with _model(provider, transport={"allow_url": refuse}) as model:
            with pytest.raises(EmbeddingError) as caught:
                await model(["a"])
        assert caught.value.message == "This address is not allowed."
        assert not caught.value.retryable
        assert provider.seen == []


@pytest.mark.parametrize("url", ["nonsense", "ftp://x/v1", "http://", "http://[::1/v1"])
async def test_an_invalid_address_is_a_plain_error(url: str) -> None:
    """Nothing but an embedding error leaves the model, and it is final."""
    credential = OpenAICredential(api_key=SecretStr("schlüssel"), base_url=url)
    async with OpenAIEmbeddingModel(credential, "m", 8, max_retries=1) as model:
        with pytest.raises(EmbeddingError):
            await model(["a"])


async def test_base64_answers_and_any_order_are_understood() -> None:
    """Servers that ignore `encoding_format`, or answer out of order, work."""

    def scramble(answer: Any) -> Any:
        for row in answer["data"]:
            row["embedding"] = base64.b64encode(array("f", row["embedding"]).tobytes()).decode()
        answer["data"].reverse()
        return answer

    async with FakeProvider() as provider, _model(provider) as model:
        provider.fail_next(Fault(change=scramble))
        texts = ["one", "two", "three"]
        for text, vector in zip(texts, (await model(texts)).embeddings, strict=True):
            assert vector == pytest.approx(hashed_vector(text, 16), abs=1e-6)


async def test_zero_vectors_and_blank_texts_pass() -> None:
    """Zeros are numbers; blank text costs no request."""
    async with FakeProvider() as provider, _model(provider) as model:
        zeros = {"data": [{"index": 0, "embedding": [0] * 16}]}
        provider.fail_next(Fault(body=zeros))
        assert (await model(["a"])).embeddings == [[0] * 16]
        assert (await model(["", " \n"])).embeddings == [[0.0] * 16] * 2
        assert len(provider.seen) == 1


def test_dimensions_come_from_the_card_or_legacy_parameters() -> None:
    """Given dimensions win; without any the model cannot be built."""
    credential = OpenAICredential(api_key=SecretStr("k"))
    assert OpenAIEmbeddingModel(credential, "text-embedding-3-small").dimensions == 1536
    legacy = OpenAIEmbeddingModel(credential, "x", parameters={"dimensions": 7})
    assert legacy.dimensions == 7
    with pytest.raises(ConfigurationError):
        OpenAIEmbeddingModel(credential, "x")


async def test_a_right_answer_with_code_and_message_is_not_an_error() -> None:
    """Some servers add a code and "success" to what they found."""
    async with FakeProvider() as provider, _model(provider) as model:
        provider.fail_next(Fault(change=lambda answer: {**answer, "code": 0, "message": "success"}))
        assert len((await model(["a"])).embeddings) == 1
        assert len(provider.seen) == 1
