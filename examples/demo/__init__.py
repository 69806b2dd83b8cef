"""A whole conversation, held on this machine: see docs/demo.md. ``python -m examples.demo`` (or ``make demo``)."""
