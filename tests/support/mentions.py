"""Which names a test uses, read off its text: in its body, and in what that refers to in the same
file (fixtures, helpers, constants, parameters), texts of programs included."""

import ast
import re
from functools import cache
from pathlib import Path

TESTS = Path(__file__).resolve().parents[1]

# What stands for a special method in the text of a test.
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
    """How a test may write a name of the contract: "__radd__" as "add", too."""
    found = {name, SPECIAL.get(name, name)}
    if operator := re.fullmatch(r"__([ri]?)(\w+)__", name):
        found |= {operator[2], operator[1] + operator[2]}
    return found


def words(node):
    """All names, attributes, keywords, words of texts and operators in a syntax tree. Of f-strings
    that are names, patterns: "memset_d*", where what stands for the star must be a word, too."""
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
    """{name: (words, names)} of what a file defines at its top: what it mentions and refers to."""
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
    """All words of a test; KeyError where the file has no such test."""
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
    """Does a test use a name of the contract?"""
    return any(spelled(one, mentioned(file, test)) for one in spellings(name))


def spelled(name, found):
    """Is it a word of the text, or made by a pattern there out of words and of other patterns?"""
    if name in found:
        return True
    for pattern in (word for word in found if "*" in word):
        match = re.fullmatch(pattern.replace("*", r"(\w+?)"), name)
        if match and all(spelled(part, found - {pattern}) for part in match.groups()):
            return True
    return False
