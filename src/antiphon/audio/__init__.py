"""Audio in and out of bytes: PCM encodings, WAV, resampling, containers."""
