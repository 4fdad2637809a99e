"""Tools for agents: `grpo-ref mcp` serves explain, convert and diagnose over the Model Context Protocol."""
