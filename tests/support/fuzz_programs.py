"""Random programs for tests/fuzz.py, whose statements mean the same for GPUArrays and ndarrays.

A program is a list of steps; a step is a statement. `put` converts to an array (a GPUArray, or an
ndarray with its own memory). `apart` copies an operand if NumPy does not define overlapping reads
and writes. Programs avoid PyGPU's differences from NumPy: complex numbers have no minima, and
`real` is not a view.
"""

import math
from typing import NamedTuple

import numpy as np
from fuzz_reductions import Reductions
from fuzz_vocabulary import BINARY, COMPARISONS, DTYPES, OPERATORS, UNARY

LARGE = [(64,), (1000,), (5003,), (33, 40), (64, 64), (3, 48, 17), (130, 2), (2, 300), (4096, 1)]


class Step(NamedTuple):
    """A statement, the variable that it assigns or changes, and the error bound of its value."""

    text: str
    target: str
    ulps: float = 0  # 0: exact to the last bit; below 1: exact except for the sign of zeros
    scale: str = ""  # expression that errors are relative to; the result itself by default


class Draw(Reductions):
    """Draws a program step by step; `both` runs each step at once and has the current ndarrays."""

    def __init__(self, rng, words, both):
        self.rng, self.words, self.both = rng, words, both
        self.arrays, self.count = both.theirs, 0

    def program(self):
        for _ in range(self.one([1, 2, 2, 3])):
            self.made(self.shape(), self.one(self.words.dtypes))
        kinds = [self.view, self.view, self.index, self.assign, self.operate, self.operate]
        kinds += [self.in_place, self.in_place, self.binary, self.unary, self.fold, self.fold]
        kinds += [self.take, self.join, self.choose, self.cast, self.fill, self.statistic]
        kinds += [self.accumulate, self.rearrange, self.rearrange]
        computing = (self.operate, self.in_place, self.binary, self.unary, self.choose, self.join)
        computing += (self.statistic, self.accumulate)
        for _ in range(self.rng.randint(2, 9)):
            kind, name = self.one(kinds), self.one(self.names())
            known = self.arrays[name].dtype in self.words.dtypes
            if known or kind not in computing or self.often(3):  # few types, few kernels
                kind(name)

    def give(self, text, target=None, ulps=0, scale=""):
        """Run a statement, or assign an expression to a new variable, and return the variable."""
        if target is None:
            target, text = f"v{self.count}", f"v{self.count} = {text}"
            self.count += 1
        self.both.run(Step(text, target, ulps, scale))
        return target

    # Names, numbers, shapes.

    def one(self, values):
        return self.rng.choice(values)

    def often(self, percent):
        return self.rng.random() * 100 < percent

    def names(self):
        return [name for name in self.arrays if name[1:].isdigit()]

    def shape(self):
        if self.often(10):
            return self.one(LARGE)
        lengths = [1, 2, 2, 3, 3, 4, 5, 7, 8]
        axes = min(self.one([0, 1, 1, 2, 2, 2, 3, 4]), self.words.most_axes)
        shape = [self.one(lengths) for _ in range(axes)]
        if shape and self.often(6):
            shape[self.rng.randrange(len(shape))] = 0
        return tuple(shape)

    def literal(self, dtype):
        rng = self.rng
        if dtype.kind == "b":
            return self.one(["True", "False"])
        if dtype.kind in "iu":
            info = np.iinfo(dtype)
            ends = [info.min, info.min + 1, info.max, info.max - 1, info.max // 2 + 1]
            small = rng.randint(max(int(info.min), -9), 9)
            return str(self.one(ends) if self.often(15) else small)
        if dtype.kind == "c":
            return f"{rng.randint(-24, 24) / 8}{rng.randint(-24, 24) / 8:+}j"
        special = ["inf", "-inf", "nan", "-0.0", "6e-05", "6e4", "0.1"]
        return self.one(special) if self.often(15) else repr(rng.randint(-40, 40) / 8)

    def number(self, dtype, scalars=True):
        """Return the text of a number to combine with an array: Python's, or a NumPy scalar."""
        if scalars and self.often(20):
            dtype = self.one(self.words.dtypes)
            return f"np.{dtype.name}({self.literal(dtype)})" if dtype.kind != "b" else "True"
        if self.often(15):
            return self.one(["True", "2.5", "3", "-1", "0", "300", "1.5j"])
        return self.literal(dtype)

    def made(self, shape, dtype):
        """Assign an array of a shape, with a few repeated numbers, to a new variable."""
        numbers = ", ".join(self.literal(dtype) for _ in range(self.rng.randint(1, 11)))
        text = f"np.resize(np.array([{numbers}], {dtype.char!r}), {shape})"
        if shape and self.often(15):
            text = f"np.asfortranarray({text})"
        return self.give(f"put({text})")

    # Operands: texts, and their ndarrays.

    def value(self, text):
        return eval(text, self.arrays)

    def operand(self, name):
        """Return the text of the variable or of a view of it."""
        array = self.arrays[name]
        if array.ndim and self.often(40):
            return self.one([f"{name}[{self.basic(array.shape)}]", f"{name}.T"])
        return name

    def partner(self, shape, dtypes):
        """Return an operand that broadcasts with a shape: a view of a variable, or a new one."""
        names = self.names()
        for name in self.rng.sample(names, len(names)):
            text = self.operand(name)
            array = self.value(text)
            if array.dtype in dtypes and _size_together(array.shape, shape) <= 20_000:
                return text
        lengths = tuple(1 if self.often(20) else length for length in shape)
        return self.made(lengths[self.often(20) :], self.one(dtypes))

    def into(self, shape, dtype):
        """Return a target of a shape and dtype: a variable, a view of one, or a new variable."""
        for name in self.names():
            text = self.operand(name)
            array = self.value(text)
            if array.dtype == dtype and array.shape == shape:
                return text
        return self.made(shape, np.dtype(dtype))

    def basic(self, shape):
        """Return the text of a key of slices, ints, None and one `...`, whose result is a view."""
        items = []
        for length in shape[: self.rng.randint(0, len(shape))]:
            if length and self.often(25):
                items.append(str(self.rng.randint(-length, length - 1)))
                continue
            bounds = ["", "", "", *range(-length - 1, length + 2)]
            step = self.one(["", "", ":2", ":-1", ":-1", ":-2", ":3"])
            items.append(f"{self.one(bounds)}:{self.one(bounds)}{step}")
        if self.often(15):
            items.insert(self.rng.randint(0, len(items)), "None")
        return ", ".join([*items, "..."])

    def key(self, shape):
        """Return the text of a key with masks or index arrays, and whether elements may repeat."""
        items, twice, made = [], False, self.one([(3,), (2, 2), (1,), (0,), (7,)])
        axis = 0
        while axis < len(shape) and not (items and self.often(15)):
            length = shape[axis]
            masks = [name for name in self.names() if self._is_mask(name, shape[axis:])]
            if masks and self.often(60):
                items.append(f"apart({self.one(masks)})")
                axis += self.arrays[items[-1][6:-1]].ndim
                continue
            axis += 1
            if length == 0 or self.often(30):
                items.append(self.one([":", "::-1", "1:"]))
            elif self.often(15):
                items.append(str(self.rng.randint(-length, length - 1)))
            else:
                flat = [self.rng.randint(-length, length - 1) for _ in range(math.prod(made))]
                code = "q" if min(flat, default=0) < 0 else self.one("qibQ")
                code = "q" if length > 127 else code
                text = f"np.array({flat}, {code!r}).reshape({made})"
                items.append(f"put({text})" if self.often(60) else text)
                twice = True
        if "np" not in "".join(items) and "apart" not in "".join(items):
            items.append("...")  # NumPy would return a scalar without it
        return ", ".join(items), twice

    def _is_mask(self, name, shape):
        array = self.arrays[name]
        return array.dtype == "?" and array.ndim and array.shape == shape[: array.ndim]

    # Steps; each uses a given variable.

    def view(self, name):
        array = self.arrays[name]
        choice = self.one(["basic", "basic", "T", "axes", "shape", "dtype", "squeeze", "part"])
        if choice == "basic":
            self.give(f"{name}[{self.basic(array.shape)}]")
        elif choice == "T":
            self.give(f"{name}.T")
        elif choice == "axes":
            axes = self.rng.sample(range(array.ndim), array.ndim)
            self.give(f"{name}.transpose({tuple(axes)})")
        elif choice == "shape" and array.size:
            lengths = self.rng.sample(array.shape, array.ndim)
            if self.often(50):
                lengths = [-1, *lengths[: self.one([0, 1])]]
            elif len(lengths) > 1:
                lengths = [lengths[0] * lengths[1], *lengths[2:]]
            # Copy, unless both libraries certainly return a view.
            ending = "" if self.both.contiguous(name) else ".copy()"
            self.give(f"np.reshape({name}, {tuple(lengths)}){ending}")
        elif choice == "dtype" and array.ndim and self.both.contiguous(name):
            dtype = self.one([one for one in self.words.dtypes if one != "?"])
            self.give(f"{name}.view({dtype.char!r})")
        elif choice == "squeeze":
            self.give(f"{name}.squeeze()")
        elif choice == "part":
            self.give(f"{name}.{self.one(['real', 'imag'])}.copy()")

    def index(self, name):
        if self.arrays[name].ndim:
            self.give(f"{name}[{self.key(self.arrays[name].shape)[0]}]")

    def assign(self, name):
        array = self.arrays[name]
        twice, key = False, self.basic(array.shape)
        if array.ndim and self.often(50):
            key, twice = self.key(array.shape)
        try:
            shape = self.value(f"{name}[{key}]").shape
        except IndexError:  # index arrays that do not broadcast
            return
        dtypes = [array.dtype]
        if "np" in key or "apart" in key:
            dtypes = [one for one in DTYPES if np.can_cast(one, array.dtype, "same_kind")]
        if twice or self.often(35) or not dtypes:
            value = self.literal(array.dtype)
        else:
            value = self.partner(shape, dtypes)
            found = self.value(value)
            if _size_together(found.shape, shape) != math.prod(shape):
                return
            if "apart" in key and found.ndim > 1:  # NumPy accepts values of one axis only for masks
                return
            value = f"apart({value})" if "np" in key or "apart" in key else value
        self.give(f"{name}[{key}] = {value}", name)

    def _known(self, table, array, other=None):
        good, ulps = table
        kind = np.result_type(array, array if other is None else other).kind
        return kind in good, ulps if kind in "fc" else 0

    def operate(self, name):
        symbol = self.one(self.words.operators)
        left = self.operand(name)
        array = self.value(left)
        right = self.partner(array.shape, self.words.dtypes)
        if self.often(30):
            right = self.number(array.dtype)
        sides = [left, right] if self.often(70) else [right, left]
        self._binary(f"{{}} {symbol} {{}}", OPERATORS[symbol], sides)

    def binary(self, name):
        function = self.one(self.words.binary)
        left = self.operand(name)
        array = self.value(left)
        right = self.partner(array.shape, self.words.dtypes)
        if self.often(20):  # NumPy's logical functions reject Python integers beyond 63 bits
            right = "3" if "logical" in function else self.number(array.dtype)
        self._binary(f"np.{function}({{}}, {{}})", BINARY[function], [left, right])

    def _binary(self, form, entry, sides):
        good, ulps = entry
        left, right = map(self.value, sides)
        common = np.result_type(left, right)
        if common.kind not in good or not self._defined(form, left, right):
            return
        if common.kind == "c" and any(word in form for word in ("*", "/", "multiply", "divide")):
            ulps = 16
        text = form.format(*sides)
        if form.startswith("np.") and self.often(40):
            with np.errstate(all="ignore"):
                try:
                    dtype = self.value(text).dtype
                except (TypeError, OverflowError):
                    return
            shape = np.broadcast_shapes(np.shape(left), np.shape(right))
            # NumPy 2.4 and 2.5 crash for np.equal(int8 array, 300, out=..., where=...).
            # The mask overlaps nothing: NumPy may read what it has written.
            if self.often(25) and not isinstance(left, int) and not isinstance(right, int):
                target = self.made(shape, np.dtype(dtype))
                mask = self.mask(shape)
                return self.give(f"{text[:-1]}, out={target}, where={mask})", target, ulps)
            target = self.into(shape, dtype)
            name = target.split("[")[0].split(".")[0]
            self.give(f"{text[:-1]}, out={target})", name, ulps)
            return
        self.give(text, None, ulps)

    def _defined(self, form, left, right):
        """Report whether an operation is defined: integers have no negative powers."""
        if "**" not in form and "power" not in form:
            return True
        return np.result_type(left, right).kind not in "biu" or not (np.asarray(right) < 0).any()

    def in_place(self, name):
        target = self.operand(name)
        target += "[...]" if target.endswith(".T") else ""
        array = self.value(target)
        symbol = self.one(self.words.operators)
        good, ulps = OPERATORS[symbol]
        if symbol in COMPARISONS or array.dtype.kind not in good:
            return
        if array.dtype.kind == "b" and symbol not in "+*&|^":
            return
        dtypes = [one for one in self.words.dtypes if self._stays(array.dtype, one)]
        if self.often(30) or not dtypes:
            right = self.number(array.dtype, scalars=False)
            if np.result_type(array, self.value(right)) != array.dtype:
                return
        else:
            right = self.partner(array.shape, dtypes)
            if _size_together(self.value(right).shape, array.shape) != array.size:
                return
        if not self._defined(symbol, array, self.value(right)):
            return
        if array.dtype.kind == "c" and symbol in "*/":
            ulps = 16
        self.give(f"{target} {symbol}= {right}", name, ulps)

    def _stays(self, dtype, other):
        """Report whether an in-place operation with an array of another dtype matches NumPy's."""
        if dtype.kind in "biu":
            return dtype == other
        return np.result_type(dtype, other) == dtype

    def unary(self, name):
        function, text = self.one(self.words.unary), self.operand(name)
        array = self.value(text)
        good, ulps = UNARY[function]
        if array.dtype.kind not in good:
            return
        if function == "reciprocal" and array.dtype.kind in "biu" and not array.all():
            return  # 1 / 0 is undefined for integers in C
        if array.dtype.kind == "c" and function in ("absolute", "square"):
            ulps = 16
        self.give(f"np.{function}({text})", None, ulps)

    def take(self, name):
        array = self.arrays[name]
        size = array.size
        mode = self.one(["raise", "clip", "wrap"])
        axis = self.one([None, *range(-array.ndim, array.ndim)])
        length = size if axis is None else array.shape[axis]
        if not length:
            return
        reach = 3 * length if mode != "raise" else 0
        flat = [self.rng.randint(-length - reach, length - 1 + reach) for _ in range(4)]
        if mode == "clip":
            flat = [max(0, at) for at in flat]
        if self.often(60):
            indices = self.one([f"put(np.array({flat}))", f"{flat}"])
            self.give(f"{name}.take({indices}, axis={axis}, mode={mode!r})")
        elif axis is None and len({at % size for at in flat}) == 4 and mode != "clip":
            values = self.made((self.one([1, 4, 6]),), array.dtype)
            self.give(f"{name}.put({flat}, {values}, mode={mode!r})", name)

    def join(self, name):
        text = self.operand(name)
        array = self.value(text)
        others = [
            other
            for other in self.names()
            if self.arrays[other].ndim == array.ndim and self.arrays[other].size < 10_000
        ]
        parts = [text, *self.rng.sample(others, min(len(others), self.one([0, 1, 2])))]
        function = self.one(["concatenate", "concatenate", "stack"])
        axis = self.rng.randrange(array.ndim + 1)
        self.give(f"np.{function}([{', '.join(parts)}], axis={axis})")

    def choose(self, name):
        text = self.operand(name)
        array = self.value(text)
        if array.dtype.kind in "iufc" and self.often(20):
            # Rounded integers may exceed their dtype; the conversion would be undefined.
            decimals = self.one([0, 1, 2] if array.dtype.kind in "iu" else [-1, 0, 1, 2])
            self.give(f"np.round({text}, {decimals})")
            return
        if self.often(30):
            if array.dtype.kind != "c":
                low, high = (self.number(array.dtype) for _ in range(2))
                if "j" not in low + high:
                    self.give(f"np.clip({text}, {low}, {high})", None, 0.5)
            return
        criterion = self.partner(array.shape, [np.dtype("?")])
        shape = np.broadcast_shapes(self.value(criterion).shape, array.shape)
        other = self.partner(shape, self.words.dtypes)
        if self.often(30):  # NumPy wraps integers that do not fit; PyGPU rejects them
            other = self.literal(array.dtype)
        self.give(f"np.where({criterion}, {text}, {other})")

    def cast(self, name):
        text, dtype = self.operand(name), self.one(self.words.dtypes)
        if _converts(self.value(text), dtype):
            self.give(f"{text}.astype({dtype.char!r})")

    def fill(self, name):
        text = self.operand(name)
        array = self.value(text)
        self.give(f"{text}.fill({self.literal(array.dtype)})", name)


def _size_together(one, other):
    try:
        return math.prod(np.broadcast_shapes(one, other))
    except ValueError:
        return math.inf


def _converts(array, dtype):
    """Report whether C defines the conversion of the elements."""
    if array.dtype.kind not in "fc" or dtype.kind not in "iu":
        return True
    info = np.iinfo(dtype)
    real = array.real.astype("d")
    return bool((np.isfinite(real) & (real > info.min - 0.5) & (real < info.max / 2)).all())
