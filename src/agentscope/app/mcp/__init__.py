"""The service for MCP clients."""
