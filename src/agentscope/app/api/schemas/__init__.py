"""Shapes on the wire, for validation of requests and for the OpenAPI document."""
