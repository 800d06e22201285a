"""Blobs in a container of Azure Blob Storage."""

from typing import Any

from agentscope.app.rag.blob_store.objects import ObjectBlobStore


class AzureBlobStore(ObjectBlobStore):
    """One container; needs the extra `s3`.

    Credentials that are not given come from the standard Azure environment variables or a managed
    identity.
    """

    store_class = "AzureStore"
    scheme = "az"

    def __init__(
        self,
        container: str,
        *,
        account_name: str | None = None,
        account_key: str | None = None,
        endpoint_url: str | None = None,
        config: dict[str, Any] | None = None,
    ) -> None:
        """`config` holds further obstore Azure settings, such as `sas_key`."""
        super().__init__(
            container,
            {
                "account_name": account_name,
                "account_key": account_key,
                "endpoint": endpoint_url,
                **(config or {}),
            },
        )
