"""The conversation with an agent over its own socket: its machine, sessions, ears, voices and tools."""
