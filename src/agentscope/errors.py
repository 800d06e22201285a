"""One family of errors for the whole product.

Every error has a stable `code`, a `message` that is safe to show (no class names, paths, secrets)
and `retryable`: can the same call succeed later by itself? `context` is for the log only.
"""

from collections.abc import Mapping
from typing import ClassVar


class AgentScopeError(Exception):
    """Something went wrong."""

    code: ClassVar[str] = "internal_error"
    retryable: bool = False

    def __init__(
        self,
        message: str | None = None,
        *,
        context: Mapping[str, object] | None = None,
        retryable: bool | None = None,
    ) -> None:
        self.message = message or (type(self).__doc__ or "").strip().splitlines()[0]
        self.context = dict(context or {})
        if retryable is not None:
            self.retryable = retryable
        super().__init__(self.message)


class NotFoundError(AgentScopeError):
    """The requested thing does not exist."""

    code = "not_found"


class KnowledgeBaseError(AgentScopeError):
    """The knowledge base cannot do this."""

    code = "knowledge_base_error"


class KnowledgeBaseNotFoundError(KnowledgeBaseError, NotFoundError):
    """The knowledge base was not found."""

    code = "knowledge_base_not_found"


class DimensionPolicyError(KnowledgeBaseError):
    """The embedding model does not have the dimensions this service stores."""

    code = "dimension_policy"

    def __init__(
        self,
        message: str | None = None,
        *,
        requested_dimension: int | None = None,
        policy_dimension: int | None = None,
    ) -> None:
        super().__init__(message)
        self.requested_dimension = requested_dimension
        self.policy_dimension = policy_dimension


class DocumentNotFoundError(NotFoundError):
    """The document was not found."""

    code = "document_not_found"


class CredentialNotFoundError(NotFoundError):
    """The credential was not found."""

    code = "credential_not_found"


class BlobNotFoundError(NotFoundError, FileNotFoundError):
    """The original file is no longer available."""

    code = "blob_not_found"


class CollectionNotFoundError(NotFoundError):
    """The vector collection was never created or is gone."""

    code = "collection_not_found"


class ConflictError(AgentScopeError):
    """The state changed meanwhile; read it again."""

    code = "conflict"


class AlreadyExistsError(ConflictError):
    """A thing with this id already exists."""

    code = "already_exists"


class LeaseLostError(ConflictError):
    """The run is no longer the holder of this document."""

    code = "lease_lost"


class DimensionMismatchError(ConflictError, ValueError):
    """The vectors do not have the dimensions of the collection."""

    code = "dimension_mismatch"


class DuplicateDocumentError(ConflictError):
    """A document with the same content is already in this knowledge base."""

    code = "duplicate_document"


class DuplicateNameError(ConflictError):
    """A document of this name is already in this knowledge base."""

    code = "duplicate_name"


class NotReadyError(ConflictError):
    """The thing is being created or deleted."""

    code = "not_ready"


class ImportRunningError(ConflictError):
    """This archive is being imported at this moment."""

    code = "import_running"


class EmbeddingModelChangedError(ConflictError):
    """The installed embedding model is not the one this knowledge base was built with."""

    code = "embedding_model_changed"


class GenerationMissedError(ConflictError):
    """The knowledge base got another embedding model while the document was indexed."""

    code = "generation_missed"


class InvalidInputError(AgentScopeError, ValueError):
    """The request is not valid."""

    code = "invalid_input"


class UnsupportedMediaTypeError(InvalidInputError):
    """Files of this type are not supported."""

    code = "unsupported_media_type"


class TooLargeError(InvalidInputError):
    """The content is larger than the limit."""

    code = "too_large"


class BadFilterError(InvalidInputError):
    """The metadata filter is not valid."""

    code = "bad_filter"


class UnknownProviderError(InvalidInputError):
    """There is no such provider, or it has no embedding models."""

    code = "unknown_provider"


class ArchiveInvalidError(InvalidInputError):
    """The archive is damaged, or no export of a knowledge base."""

    code = "archive_invalid"


class ArchiveIncompleteError(InvalidInputError):
    """The archive ends too early; send it again to go on where it stopped."""

    code = "archive_incomplete"


class ArchiveVersionError(InvalidInputError):
    """The archive was made by a newer version; upgrade this program to import it."""

    code = "archive_version"


