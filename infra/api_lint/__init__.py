"""Strict lint of frontend_api_schema/openapi.yaml."""
