"""A small order book: the data, the tools and the rule brain's file of the demo."""
