"""Who has the floor: turn taking, playout, history. Pure: (state, input, time) -> values."""
