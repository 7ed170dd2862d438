"""Strict lint of frontend_api_schema/openapi.yaml, and the clients that two public generators make of it."""
