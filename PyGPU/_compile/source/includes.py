"""Search for the user's files that a text includes, whose contents a compilation depends on.

The search is no preprocessor: it ignores conditions, and finds a name in all folders that have it.
So the result may have too many files, but includes all that the compiler reads. If that is unknown
without the compiler, the result is marked as incomplete.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Mapping
from functools import lru_cache
from typing import NamedTuple

from PyGPU._compile.source import comments
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


class _References(NamedTuple):
    names: set[bytes]
    macros: set[bytes]  # `#include NAME`
    is_complete: bool


_SPLICE = rb"(?:\\|\?\?/)[ \t\v\f]*\r?\n"
# Patterns of possible directives, then marks of directives in a rare form, then plain directives.
_LIKELY = rb"(?s)#(?:\s|/\*.*?\*/)*(?:include|import|embed)"
_UNLIKELY = (b"%:", b"??=", b"has_include", b"HAS_INCLUDE", b"has_embed", b"HAS_EMBED")
_PLAIN = rb'(?m)^[ \t]*#[ \t]*include[ \t]*(?:<([^>\n]+)>|"([^"\n]+)")'
_DIRECTIVE = rb"(?m)^\s*(?:#|%:|\?\?=)\s*(?:include|include_next|import|embed)\b[ \t\v\f]*([^\n]*)"
# Libraries have macros of such names, too.
_QUESTION = rb"(?:has_|HAS_)(?:include|INCLUDE|embed|EMBED)\w*\s*\(\s*([<\"][^\n]*)"
_LITERAL = rb'<([^>\n]+)>|"([^"\n]+)"'
_TEXT = rb'"([^"\n]+)"'  # value of a macro; names inside <> would be expanded
_NAME = rb"(?!\d)\w+"
# Names of files that the assembler reads, and macros that differ at each compilation.
_ELUSIVE = (b".incbin", b".include", b"__DATE__", b"__TIME__", b"__TIMESTAMP__")


def _spliced(data: bytes) -> bytes:
    return re.sub(_SPLICE, b"", data) if b"\\" in data or b"??/" in data else data


@lru_cache(maxsize=1024)
def _references(data: bytes) -> _References:
    """Return the names and macros in the directives of a text."""
    text = _spliced(data)
    plain = re.findall(_PLAIN, text)
    is_complete = not any(map(text.__contains__, _ELUSIVE))
    if len(plain) == len(re.findall(_LIKELY, text)) and not any(map(text.__contains__, _UNLIKELY)):
        return _References({one or other for one, other in plain}, set(), is_complete)
    text = comments.without_comments(text)
    names, macros = set(), set()
    for argument in map(bytes.strip, re.findall(_DIRECTIVE, text) + re.findall(_QUESTION, text)):
        literal, name = re.match(_LITERAL, argument), re.match(_NAME, argument)
        if literal:
            names.add(literal.group(1) or literal.group(2))
        elif name and not argument[name.end() :].strip():
            macros.add(name.group())
        else:
            is_complete = False
    return _References(names, macros, is_complete)


def _values(macro: bytes, texts: Iterable[bytes]) -> set[bytes] | None:
    """Return the file names that a macro may have; None if a definition is not a plain name."""
    definition = re.compile(rb"^\s*(?:#|%:|\?\?=)\s*define\s+" + macro + rb"\b([^\n]*)", re.M)
    values = [value.strip() for text in texts for value in definition.findall(text)]
    found = [re.fullmatch(_TEXT, value) for value in values]
    return {one.group(1) for one in found if one} if found and all(found) else None


# Folders of the system into which a header may be installed later.
_INSTALLED = ("/usr/local/include", "/usr/include")


def variable_folders(names: Iterable[str]) -> list[str]:
    """Return the folders in environment variables; an empty name is the working directory."""
    values = [os.environ.get(name) for name in names]
    return [folder for value in values if value for folder in value.split(os.pathsep)]


class _Search:
    """The files found so far, and the texts to read next."""

    def __init__(self, folders: Iterable[str]) -> None:
        self.folders = list(folders)
        self.files: dict[str, bytes] = {}
        self.queue: list[tuple[str, bytes]] = []  # (folder of the text, text)
        self.is_here = False
        self.installed: set[str] = set()

    def find(self, name: bytes, folder: str) -> None:
        path = os.fsdecode(name)
        for one in [""] if os.path.isabs(path) else (folder, *self.folders):
            place = os.path.join(one, path)
            if place in self.files:
                continue
            try:
                with open(place, "rb") as file:
                    data = file.read()
            except (OSError, ValueError):  # missing, or no valid name of a file
                continue
            self.is_here |= place == path
            if ".." in path:  # ".." could give one file ever longer names
                place = os.path.join(
                    os.path.realpath(os.path.dirname(place)), os.path.basename(place)
                )
                if place in self.files:
                    continue
            self.files[place] = data
            self.queue.append((os.path.dirname(place), data))
        installed = (f"{one}/{path}" for one in _INSTALLED)
        self.installed.update(filter(os.path.exists, installed))


def scan(
    source: str | Mapping[str, bytes],
    folders: Iterable[str],
    first: Iterable[str] = (),
    macros: Iterable[str] = (),
) -> Found:
    """Find the files that a text may include, directly and indirectly.

    Parameters
    ----------
    source : str or mapping of str to bytes
        Kernel text, or the contents of the files of a program by their paths.
    folders : iterable of str
        Folders to search, after the folder of the including file; "" is the working directory. A
        name in none of them is the compiler's own, which its version identifies.
    first : iterable of str
        Files included before the text.
    macros : iterable of str
        ``-DNAME=value``; values may name files.
    """
    macros = list(macros)
    search = _Search(folders)
    for name in first:
        search.find(os.fsencode(name), "")
    defined = "".join(
        "#define {} {}\n".format(*word[2:].split("=", 1))
        for word in macros
        if word.startswith("-D") and "=" in word
    )
    given = {"": encoded(source)} if isinstance(source, str) else source
    search.queue += [(os.path.dirname(path), data) for path, data in given.items()]
    search.queue.append(("", encoded(defined)))
    texts: list[bytes] = []
    pending: dict[tuple[bytes, str], None] = {}
    is_complete = True
    while search.queue:
        folder, data = search.queue.pop()
        texts.append(data)
        references = _references(data)
        is_complete &= references.is_complete
        for reference in references.names:
            search.find(reference, folder)
        pending.update(dict.fromkeys((macro, folder) for macro in references.macros))
        if search.queue or not pending:
            continue
        # Any text may define the macros, including the files that the macros name.
        cleaned = [comments.without_comments(_spliced(text)) for text in texts]
        for macro, its_folder in pending:
            values = _values(macro, cleaned)
            is_complete &= values is not None
            for reference in values or ():
                search.find(reference, its_folder)
    is_here = search.is_here or not is_complete
    installed = tuple(sorted(search.installed))
    return Found(search.files, is_complete, is_here, "\n".join(macros), installed)
