"""Text on its way to speech: markup, markdown, chunking, normalisation, alignment. Pure."""
