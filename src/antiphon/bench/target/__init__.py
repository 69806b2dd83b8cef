"""One file per kind of endpoint that the bench can speak to; :mod:`.contract` says what a target offers."""
