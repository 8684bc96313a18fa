"""Comments, literals and directives in a text, replaced by spaces."""

from __future__ import annotations

import re

# Literals are matched because their contents may look like comments; unterminated ones end with
# their line. Numbers are matched because the separators of their digits look like literals.
_TOKEN = (
    r"(?s)//(?:[^\\\n]|\\[ \t\r]*\n|\\)*"
    r"|/\*.*?(?:\*/|\Z)"
    r'|R"(?:(?<![A-Za-z0-9_]R")|(?<=\b[uUL]R")|(?<=\bu8R"))([^()\\\s]{0,16})\(.*?(?:\)\1"|\Z)'
    r'|"(?:\\.|[^"\\\n])*"?'
    r"|'(?:\\.|[^'\\\n])*'?"
    r"|(?<![A-Za-z0-9_])[0-9](?:'?[A-Za-z0-9_.])*"
)


def _blank(match: re.Match[str]) -> str:
    token = match.group()
    if token[0] == "/":
        return re.sub(r"[^\n]", " ", token)
    if token[0].isdigit():
        return token
    opening = token.index('"') + 1 if token[0] == "R" else 1
    closing = token[-1] if len(token) > opening and token[-1] == token[opening - 1] else ""
    inside = token[opening : len(token) - len(closing)]
    return token[:opening] + re.sub(r"[^\n]", " ", inside) + closing


def blanked(text: str) -> str:
    """Return the text with spaces for comments and the contents of literals; indices are kept."""
    return re.sub(_TOKEN, _blank, text)


def spaces(match: re.Match[str]) -> str:
    """Return as many spaces as a match has characters; line breaks are kept."""
    return re.sub(r"[^\n]", " ", match.group())


def without_directives(text: str) -> str:
    """Return a text without comments, with spaces for its directives; indices are kept."""
    return re.sub(r"(?m)^[ \t]*#(?:[^\n]*\\\n)*[^\n]*", spaces, text)


def without_comments(text: bytes) -> bytes:
    """Return the text with a space for each comment."""

    def spaced(match: re.Match[bytes]) -> bytes:
        return b" " if match.group().startswith(b"/") else match.group()

    return re.sub(_TOKEN.encode(), spaced, text)
