"""Emoji and pictograms leave a text that is to be spoken, also where one is cut in two by the deltas."""

import re

_EMOJI = re.compile(
    "[\U0001f000-\U0001faff\u2600-\u27bf\u2b05-\u2b07\u2b1b\u2b1c\u2b50\u2b55\u231a\u231b\u2328\u23cf\u23e9-\u23fa"
    "\u25fb-\u25fe\u2934\u2935\u3030\u303d\u3297\u3299][\ufe0e\ufe0f\u200d\u20e3\U000e0020-\U000e007f]*"
    "|[\ufe0e\ufe0f\u20e3\U000e0020-\U000e007f]+"
)


class EmojiStripper:
    """Strips deltas of a text. Holds nothing back."""

    def __init__(self) -> None:
        self._skip_joiner = False

    def strip(self, text: str) -> str:
        if text.isascii():
            self._skip_joiner = False
            return text
        # A joiner that arrives apart from its emoji goes with it; elsewhere (Indic scripts) it is spelling.
        if self._skip_joiner:
            text = text.lstrip("\u200d")
        stripped = _EMOJI.sub("", text)
        self._skip_joiner = bool(text) and _EMOJI.fullmatch(text[-1]) is not None
        return stripped
