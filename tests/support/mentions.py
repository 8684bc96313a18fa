"""Names that a test uses, found in its source text.

The search includes the objects that the test refers to in the same file (fixtures, helpers,
constants, parameters), and the texts of programs.
"""

import ast
import re
from functools import cache
from pathlib import Path

TESTS = Path(__file__).resolve().parents[1]

# {special method: its spelling in the text of a test}
SPECIAL = {
    "__abs__": "abs",
    "__bool__": "bool",
    "__call__": "()",
    "__copy__": "copy",
    "__deepcopy__": "deepcopy",
    "__getattr__": "getattr",
    "__hash__": "hash",
    "__index__": "index",
    "__int__": "int",
    "__len__": "len",
    "__reduce__": "pickle",
    "__repr__": "repr",
    "__str__": "str",
    "__getitem__": "[]",
    "__setitem__": "[]=",
    "__main__": "main",
}
OPERATORS = {
    ast.Add: "add",
    ast.Sub: "sub",
    ast.Mult: "mul",
    ast.Div: "truediv",
    ast.Pow: "pow",
    ast.USub: "neg",
    ast.UAdd: "pos",
    ast.Eq: "eq",
    ast.NotEq: "ne",
    ast.Lt: "lt",
    ast.LtE: "le",
    ast.Gt: "gt",
    ast.GtE: "ge",
}


def spellings(name):
    """Return the spellings of a name of the contract in tests: "__radd__" also as "add"."""
    found = {name, SPECIAL.get(name, name)}
    if operator := re.fullmatch(r"__([ri]?)(\w+)__", name):
        found |= {operator[2], operator[1] + operator[2]}
    return found


def words(node):
    """Return all names, attributes, keywords, words of strings and operators in a syntax tree.

    An f-string that is a name becomes a pattern such as "memset_d*"; the text in place of the star
    must be a word of the test as well.
    """
    found = set()
    for one in ast.walk(node):
        if isinstance(one, ast.Name):
            found.add(one.id)
        elif isinstance(one, ast.Attribute):
            found.add(one.attr)
        elif isinstance(one, (ast.keyword, ast.arg)):
            found.add(one.arg)
        elif isinstance(one, ast.alias):
            found |= {one.name.split(".")[-1], one.asname}
        elif isinstance(one, ast.Constant) and isinstance(one.value, str):
            found |= set(re.findall(r"\w+", one.value))
        elif isinstance(one, ast.Constant):
            found.add(str(one.value))
        elif isinstance(one, ast.JoinedStr):
            parts = (one.value if isinstance(one, ast.Constant) else "*" for one in one.values)
            found |= {
                word for word in "".join(parts).split() if re.fullmatch(r"[\w*]*[*][\w*]*", word)
            }
        elif isinstance(one, ast.Call):
            found.add("()")
        elif isinstance(one, ast.Subscript):
            found.add("[]" if isinstance(one.ctx, ast.Load) else "[]=")
        elif type(one) in OPERATORS:
            found.add(OPERATORS[type(one)])
    return found - {None}


@cache
def parts(file):
    """Return {name: (words, names that it refers to)} of a file's top-level definitions."""
    tree = ast.parse((TESTS / file).read_text())
    found = {}
    for node in tree.body:
        if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
            names = [node.name]
        elif isinstance(node, (ast.Assign, ast.AugAssign, ast.AnnAssign)):
            names = [one.id for one in ast.walk(node) if isinstance(one, ast.Name)][:4]
            names = [name for name in names if name.isidentifier()]
        elif isinstance(node, ast.ImportFrom) and (TESTS / f"support/{node.module}.py").exists():
            there = parts(f"support/{node.module}.py")
            found.update(
                {a.asname or a.name: there.get(a.name, (set(), set())) for a in node.names}
            )
            continue
        elif isinstance(node, (ast.Import, ast.ImportFrom)):
            found.update({a.asname or a.name: ({a.name}, set()) for a in node.names})
            continue
        else:
            continue
        refers = {one.id for one in ast.walk(node) if isinstance(one, ast.Name)}
        refers |= {one.arg for one in ast.walk(node) if isinstance(one, ast.arg)}  # fixtures
        for name in names:
            before = found.get(name, (set(), set()))
            found[name] = before[0] | words(node), before[1] | refers
    return found


@cache
def mentioned(file, test):
    """Return all words of a test; raise KeyError if the file has no such test."""
    defined = parts(file)
    found, queue, seen = set(), [test], set()
    while queue:
        name = queue.pop()
        if name not in seen:
            seen.add(name)
            found |= defined[name][0]
            queue += defined[name][1] & defined.keys()
    return found


def uses(file, test, name):
    """Report whether a test uses a name of the contract."""
    return any(spelled(one, mentioned(file, test)) for one in spellings(name))


def spelled(name, found):
    """Report whether a name is a word of the text, or matches a pattern made of other words."""
    if name in found:
        return True
    for pattern in (word for word in found if "*" in word):
        match = re.fullmatch(pattern.replace("*", r"(\w+?)"), name)
        if match and all(spelled(part, found - {pattern}) for part in match.groups()):
            return True
    return False
