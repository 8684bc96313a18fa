"""Pages of the site that show a file from outside of docs/, and links to these files.

The source of such a page is "This page shows [name](path).", a link for readers of the repository.
The site replaces it with the file's text. In all pages, links to such files lead to these pages.
"""

import os
import re
from pathlib import Path

DOCS = Path(__file__).resolve().parent
SHOWN = re.compile(r"\AThis page shows \[[^]]*\]\(([^)]*)\)\.\s*\Z")
LINK = re.compile(r"(\]\()([^)#:\s]+)((?:#[^)]*)?\))")


def shown_file(page):
    """Return the file that a page shows, or None."""
    found = SHOWN.match(page.read_text("utf-8"))
    return (page.parent / found[1]).resolve() if found else None


#: Pages of files and folders from outside of docs/.
PAGES = {shown_file(page): page for page in DOCS.rglob("*.md") if shown_file(page)}
PAGES[DOCS.parent / "examples" / "gallery"] = DOCS / "gallery" / "index.rst"  # by sphinx-gallery


def moved(text, old, new):
    """Return a text of the folder `old` with the links that it needs in the folder `new`.

    A link to a folder without a page leads to the README.md in it, or in the folder above.
    """

    def link(match):
        path = (old / match[2]).resolve()
        if path.is_dir() and path not in PAGES:
            readmes = (folder / "README.md" for folder in (path, path.parent))
            path = next((each for each in readmes if each.exists()), path)
        return match[1] + os.path.relpath(PAGES.get(path, path), new) + match[3]

    return LINK.sub(link, text)


def read_source(app, name, source):
    """Replace the text of a page by the shown file's, and its links. For Sphinx's source-read."""
    page = Path(app.env.doc2path(name))
    if page.suffix != ".md":
        return
    file = shown_file(page)
    if file:
        app.env.note_dependency(str(file), docname=name)
        source[0] = file.read_text("utf-8")
    source[0] = moved(source[0], (file or page).parent, page.parent)
