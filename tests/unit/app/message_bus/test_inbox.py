"""What a subscriber has not read yet."""

import pytest

from agentscope.app.message_bus.inbox import MAX_UNREAD_SIGNALS, SignalInbox, decoded
from agentscope.errors import BusError


async def test_the_oldest_signals_fall_out() -> None:
    """A reader that stopped costs bounded memory."""
    inbox = SignalInbox()
    for number in range(MAX_UNREAD_SIGNALS + 5):
        inbox.offer({"n": number})
    inbox.offer(None)
    assert await inbox.next() == {"n": 5}


async def test_unread_signals_come_before_the_failure() -> None:
    """Nothing that arrived is thrown away."""
    inbox = SignalInbox()
    inbox.offer({"n": 1})
    inbox.end(BusError())
    assert await inbox.next() == {"n": 1}
    with pytest.raises(BusError):
        await inbox.next()


def test_only_json_objects_are_read() -> None:
    """Anything else is dropped."""
    assert decoded('{"a": 1}', "q") == {"a": 1}
    for text in ("", "nope", "[1]", "1", "[" * 100_000):
        assert decoded(text, "q") is None
