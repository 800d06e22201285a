"""Blobs in a bucket of Google Cloud Storage."""

from typing import Any

from agentscope.app.rag.blob_store.objects import ObjectBlobStore


class GoogleBlobStore(ObjectBlobStore):
    """One bucket; needs the extra `s3`.

    Credentials that are not given come from the standard Google environment variables or the
    metadata service of the machine.
    """

    store_class = "GCSStore"
    scheme = "gs"

    def __init__(
        self,
        bucket: str,
        *,
        service_account_path: str | None = None,
        endpoint_url: str | None = None,
        config: dict[str, Any] | None = None,
    ) -> None:
        """`config` holds further obstore GCS settings, such as `service_account_key`."""
        super().__init__(
            bucket,
            {
                "service_account": service_account_path,
                "base_url": endpoint_url,
                **(config or {}),
            },
        )