class QuotaExceededError(AgentScopeError):
    """The quota of this user is used up; try again later."""

    code = "quota_exceeded"
    retryable = True

    def __init__(
        self,
        message: str | None = None,
        *,
        retry_after_seconds: int = 30,
        context: Mapping[str, object] | None = None,
        details: Mapping[str, object] | None = None,
    ) -> None:
        super().__init__(message, context=context)
        self.retry_after_seconds = retry_after_seconds
        self.details = dict(details or {})  # safe to show: which quota, its limit, what is used


class StorageQuotaExceededError(QuotaExceededError):
    """The user holds as much as the quota allows; something must be deleted first."""

    code = "storage_quota_exceeded"
    retryable = False


class RateLimitedError(QuotaExceededError):
    """Too many requests in a short time; try again later."""

    code = "rate_limited"


class AuthenticationError(AgentScopeError):
    """The caller could not be identified."""

    code = "unauthenticated"


class PermissionDeniedError(AgentScopeError):
    """The caller may not do this."""

    code = "permission_denied"


class ParseError(AgentScopeError, ValueError):
    """The file could not be read."""

    code = "parse_error"

    def __init__(
        self,
        message: str | None = None,
        *,
        filename: str = "",
        media_type: str = "",
        context: Mapping[str, object] | None = None,
        retryable: bool | None = None,
    ) -> None:
        super().__init__(message, context=context, retryable=retryable)
        self.filename = filename
        self.media_type = media_type


class CorruptFileError(ParseError):
    """The file is damaged or not of its type."""

    code = "corrupt_file"


class EncryptedFileError(ParseError):
    """The file is encrypted; remove the password and upload it again."""

    code = "encrypted_file"


class NoTextError(ParseError):
    """No text was found in the file."""

    code = "no_text"


class ParseLimitError(ParseError):
    """Reading the file took more time, memory or output than allowed."""

    code = "parse_limit"


class ParserCrashError(ParseError):
    """The parser ended unexpectedly while reading the file."""

    code = "parser_crash"
    retryable = True


class UpstreamError(AgentScopeError):
    """A service this product depends on did not answer as expected."""

    code = "upstream_error"
    retryable = True

    def __init__(
        self,
        message: str | None = None,
        *,
        provider: str = "",
        retry_after_seconds: float | None = None,
        context: Mapping[str, object] | None = None,
        retryable: bool | None = None,
    ) -> None:
        super().__init__(message, context=context, retryable=retryable)
        self.provider = provider
        self.retry_after_seconds = retry_after_seconds


class StorageError(UpstreamError):
    """The storage did not answer as expected."""

    code = "storage_error"


class BusError(UpstreamError):
    """The message bus did not answer as expected."""

    code = "bus_error"


class BlobStoreError(UpstreamError):
    """The blob store did not answer as expected."""

    code = "blob_store_error"


class VectorStoreError(UpstreamError):
    """The vector store did not answer as expected."""

    code = "vector_store_error"


class EmbeddingError(UpstreamError):
    """The embedding model did not answer as expected."""

    code = "embedding_error"


class EmbeddingTimeoutError(EmbeddingError):
    """The embedding model did not answer in time."""

    code = "embedding_timeout"


class EmbeddingAuthError(EmbeddingError):
    """The embedding provider refused the credential."""

    code = "embedding_auth"
    retryable = False


class EmbeddingInputError(EmbeddingError):
    """The embedding provider refused the input."""

    code = "embedding_input"
    retryable = False


class EmbeddingCountError(EmbeddingError, RuntimeError):
    """The embedding model returned another number of vectors than it was given inputs."""

    code = "embedding_count"


class EmbeddingPausedError(EmbeddingError):
    """The embedding provider did not work lately; it is asked again soon."""

    code = "embedding_paused"


class RerankError(UpstreamError):
    """The reranker did not answer as expected."""

    code = "rerank_error"


class ToolError(AgentScopeError):
    """The tool could not do this."""

    code = "tool_error"


class ConfigurationError(AgentScopeError):
    """The product is not configured correctly."""

    code = "configuration_error"


class MissingDependencyError(ConfigurationError, ImportError):
    """An optional package is missing."""

    code = "missing_dependency"

    def __init__(self, package: str, extra: str) -> None:
        message = f"The package '{package}' is needed here: pip install 'agentscope-rag[{extra}]'."
        super().__init__(message, context={"package": package, "extra": extra})
        self.extra = extra


class DataDirectoryLockedError(ConfigurationError):
    """Another process already uses this data directory."""

    code = "data_directory_locked"
