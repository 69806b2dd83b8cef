"""Training of the language model that says whether words could end a turn (``antiphon.models.utterance``)."""
