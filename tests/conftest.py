"""For all rooms: nothing in a test run may reach for a model hub, and random tests take the same path every time."""

import os

from hypothesis import settings

# Before any client library is imported: some read these once.
os.environ["HF_HUB_OFFLINE"] = "1"
os.environ["TRANSFORMERS_OFFLINE"] = "1"
# A developer's own settings are no part of a test; where `make setup` put the models is.
for _variable in [name for name in os.environ if name.startswith("ANTIPHON_")]:
    if not _variable.startswith("ANTIPHON_MODELS__"):
        del os.environ[_variable]

settings.register_profile("house", derandomize=True, deadline=None)
settings.load_profile("house")
