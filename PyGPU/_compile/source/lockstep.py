"""Detection of warp-synchronous kernel text, whose warps run in lockstep on the ``host`` target.

Code written before ``__syncwarp`` existed lets the lanes of a warp exchange values through volatile
shared memory. ``compilers/host_lockstep.py`` has the compiler's flags for such a text.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Mapping

from PyGPU._compile.source import comments
from PyGPU._runtime import include_root

_ASSEMBLY = r"\b(?:asm|__asm|__asm__)\s+(?:volatile|__volatile__|__volatile)\b"
_VOLATILE = r"\b(?:volatile|__volatile__|__volatile)\b"
_SHARED = r"\b__shared__\b"


def is_needed(
    source: str, macros: Iterable[str], files: Mapping[str, bytes], is_linked: bool
) -> bool:
    """Report whether a text may declare volatile shared memory.

    `macros` are ``-DNAME=value``, `files` the headers that the text may include. If `is_linked`,
    any of the other texts may declare the shared memory.
    """
    source = "\n".join([source, *macros])
    if "volatile" not in source and not any(b"volatile" in one for one in files.values()):
        return False
    ours = os.path.realpath(include_root()) + os.sep
    texts = [
        data.decode("utf-8", "replace")
        for path, data in files.items()
        if not os.path.realpath(path).startswith(ours)
    ]
    likely = [text for text in (source, *texts) if "volatile" in text or "__shared__" in text]
    read = [re.sub(_ASSEMBLY, "", comments.blanked(text)) for text in likely]
    words = (_VOLATILE,) if is_linked else (_VOLATILE, _SHARED)
    return all(any(re.search(one, text) for text in read) for one in words)
