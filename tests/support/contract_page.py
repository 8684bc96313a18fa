"""Generator of docs/pycuda.md, from the table in contract_names.py and from the package.

python tests/support/contract_page.py > docs/pycuda.md
"""

import dis
import importlib
import importlib.util
import inspect
import re
from pathlib import Path
from types import SimpleNamespace
from typing import NamedTuple

from contract_names import MODULES
from driver_numbers import members
from vector_names import NAMES as VECTORS

from PyGPU import driver
from PyGPU._compile.source import headers

STATES = ("same", "better", "differs", "absent")
CLAIM = re.compile(f"({'|'.join(STATES)}): ")
PROMISED = re.compile(r"`(\w+)=`")  # parameters in a note
NAME = re.compile(r"([\w.]+)(?:\(([^)]*)\))?")
HEAD = """\
# PyCUDA's names in PyGPU

This page lists the names of PyCUDA 2026.1, in the order in which programs meet them:

- *same*: works as in PyCUDA;
- *better*: works as in PyCUDA, with the stated improvement;
- *differs*: exists, with the stated difference;
- *absent*: does not exist, or raises a `NotImplementedError` with the reason.

A name that begins with a dot is a member of the class before it. The last section lists PyGPU's
additional names. [migration.md](migration.md) describes the port of programs from PyCUDA's early
years.

`python tests/support/contract_page.py > docs/pycuda.md` generates this page from the package and
from [a table](../tests/support/contract_names.py). [A test](../tests/test_contract_page.py) checks
that both agree.
"""
# Argument for calls that must raise NotImplementedError; some methods pass it on to a module.
NOBODY = SimpleNamespace(module=object.__new__(driver.Module))


class Name(NamedTuple):
    """A name of PyCUDA: its module, its path in the module, its spelling in the table."""

    module: str
    path: str
    shown: str
    parameters: tuple


class Row(NamedTuple):
    """Names of a section, and the table's claim about them."""

    section: str
    names: list
    claim: str
    note: str


def rows(module):
    """Return the rows of a module's table."""
    made, section = [], ""
    for line in MODULES[module].strip().splitlines():
        if line.startswith("# "):
            section = line[2:]
        elif line and not line.startswith(" "):
            made.append([section, line, ""])
        elif line:
            is_note = made[-1][2] or CLAIM.match(line.strip())
            made[-1][2 if is_note else 1] += f" {line.strip()}"
    return [Row(where, names_in(module, text), *claim_in(note)) for where, text, note in made]


def names_in(module, text):
    found, owner = [], ""
    for written, parameters in NAME.findall(text):
        owner = owner if written[0] == "." else written.split(".")[0]
        path = owner + written if written[0] == "." else written
        members = members_of(written, parameters)
        wanted = () if members else tuple(re.findall(r"\w+", parameters))
        found.append(Name(module, path, written, wanted))
        found += [Name(module, f"{path}.{name}", f".{name}", ()) for name in members]
    return found


def members_of(name, what):
    if what == "enumeration":
        return list(members(name))
    return [*VECTORS, *(f"make_{one}" for one in VECTORS)] if what == "vectors" else []


def claim_in(note):
    claim, _, reason = note.strip().partition(": ")
    return claim or "same", reason


def found(name):
    """Return PyGPU's object of a name, or raise AttributeError or ModuleNotFoundError."""
    if name.module.endswith(".hpp"):
        return header(name)
    if name.module.startswith("auto") or name.module == "_mymako":
        # Do not import the module: that would make a context, or need another package.
        code = importlib.util.find_spec(f"PyGPU.{name.module}").loader.get_code
        if name.path not in code(f"PyGPU.{name.module}").co_names:
            raise AttributeError(name.path)
        return None
    thing = importlib.import_module(f"PyGPU.{name.module}".rstrip("."))
    if name.path == "__main__":
        return thing.main
    for part in name.path.split("."):
        if inspect.ismodule(thing) and not hasattr(thing, part):
            thing = submodule(thing, part)
        else:
            thing = member(thing, part) if isinstance(thing, type) else getattr(thing, part)
    return thing


def submodule(module, name):
    try:
        return importlib.import_module(f"{module.__name__}.{name}")
    except ImportError:
        raise AttributeError(name) from None


def header(name):
    texts = [
        path.read_text()
        for path in sorted(Path(headers.folder("device")).glob(f"{Path(name.module).stem}*"))
    ]
    text = "".join(line for text in texts for line in text.splitlines(True) if "//" not in line)
    made = rf"PYGPU_[A-Z]+\({name.path},|typedef \w+ {name.path};"
    if not re.search(rf"class {name.path} |> {name.path}\(|T {name.path}\(|{made}", text):
        raise AttributeError(name.path)


def member(cls, name):
    """Return a member of the class; None for an attribute that only its methods set."""
    is_special = name.startswith("__")
    if not is_special or any(name in vars(base) for base in cls.__mro__[:-1]):
        try:
            return getattr(cls, name)
        except AttributeError:
            if cls.__name__ in ("Memcpy2D", "Memcpy3D"):
                return getattr(cls(), name)
            if sets(cls, name):
                return None
    raise AttributeError(f"{cls.__name__}.{name}")


def sets(cls, name):
    return any(
        step.opname == "STORE_ATTR" and step.argval == name
        for base in cls.__mro__
        for function in vars(base).values()
        if inspect.isfunction(function)
        for step in dis.get_instructions(function)
    )


