"""Blobs in an S3-compatible bucket."""

from typing import Any

from agentscope.app.rag.blob_store.objects import ObjectBlobStore


class S3BlobStore(ObjectBlobStore):
    """One bucket; needs the extra `s3`.

    Credentials that are not given come from the standard AWS environment variables, a web identity
    token or the instance metadata service.
    """

    store_class = "S3Store"
    scheme = "s3"

    def __init__(
        self,
        bucket: str,
        *,
        region_name: str | None = None,
        endpoint_url: str | None = None,
        aws_access_key_id: str | None = None,
        aws_secret_access_key: str | None = None,
        session_token: str | None = None,
        use_ssl: bool = True,
        config: dict[str, Any] | None = None,
    ) -> None:
        """`config` holds further obstore S3 settings, such as `virtual_hosted_style_request`."""
        if endpoint_url is not None and "://" not in endpoint_url:
            endpoint_url = f"{'https' if use_ssl else 'http'}://{endpoint_url}"
        super().__init__(
            bucket,
            {
                "region": region_name,
                "endpoint": endpoint_url,
                "access_key_id": aws_access_key_id,
                "secret_access_key": aws_secret_access_key,
                "session_token": session_token,
                **(config or {}),
            },
        )
