"""Reads what a provider's answer says about a failure, whatever its status code claims.

The product's own sentence comes first; of the provider's text only the message of a JSON error
is shown, shortened and without anything that looks like a key.
"""

import re
from collections.abc import Mapping
from datetime import datetime
from email.utils import parsedate_to_datetime
from typing import Any

from agentscope.errors import EmbeddingAuthError, EmbeddingError, EmbeddingInputError

MAX_DETAIL = 200
_KEY_LIKE = re.compile(r"\b[A-Za-z]{2,8}[-_][A-Za-z0-9*_-]{8,}|\b[A-Za-z0-9_-]{32,}\b")
_RATE = re.compile(r"rate.?limit|too many requests|throttl|limitrequests|resource.?exhausted", re.I)
_QUOTA = re.compile(r"insufficient.?(quota|balance|user)|arrearage|billing|credit", re.I)
_AUTH = re.compile(r"api.?key|unauthori|unauthenti|forbidden|permission|access.?denied", re.I)
_REFUSED = re.compile(r"invalid|param|unsupported|not.?support|too (long|large|many)|exceed", re.I)
_BAD_KEY = re.compile(r"api.?key.{0,40}(invalid|not.?valid|incorrect)|invalid.?api.?key", re.I)
_RESULTS = ("data", "embeddings", "output", "models")
_READ_MAX = 4000  # what a provider says may be endless, and is searched on the event loop
_MODEL = re.compile(r"model.?(not.?found|.*does not exist|.*not exist)", re.I)


def retry_after(headers: Mapping[str, str], now: datetime) -> float | None:
    """Return the seconds a `Retry-After` header asks for, as a number or as a date."""
    value = headers.get("retry-after", "").strip()
    if not value:
        return None
    try:
        return max(0.0, float(value))
    except ValueError:
        pass
    try:
        return max(0.0, (parsedate_to_datetime(value) - now).total_seconds())
    except (ValueError, TypeError):
        return None


def error_in(payload: Any) -> tuple[str, str] | None:
    """Return code and message if `payload` is an error object of any common shape."""
    if not isinstance(payload, dict):
        return None
    inner = payload.get("error")
    if isinstance(inner, str) and inner:
        return "", inner
    if isinstance(inner, dict):
        code = inner.get("code") or inner.get("status") or inner.get("type") or ""
        return str(code), str(inner.get("message") or inner.get("type") or "")
    if "message" in payload and ("code" in payload or "object" in payload):
        return str(payload.get("code") or payload.get("type") or ""), str(payload["message"])
    if isinstance(payload.get("detail"), str):
        return "", str(payload["detail"])
    return None


def is_error(payload: Any) -> bool:
    """Tell whether a 200 answer is an error; some servers add code and message to results."""
    if error_in(payload) is None:
        return False
    return bool(payload.get("error")) or not any(payload.get(name) for name in _RESULTS)


def shown(detail: str, secret: str) -> str:
    """Return `detail` short, on one line and without the secret."""
    text = " ".join(detail.split())
    if secret:
        text = text.replace(secret, "***")
    return _KEY_LIKE.sub("***", text)[:MAX_DETAIL]


def hidden_status(code: str, message: str) -> int:
    """Return the HTTP status an error inside a 200 answer stands for."""
    if code.isdecimal() and 400 <= int(code) < 600:
        return int(code)
    text = f"{code} {message}"
    if _RATE.search(text) or _QUOTA.search(text):
        return 429
    if _AUTH.search(text):
        return 401
    return 400 if _REFUSED.search(text) else 500


def failure(
    status: int, payload: Any, *, provider: str, secret: str, wait: float | None
) -> EmbeddingError:
    """Return the error that an answer with a failure status, or an error body, stands for."""
    code, message = (part[:_READ_MAX] for part in error_in(payload) or ("", ""))
    if status < 400:
        status = hidden_status(code, message)
    detail = shown(message, secret)
    reason = f": {detail}" if detail else "."
    context = {"status": status, "provider_code": code[:MAX_DETAIL], "detail": detail}
    if status in (401, 403) or (status == 400 and _BAD_KEY.search(f"{code} {message}")):
        return EmbeddingAuthError(
            f"The embedding provider refused the credential ({status}). Check the API key.",
            provider=provider,
            context=context,
        )
    if status == 402 or (status == 429 and _QUOTA.search(f"{code} {message}")):
        return EmbeddingError(
            f"The quota at the embedding provider is used up ({status}){reason}",
            provider=provider,
            context=context,
            retryable=False,
        )
    if status == 404 or (status == 400 and _MODEL.search(f"{code} {message}")):
        return EmbeddingError(
            f"The embedding provider does not know this model or address ({status}){reason}",
            provider=provider,
            context=context,
            retryable=False,
        )
    if status in (400, 413, 422):
        return EmbeddingInputError(
            f"The embedding provider refused the input ({status}){reason}",
            provider=provider,
            context=context,
        )
    return _passing_failure(status, provider, context, wait)


def _passing_failure(
    status: int, provider: str, context: dict[str, object], wait: float | None
) -> EmbeddingError:
    if status == 429:
        text = "The embedding provider limits the rate of requests (429)."
    elif status >= 500 or status in (408, 409, 425):
        text = f"The embedding provider has a problem ({status})."
    else:
        text = f"The embedding provider answered with an unexpected status ({status})."
    return EmbeddingError(
        text,
        provider=provider,
        context=context,
        retry_after_seconds=wait,
        retryable=status >= 500 or status in (408, 409, 425, 429),
    )
