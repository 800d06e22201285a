"""Bounds of single requests; shown to clients with the capabilities."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class ServiceLimits:
    """What one request may carry or ask for."""

    upload_bytes: int = 2 * 1024 * 1024 * 1024
    json_body_bytes: int = 1024 * 1024
    form_field_bytes: int = 64 * 1024
    metadata_bytes: int = 16 * 1024
    metadata_keys: int = 64
    status_ids: int = 10_000
    page_size: int = 128
    top_k: int = 50
    query_chars: int = 20_000
    name_chars: int = 200
    description_chars: int = 10_000
    filename_chars: int = 255
    neighbours: int = 5
    dimensions: int = 16_384
    shared_resources: int = 1_000
    shares_per_knowledge_base: int = 1_000

    def __post_init__(self) -> None:
        for name in self.__slots__:
            if getattr(self, name) < 1:
                raise ValueError(f"The limit {name} must be at least 1.")
