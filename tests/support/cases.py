"""Cases that share one process, since a process costs more than most of them."""


def in_turn(begin, cases):
    """Return a program that runs each case after `begin`, with names of its own.

    `cases` maps names to programs; a traceback shows the name of the case that fails.
    """
    return f"""
for name, text in {dict(cases)!r}.items():
    exec(compile({begin!r} + text, name, "exec"), {{"__name__": name}})
"""
