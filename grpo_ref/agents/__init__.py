"""Tools for agents: `grpo-ref mcp` serves explain, convert, audit and diagnose over MCP."""
