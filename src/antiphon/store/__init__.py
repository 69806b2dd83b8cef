"""Model files: manifests, fetching, verification. Nothing here imports a model."""
