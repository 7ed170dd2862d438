"""The MCP server of `ava mcp`: tools with which an agent reads videos. It needs the package of the extra `mcp`."""
