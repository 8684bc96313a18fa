"""Generator of docs/settings.md, from the table in PyGPU/_runtime/settings.py.

python tests/support/settings_page.py > docs/settings.md
"""

from PyGPU._runtime import settings

HEAD = """\
# Environment variables

PyGPU reads these variables. A value that a variable does not accept draws a `PyGPU.SettingWarning`
at import, which names the variable, its value, the expected values and the default; the default is
then in force. `PYGPU_TARGET` is the exception: a program must not run on another target than the
one it asks for, so an invalid value is an `ImportError`.

Sizes are bytes, or numbers with a suffix: `64K`, `512M`, `1GB`, `1.5G`. An empty value counts as
not set. C++ reads its variables when it first needs them; Python reads its own at each use.

`python tests/support/settings_page.py > docs/settings.md` generates this page.

"""


def page():
    """Return the text of docs/settings.md."""
    return HEAD + settings.table()


if __name__ == "__main__":
    print(page(), end="")
