"""The nouns that every room shares: frames, events, clocks, engines, errors. Standard library and numpy only."""
