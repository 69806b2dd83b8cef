"""The benchmark: scenarios, an open-loop player, pure measurement, reports. Talks to the wire only."""
