"""Found: the files that a kernel text may include, as far as its text shows."""

from __future__ import annotations

from typing import NamedTuple

from PyGPU._runtime import encoded


class Found(NamedTuple):
    """The files that a text may include."""

    files: dict[str, bytes]  # path -> contents
    is_complete: bool  # False: the text may read other files, or depend on more than files
    uses_working_directory: bool  # the text includes, or may include, a file from there
    macros: str  # of the options; they may name what the text uses
    installed: tuple[str, ...] = ()  # files of the system with the other names that the text uses

    def texts(self, source: str) -> list[bytes]:
        """Return the including text, the macros and the contents of the files."""
        return [encoded(source), encoded(self.macros), *self.files.values()]
