"""The state-space voice: its data, its training, its export."""
