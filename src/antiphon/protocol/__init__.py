"""Wire dialects: messages (one msgspec.Struct each) and pure machines; no I/O."""
