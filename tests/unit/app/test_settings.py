"""Settings: every default in one place, each a variable."""

import dataclasses
from datetime import timedelta
from pathlib import Path

import pytest

from agentscope.app.rag.service.limits import ServiceLimits
from agentscope.app.records import Limits, Timings
from agentscope.app.settings import Settings, settings_table
from agentscope.errors import ConfigurationError


def test_the_defaults_are_those_of_the_parts() -> None:
    """One truth: the settings repeat no number differently."""
    settings = Settings()
    assert settings.timings() == Timings()
    assert settings.limits() == Limits()
    assert settings.service_limits() == ServiceLimits()
    assert settings.timings().lease_ttl == timedelta(seconds=90)


def test_the_environment_sets_and_options_win() -> None:
    """`PORT` and `DATA_DIR` are aliases."""
    environment = {
        "AGENTSCOPE_LEASE_TTL_SECONDS": "120",
        "AGENTSCOPE_CORS_ORIGINS": "http://a, http://b",
        "AGENTSCOPE_UI": "no",
        "PORT": "9000",
        "DATA_DIR": "/somewhere",
        "AGENTSCOPE_URL": "",
    }
    settings = Settings.from_environment(environment, port=9001, host=None)
    assert settings.lease_ttl_seconds == 120
    assert settings.cors_origins == ("http://a", "http://b")
    assert (settings.ui, settings.port, settings.host) == (False, 9001, "127.0.0.1")
    assert settings.data_dir == Path("/somewhere")
    assert settings.url is None


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("AGENTSCOPE_PORT", "many"),
        ("PORT", "70000"),
        ("AGENTSCOPE_UI", "perhaps"),
        ("AGENTSCOPE_LEASE_TTL_SECONDS", "1"),
        ("AGENTSCOPE_INDEX_SLOTS", "0"),
        ("AGENTSCOPE_UPLOAD_BYTES", "0"),
    ],
)
def test_a_value_that_does_not_fit_is_told(name: str, value: str) -> None:
    """At once, in one sentence."""
    with pytest.raises(ConfigurationError):
        Settings.from_environment({name: value})


def test_every_setting_is_in_the_table() -> None:
    """With what it means."""
    table = settings_table()
    for known in dataclasses.fields(Settings):
        assert f"`AGENTSCOPE_{known.name.upper()}`" in table
        assert known.metadata["doc"]
