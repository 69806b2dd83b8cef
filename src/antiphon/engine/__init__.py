"""Engines: a scheduler that owns the cores, streams that step slots or run jobs, and the voices behind them."""
