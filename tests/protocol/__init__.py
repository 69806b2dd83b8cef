"""Tests of the wire dialects; the pure machines are driven by :mod:`.shell`."""
