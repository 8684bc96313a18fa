"""Parsers of the commands of ``python -m PyGPU``, whose help shows examples."""

from __future__ import annotations

import argparse
import os
import sys
import textwrap
from collections.abc import Sequence
from typing import Any

_WIDTH = 79


def program() -> str:
    """Return the name by which the user has called the program."""
    is_script = os.path.basename(sys.argv[0]) == "pygpu"
    return "pygpu" if is_script else "python -m PyGPU"


def paragraphs(text: str) -> str:
    """Return a text whose paragraphs, separated by empty lines, are filled."""
    return "\n\n".join(textwrap.fill(" ".join(one.split()), _WIDTH) for one in text.split("\n\n"))


def example_lines(command: str, examples: Sequence[tuple[str, str]]) -> str:
    """Return examples as lines: a comment with the meaning, and the command line below it."""
    lines = ["examples:"]
    for words, meaning in examples:
        lines += [f"  # {meaning}", f"  {' '.join(filter(None, [program(), command, words]))}"]
    return "\n".join(lines)


def parser(
    command: str, description: str, examples: Sequence[tuple[str, str]], **options: Any
) -> argparse.ArgumentParser:
    """Return the parser of a command.

    :param command: Name of the command.
    :param description: What the command does, in paragraphs.
    :param sequence of (str, str) examples: Words after the command, and their meaning.
    :param object **options: Further arguments of ArgumentParser.
    :returns argparse.ArgumentParser: Parser that accepts no abbreviated options.
    """
    return argparse.ArgumentParser(
        prog=f"{program()} {command}",
        description=paragraphs(description),
        epilog=example_lines(command, examples),
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
        **options,
    )
