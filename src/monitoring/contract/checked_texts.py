"""Texts that were held to the document before, so that the same bytes need not be parsed and judged again."""

MAX_BYTES = 2 * 2**20
MAX_BYTES_OF_ONE = 16 * 2**10


class CheckedTexts:
    """The texts that were accepted last, byte for byte, up to a number of bytes in all.

    A text that is met again stays. There are two generations: when the younger has half of the bytes, it
    becomes the older, and what nobody met since is forgotten.
    """

    def __init__(self, max_bytes: int = MAX_BYTES) -> None:
        self._max_bytes_of_generation = max_bytes // 2
        self._younger: set[bytes] = set()
        self._older: set[bytes] = set()
        self._younger_bytes = 0

    def __contains__(self, text: bytes) -> bool:
        """Say whether the text was accepted, and keep it if so."""
        if text in self._younger:
            return True
        if text not in self._older:
            return False
        self.add(text)
        return True

    def add(self, text: bytes) -> None:
        """Note that a text was accepted. A long one is not kept."""
        if len(text) > MAX_BYTES_OF_ONE:
            return
        if self._younger_bytes + len(text) > self._max_bytes_of_generation:
            self._older, self._younger, self._younger_bytes = self._younger, set(), 0
        self._younger.add(text)
        self._younger_bytes += len(text)
