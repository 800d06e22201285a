"""Every default of the product in one place; each is also an environment variable.

`AGENTSCOPE_<NAME>` sets the field `<name>`. Only the command line reads the environment; whoever
calls `create_app` passes values. `docs/reference/settings.md` is made from this class.
"""

import dataclasses
import types
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path
from typing import Any, Self, get_args, get_origin, get_type_hints

from agentscope.app.rag.indexing.reading import ReadLimits
from agentscope.app.rag.service.limits import HELD, ServiceLimits
from agentscope.app.records import Limits, Timings
from agentscope.errors import ConfigurationError
from agentscope.logs import FORMATS

PREFIX = "AGENTSCOPE_"
IDENTITIES = ("header", "api_key")
COLLECTIONS = ("own", "shared")
ALIASES = {
    "port": "PORT",
    "data_dir": "DATA_DIR",
    "otlp_endpoint": "OTEL_EXPORTER_OTLP_ENDPOINT",
}


def _default_data_dir() -> Path:
    return Path.home() / ".local" / "share" / "agentscope-rag"


def _setting(default: Any, doc: str) -> Any:
    return field(default=default, metadata={"doc": doc})


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """What can be set; times in seconds, sizes in bytes."""

    host: str = _setting("127.0.0.1", "Address to listen on.")
    port: int = _setting(8000, "Port to listen on; also `PORT`.")
    data_dir: Path = field(
        default_factory=_default_data_dir,
        metadata={"doc": "Where everything is kept; also `DATA_DIR`."},
    )
    secret_key: str | None = _setting(
        None, "Seals credentials; newest first, separated by commas. Default: a file in `data_dir`."
    )
    metrics_port: int = _setting(
        0, "Where a worker shows its metrics, on `host`; 0: nowhere. `serve` has `/metrics`."
    )
    operator_key: str | None = _setting(None, "Key for operator routes, for client commands.")
    allow_header_identity: bool = _setting(
        False, "Listen beyond this machine although any caller may name any user."
    )
    identity: str = _setting("header", "How callers are identified: header or api_key.")
    oidc_issuer: str | None = _setting(
        None, "Also take tokens of this OpenID provider; needs `identity` api_key."
    )
    oidc_audience: str | None = _setting(None, "The audience that tokens must name.")
    oidc_jwks_url: str | None = _setting(None, "Where the provider publishes its keys.")
    oidc_client_id: str | None = _setting(
        None, "The public client as which the web app signs people in at the issuer."
    )
    cors_origins: tuple[str, ...] = _setting((), "More origins that browsers may call from.")
    local_embedding: bool = _setting(True, "Offer the embedding model that runs on this machine.")
    allow_private_addresses: bool = _setting(
        True, "Let credentials point at loopback and private addresses."
    )
    sharing: bool = _setting(True, "Let owners share knowledge bases with other users by name.")
    ui: bool = _setting(True, "Serve the web app at `/`.")
    index: bool = _setting(True, "Index in the process of `serve`, too, and not in workers only.")
    postgres: str | None = _setting(
        None, "`embedded`: `serve` runs PostgreSQL under `data_dir` and keeps everything there."
    )
    storage_url: str | None = _setting(
        None, "Records: `postgresql://`, `redis://`, `rediss://`, `sqlite:///`. Default: a file."
    )
    bus_url: str | None = _setting(
        None, "Signals: `postgresql://`, `redis://`, `rediss://`. Default: where the records are."
    )
    vectors_url: str | None = _setting(
        None, "Vectors: `postgresql://`, `qdrant+http://`, `qdrant+https://`, `embedded:///`."
    )
    blobs_url: str | None = _setting(
        None,
        "Originals: `s3://BUCKET?endpoint=URL&region=NAME`, `gs://BUCKET`, "
        "`az://CONTAINER?account=NAME`, `file:///`. Default: a folder.",
    )
    rerank_url: str | None = _setting(
        None, "A reranker that puts the best candidates of every search in order."
    )
    rerank_protocol: str = _setting("jina", "How it speaks: tei, cohere or jina.")
    rerank_model: str | None = _setting(None, "The model to name to it.")
    rerank_api_key: str | None = _setting(None, "The key to show it.")
    collections: str = _setting(
        "own", "Vectors of a new knowledge base: in a collection of its `own` or in a `shared` one."
    )
    shared_dimension: int = _setting(
        0, "Dimensions of all knowledge bases in shared collections; 0: the first one decides."
    )
    log_level: str = _setting("INFO", "Least severe level that is logged.")
    log_format: str = _setting("text", "Log lines as text or json.")
    otlp_endpoint: str | None = _setting(
        None, "Where traces go, OTLP over HTTP; also `OTEL_EXPORTER_OTLP_ENDPOINT`. Extra `otel`."
    )
    url: str | None = _setting(None, "The service that client commands talk to.")
    user: str = _setting("default", "The user of client commands.")
    api_key: str | None = _setting(None, "The key that client commands present.")

    index_slots: int = _setting(4, "Documents indexed at once.")
    lease_ttl_seconds: float = _setting(90.0, "How long a worker owns a document unreported.")
    heartbeat_seconds: float = _setting(45.0, "How often a worker reports.")
    margin_seconds: float = _setting(10.0, "A worker stops writing this long before.")
    request_timeout_seconds: float = _setting(30.0, "Longest single request to a back end.")
    upload_ttl_seconds: float = _setting(60.0, "An upload without new bytes lasts this long.")
    poll_interval_seconds: float = _setting(2.0, "How often a worker looks without being told.")
    sweep_interval_seconds: float = _setting(5.0, "How often the sweeper looks.")
    drain_timeout_seconds: float = _setting(20.0, "Time for running documents at a stop.")
    parse_timeout_seconds: float = _setting(600.0, "Longest reading of one document.")
    grace_extra_seconds: float = _setting(60.0, "Added to lease and request time of a purge.")
    max_attempts: int = _setting(12, "Runs of a document before it is set aside.")
    max_unknown_attempts: int = _setting(3, "Runs that may fail for a reason nobody foresaw.")
    max_crashes: int = _setting(3, "Workers a document may stop before it is set aside.")
    pending_per_user: int = _setting(20_000, "Unfinished documents of one user.")
    knowledge_bases_per_user: int | None = _setting(
        None, "Knowledge bases of one user; 0: no limit. Default: 1,000 with keys, else no limit."
    )
    documents_per_user: int | None = _setting(
        None, "Documents of one user; 0: no limit. Default: 1,000,000 with keys, else no limit."
    )
    stored_bytes_per_user: int | None = _setting(
        None, "Bytes of one user's originals; 0: no limit. Default: 100 GiB with keys, else none."
    )
    requests_per_minute: int | None = _setting(
        None, "Requests of one user to one process; 0: no limit. Default: 6,000 with keys."
    )
    searches_per_minute: int | None = _setting(
        None, "Searches of one user in one process; 0: no limit. Default: 600 with keys."
    )
    searches_at_once: int = _setting(8, "Searches of one user that run at once in one process.")
    small_file_bytes: int = _setting(1024 * 1024, "One slot in four is kept for files up to this.")
    embed_concurrency: int = _setting(4, "Batches of one document that are embedded at once.")
    parse_memory_bytes: int = _setting(1024**3, "Memory that reading one document may take.")

    upload_bytes: int = _setting(2 * 1024**3, "Largest file.")
    archive_bytes: int = _setting(256 * 1024**3, "Largest archive that can be imported.")
    archive_documents: int = _setting(1_000_000, "Most documents of an imported archive.")
    json_body_bytes: int = _setting(1024 * 1024, "Largest JSON body.")
    form_field_bytes: int = _setting(64 * 1024, "Largest text field of an upload form.")
    metadata_bytes: int = _setting(16 * 1024, "Largest metadata of an upload.")
    metadata_keys: int = _setting(64, "Most metadata keys of an upload.")
    status_ids: int = _setting(10_000, "Most ids of one status call.")
    query_chars: int = _setting(20_000, "Longest search query.")

    def __post_init__(self) -> None:
        if not 0 <= self.port <= 65_535:
            raise ConfigurationError("The port must be between 0 and 65535.")
        try:
            self.timings()
            self.service_limits()
        except ValueError as exc:
            raise ConfigurationError(str(exc)) from exc
        if self.identity not in IDENTITIES:
            raise ConfigurationError(f"The identity must be one of: {', '.join(IDENTITIES)}.")
        if self.collections not in COLLECTIONS:
            raise ConfigurationError(f"Collections must be one of: {', '.join(COLLECTIONS)}.")
        if self.log_format not in FORMATS:
            raise ConfigurationError(f"The log format must be one of: {', '.join(FORMATS)}.")
        if self.postgres not in (None, "embedded"):
            raise ConfigurationError(f"{PREFIX}POSTGRES can only be 'embedded'.")
        self._check_tokens()
        for name in ("index_slots", "max_attempts", "max_crashes", "embed_concurrency"):
            if getattr(self, name) < 1:
                raise ConfigurationError(f"{PREFIX}{name.upper()} must be at least 1.")

    def _check_tokens(self) -> None:
        given = (self.oidc_issuer, self.oidc_audience, self.oidc_jwks_url)
        if any(given) and not all(given):
            raise ConfigurationError(
                "Tokens need all of AGENTSCOPE_OIDC_ISSUER, AGENTSCOPE_OIDC_AUDIENCE and "
                "AGENTSCOPE_OIDC_JWKS_URL."
            )
        if self.oidc_client_id and not any(given):
            raise ConfigurationError(
                "AGENTSCOPE_OIDC_CLIENT_ID needs a provider: set AGENTSCOPE_OIDC_ISSUER, too."
            )
        if any(given) and self.identity == "header":
            raise ConfigurationError(
                "Beside the header, which anybody may write, tokens prove nothing: set "
                "AGENTSCOPE_IDENTITY=api_key, which takes API keys and tokens."
            )

    @classmethod
    def from_environment(cls, environment: Mapping[str, str], **given: Any) -> Self:
        """Read the environment; `given` values that are not None win over it.

        Raises:
            ConfigurationError: a value does not fit; the message names the variable.
        """
        hints = get_type_hints(cls)
        values: dict[str, Any] = {}
        for known in dataclasses.fields(cls):
            names = [PREFIX + known.name.upper(), ALIASES.get(known.name, "")]
            found = next((name for name in names if environment.get(name)), None)
            if found is not None:
                values[known.name] = _converted(found, environment[found], hints[known.name])
        values.update({name: value for name, value in given.items() if value is not None})
        return cls(**values)

    def timings(self) -> Timings:
        """Return the durations of the indexing protocol."""
        names = [known.name for known in dataclasses.fields(Timings)]
        return Timings(
            **{name: timedelta(seconds=getattr(self, f"{name}_seconds")) for name in names}
        )

    def limits(self) -> Limits:
        """Return the bounds of the indexing protocol."""
        elsewhere = {"slots", *HELD}  # the quotas are decided together with `service_limits`
        names = [field.name for field in dataclasses.fields(Limits) if field.name not in elsewhere]
        return Limits(slots=self.index_slots, **{name: getattr(self, name) for name in names})

    def service_limits(self) -> ServiceLimits:
        """Return the bounds of single requests."""
        own = {known.name for known in dataclasses.fields(self)}
        names = [known.name for known in dataclasses.fields(ServiceLimits) if known.name in own]
        return ServiceLimits(**{name: getattr(self, name) for name in names})

    def read_limits(self) -> ReadLimits:
        """Return the bounds of reading one document."""
        return ReadLimits(
            wall_seconds=self.parse_timeout_seconds,
            cpu_seconds=round(self.parse_timeout_seconds),
            memory_bytes=self.parse_memory_bytes,
        )


def _converted(name: str, text: str, wanted: Any) -> Any:
    kind = wanted
    if isinstance(wanted, types.UnionType):
        kind = next(part for part in get_args(wanted) if part is not type(None))
    try:
        if kind is bool:
            return _truth(text)
        if get_origin(kind) is tuple:
            return tuple(part.strip() for part in text.split(",") if part.strip())
        return kind(text)
    except ValueError as exc:
        raise ConfigurationError(f"{name} has a value that does not fit: '{text[:80]}'.") from exc


def _truth(text: str) -> bool:
    word = text.strip().lower()
    if word in ("1", "true", "yes", "on"):
        return True
    if word in ("0", "false", "no", "off"):
        return False
    raise ValueError(text)


def settings_table() -> str:
    """Return the table of all settings, for the reference page."""
    lines = ["| Variable | Default | Meaning |", "|---|---|---|"]
    for known in dataclasses.fields(Settings):
        default = "`~/.local/share/agentscope-rag`" if known.name == "data_dir" else known.default
        shown = "" if default in (None, ()) else str(default)
        lines.append(f"| `{PREFIX}{known.name.upper()}` | {shown} | {known.metadata['doc']} |")
    return "\n".join(lines) + "\n"