def refuses(thing):
    """Report whether a call raises NotImplementedError."""
    required = [
        one
        for one in inspect.signature(thing).parameters.values()
        if one.default is one.empty and one.kind in (one.POSITIONAL_ONLY, one.POSITIONAL_OR_KEYWORD)
    ]
    try:
        thing(*[NOBODY] * len(required))
    except NotImplementedError:
        return True
    except Exception:
        return False
    return False


def status(name, claim):
    """Return the claim as far as the package confirms it."""
    try:
        thing = found(name)
    except (AttributeError, ModuleNotFoundError):
        return "absent"
    if claim == "absent":
        return "absent" if refuses(thing) else "same"
    return claim


def parameters(thing):
    """Return the names of the parameters: from the signature or, for C++, from the docstring."""
    try:
        names = set(inspect.signature(thing).parameters)
    except (TypeError, ValueError):
        names = set()
    if names <= {"self", "args", "kwargs"}:
        names |= set(re.findall(r"\b(\w+)\s*[:=]", thing.__doc__ or ""))
    return names


def summary(thing):
    """Return the first sentence of the docstring, without the signature of C++ functions."""
    if type(thing).__name__ == "wrapper_descriptor" or not (
        callable(thing) or isinstance(thing, property)
    ):
        return ""
    parts = [part for part in re.split(r"\n\s*\n", inspect.getdoc(thing) or "") if part]
    if parts and re.match(rf"{getattr(thing, '__name__', '')}\(.*\) -> ", parts[0]):
        del parts[0]
    text = re.sub(r":\w+:`~?([^`]*)`", r"`\1`", " ".join(parts[:1]).replace("\n", " "))
    return re.split(r"(?<=\.) ", text)[0].replace("|", "\\|")


def beyond(module):
    """Return [(name, summary)] of the names that the table lacks."""
    live = importlib.import_module(f"PyGPU.{module}")
    typing = {"TYPE_CHECKING", "annotations"}  # names for the type checker
    public = [name for name in vars(live) if not name.startswith("_") and name not in typing]
    names = getattr(live, "__all__", public)
    things = {name: getattr(live, name) for name in names}
    if module == "gpuarray":
        things.update((f"GPUArray.{name}", thing) for name, thing in own_members(live.GPUArray))
    known = {name.path for row in rows(module) for name in row.names}
    return [
        (name, summary(thing))
        for name, thing in sorted(things.items())
        if name not in known and not inspect.ismodule(thing) and not elsewhere(name, thing, module)
    ]


def own_members(cls):
    """Return [(name, member)] of the members to list.

    Members of all objects, reflected operators and None are left out.
    """
    names = set(dir(cls)) - set(dir(object)) - {"__array__", "__delitem__"}
    special = {name for name in names if re.match(r"__\w+__$", name)}
    reflected = {name for name in special if name[2] in "ri" and f"__{name[3:]}" in special}
    public = {name for name in names if not name.startswith("_")}
    members = [(name, getattr(cls, name, None)) for name in public | special - reflected]
    return [(name, one) for name, one in members if callable(one) or isinstance(one, property)]


def elsewhere(name, thing, module):
    """Report whether the object belongs to another module."""
    return any(
        one.path == name and found(one) is thing
        for other in MODULES
        if other != module
        for row in rows(other)
        for one in row.names
        if row.claim != "absent"
    )


def contract(module, total):
    """Return the confirmed claims about a module as text; count the names in `total`."""
    text, found = [], rows(module)
    sections = list(dict.fromkeys(row.section for row in found))
    for section in sections:
        text += ["", f"### {section}"] if len(sections) > 1 else []
        text += ["", "| name | in PyGPU |", "|---|---|"]
        for row in found:
            if row.section == section:
                text += lines(row, total)
    return text


def lines(row, total):
    """Yield the line of a row, or several lines if the package does not confirm the claim."""
    made = {}
    for name in row.names:
        made.setdefault(status(name, row.claim), []).append(name)
    for state, names in made.items():
        total[state] += len(names)
        shown = [names[0].path, *(name.shown for name in names[1:])]
        claim = f"{state}: {row.note}" if row.note and state == row.claim else state
        yield f"| {' '.join(f'`{one}`' for one in shown)} | {claim} |"


def more(module):
    """Return the module's additional names as text; undocumented names share one line."""
    found = beyond(module)
    undocumented = " ".join(f"`{name}`" for name, summary in found if not summary)
    text = [f"| {undocumented} | |"] if undocumented else []
    text += [f"| `{name}` | {summary} |" for name, summary in found if summary]
    return (
        ["", f"### `PyGPU.{module}`", "", "| name | description |", "|---|---|", *text]
        if text
        else []
    )


def page():
    """Return the text of docs/pycuda.md."""
    text, total = [], dict.fromkeys(STATES, 0)
    for module in MODULES:
        title = module if module.endswith(".hpp") else f"pycuda.{module}".rstrip(".")
        text += ["", f"## `{title}`", *contract(module, total)]
    text += ["", "## Beyond PyCUDA"]
    for module in MODULES:
        if module.isidentifier() and not module.startswith(("auto", "_")) and exists(module):
            text += more(module)
    counts = ", ".join(
        f"{total[state]} {state}" for state in ("same", "better", "differs", "absent")
    )
    return "\n".join([f"{HEAD}Names: {counts}.", *text, ""])


def exists(module):
    return importlib.util.find_spec(f"PyGPU.{module}") is not None


if __name__ == "__main__":
    print(page(), end="")
