"""Detection of inline PTX, which only NVIDIA's compilers understand.

An example is ``asm("mov.u32 %0, %laneid;" : ...)``.
"""

from __future__ import annotations

import bisect
import re

from PyGPU._compile.source import comments

_ASM = r"\b(?:asm|__asm__|__asm)\b\s*(?:(?:volatile|__volatile__|__volatile)\b\s*)?\("
_TEMPLATE = r'\s*(?:"(?:\\.|[^"\\\n])*"\s*)+'
# Marks of PTX: an instruction with a type or a memory space after a dot, or one of its registers.
# Other assemblers have directives that begin with a dot.
_PTX = (
    r"(?<![.\w])[a-z]\w*(?:\.\w+)+[\s;]"
    r"|\b(?:trap|exit|brkpt)\s*;"
    r"|%(?:laneid|warpid|nwarpid|smid|nsmid|gridid|clock|globaltimer|lanemask_|n?tid\.|n?ctaid\.)"
)
#: Words in the messages of compilers about inline assembly.
_COMPLAINT = r"(?i)asm|assembler|instruction|constraint|mnemonic|error in backend"


def lines(source: str) -> list[int]:
    """Return the numbers of the lines where inline PTX begins."""
    if "asm" not in source:
        return []
    blank = comments.blanked(source)
    starts = [match.end() for match in re.finditer("\n", source)]
    found = []
    for match in re.finditer(_ASM, blank):
        template = re.compile(_TEMPLATE).match(source, match.end())
        if template and re.search(_PTX, template.group() + ";"):
            found.append(bisect.bisect_right(starts, match.start()) + 1)
    return list(dict.fromkeys(found))


def hint(source: str, log: str) -> str:
    """Return advice for a text that does not compile; often nothing."""
    found = lines(source) if re.search(_COMPLAINT, log) else []
    if not found:
        return ""
    several = len(found) > 1
    named = ", ".join(map(str, found[:8])) + (", ..." if len(found) > 8 else "")
    return (
        f"line{'s' if several else ''} {named} hold{'' if several else 's'} inline PTX (asm), the "
        "assembly language of NVIDIA's GPUs, which this target does not understand"
    )
