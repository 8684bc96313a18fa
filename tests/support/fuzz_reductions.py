"""Statements of tests/fuzz.py with reductions, statistics, running sums and rearrangements.

The results of sums are compared relative to the sum of the absolute values, because rounding
depends on the order of the additions.
"""

import numpy as np
from fuzz_vocabulary import PRODUCTS, REARRANGEMENTS, SUMS


class Reductions:
    """Steps of `Draw` (fuzz_programs.py), which has the names, numbers and operands."""

    def axis(self, array, several=True):
        """Return an axis, None, or a tuple of axes."""
        if several and array.ndim > 1 and self.often(20):
            return tuple(self.rng.sample(range(array.ndim), self.rng.randint(0, array.ndim)))
        return self.one([None, None, *range(-array.ndim, array.ndim)])

    def mask(self, shape):
        """Return the text of a mask for `where=`: an array that broadcasts, or a number."""
        if self.often(10):
            return self.one(["True", "False", "np.bool_(True)", "1"])
        text = self.partner(shape, [np.dtype("?")])
        fits = _broadcasts(self.value(text).shape, shape)
        return text if fits else self.made(shape[self.one([0, 1]) :], np.dtype("?"))

    def fold(self, name):
        function, text = self.one(self.words.folds), self.operand(name)
        array = self.value(text)
        axis = self.axis(array)
        if array.dtype.kind == "c" and function not in (*SUMS, *PRODUCTS, "any", "all"):
            return
        arguments = f"axis={axis}, keepdims={self.often(30)}"
        ulps, scale, factors = 0.5, "", array
        if function in SUMS:
            ulps, scale = 4 + 2 * array.size, f"total(size({text}), {arguments})"
            total = scale
            if function == "mean":
                scale += f" / max(1, {text}.size // max(1, {total}.size))"
        if self.often(25):
            initial, is_mean = self.literal(array.dtype), function == "mean"
            if is_mean and array.dtype.char == "e":
                return  # NumPy sums halves as halves
            is_extreme = function not in (*SUMS, *PRODUCTS, "any", "all")
            arguments += f", where={self.mask(array.shape)}"
            if is_extreme or (function not in ("mean", "any", "all") and self.often(40)):
                arguments += f", initial={initial}"
                factors = np.append(array, self.value(initial))
            if function in SUMS:  # the mean of few elements may be larger than the mean of all
                scale = f"{total} + size(np.asarray({initial}))"
        if function in PRODUCTS:
            ulps = 4 + 2 * array.size
            if array.dtype.kind in "fc" and not tame_product(factors):
                return
        self.give(f"np.{function}({text}, {arguments})", None, ulps, scale)

    def statistic(self, name):
        function, text = self.one(self.words.statistics), self.operand(name)
        array = self.value(text)
        kind, is_place = array.dtype.kind, "arg" in function
        if kind == "c" and (is_place or function == "ptp"):
            return
        if function == "nan_to_num":
            return self.give(f"np.nan_to_num({text}, nan={self.rng.randint(-3, 3)})")
        if function in ("ptp", "count_nonzero") or is_place:
            return self._exact_statistic(function, text, array)
        if array.dtype.char == "e":
            return  # NumPy sums halves as halves
        arguments = f"axis={self.axis(array)}, keepdims={self.often(30)}"
        total = f"total(size({text}){{}}, axis=None)"
        ulps, scale = 4 + 2 * array.size, total.format("")
        if function != "nanmean":
            arguments += self.one(["", "", ", ddof=1", ", ddof=0.5", ", correction=1"])
            # The rounding errors of the mean are squared, those of the differences are not.
            scale = total.format(" ** 2") if "var" in function else scale
            ulps *= 2 if "var" in function else 1
            if "std" in function:
                # The root of an error near zero is larger than the error.
                ulps = 4 * ulps / np.sqrt(np.finfo(np.result_type(array, "f")).eps)
        if self.often(30):
            arguments += f", where={self.mask(array.shape)}"
        self.give(f"np.{function}({text}, {arguments})", None, ulps, scale)

    def _exact_statistic(self, function, text, array):
        is_place = "arg" in function
        if is_place and not array.size:
            return
        arguments = f"axis={self.axis(array, not is_place)}, keepdims={self.often(30)}"
        if function == "ptp" and array.dtype.kind == "b":
            return  # NumPy does not subtract bools
        self.give(f"np.{function}({text}, {arguments})", None, 0.5)

    def accumulate(self, name):
        function, text = self.one(self.words.accumulations), self.operand(name)
        array = self.value(text)
        axis = self.axis(array, several=False)
        if array.dtype.char == "e":
            return  # NumPy accumulates halves as halves
        ulps, scale = 4 + 2 * array.size, ""
        if "prod" in function and array.dtype.kind in "fc":
            if not tame_product(array):
                return
        elif "sum" in function:
            scale = f"total(size({text}))"
        self.give(f"np.{function}({text}, axis={axis})", None, ulps, scale)

    def rearrange(self, name):
        text = self.operand(name)
        array = self.value(text)
        function = self.one(REARRANGEMENTS)
        if array.size > 20_000:
            return
        made = getattr(self, f"_{function}")(text, array)
        if made:
            self.give(made)

    def _some_axis(self, array):
        return self.rng.randrange(-array.ndim, array.ndim)

    def _diff(self, text, array):
        if not array.ndim:
            return ""
        ends = "".join(
            f", {name}={self.literal(array.dtype)}"
            for name in ("prepend", "append")
            if array.dtype.kind in "fc" and self.often(20)
        )
        return f"np.diff({text}, {self.one([1, 1, 2])}, axis={self._some_axis(array)}{ends})"

    def _roll(self, text, array):
        if array.ndim < 2 or self.often(50):
            axis = self.one([None, *range(-array.ndim, array.ndim)])
            return f"np.roll({text}, {self.rng.randint(-9, 9)}, axis={axis})"
        axes = (self._some_axis(array), self._some_axis(array))
        return (
            f"np.roll({text}, ({self.rng.randint(-9, 9)}, {self.rng.randint(-9, 9)}), axis={axes})"
        )

    def _flip(self, text, array):
        if not array.ndim:
            return ""  # NumPy returns a scalar, PyGPU a view
        return f"np.flip({text}, axis={self.axis(array)})"

    def _rot90(self, text, array):
        if array.ndim < 2:
            return ""
        axes = tuple(self.rng.sample(range(array.ndim), 2))
        return f"np.rot90({text}, {self.rng.randint(-5, 5)}, axes={axes})"

    def _tile(self, text, array):
        reps = [self.one([0, 1, 1, 2, 3]) for _ in range(self.rng.randint(0, 3))]
        if max(len(reps), array.ndim) > 4:
            return ""
        return f"np.tile({text}, {tuple(reps)})"

    def _repeat(self, text, array):
        axis = self.one([None, *range(-array.ndim, array.ndim)])
        length = array.size if axis is None else array.shape[axis]
        counts = self.rng.randint(0, 3)
        if length < 12 and self.often(50):
            counts = [self.rng.randint(0, 3) for _ in range(length)]
        return f"np.repeat({text}, {counts}, axis={axis})"

    def _squeeze(self, text, array):
        axes = [axis for axis, length in enumerate(array.shape) if length == 1]
        return f"np.squeeze({text}, {tuple(self.rng.sample(axes, self.rng.randint(0, len(axes))))})"

    def _expand_dims(self, text, array):
        return f"np.expand_dims({text}, {self.rng.randint(-array.ndim - 1, array.ndim)})"

    def _moveaxis(self, text, array):
        count = self.rng.randint(0, array.ndim)
        source, target = (self.rng.sample(range(array.ndim), count) for _ in range(2))
        return f"np.moveaxis({text}, {source}, {target})"

    def _linspace(self, text, array):
        if not array.ndim or (array.dtype.kind in "fc" and not (np.abs(array) < 1000).all()):
            return  # NumPy computes in the dtype of the ends, and overflows earlier
        num, stop = self.rng.randint(0, 6), self.rng.randint(-9, 9)
        ends = self.one([f"{text}, {stop}", f"{stop}, {text}"])
        arguments = f"endpoint={self.often(60)}, axis={self.one([0, -1, 1])}"
        scale = f"np.max(size({text}), initial={abs(stop)})"
        self.give(f"np.linspace({ends}, {num}, {arguments})", None, 16, scale)

    def _several(self, text):
        """Return the operand and up to two variables, as texts."""
        others = [name for name in self.names() if self.arrays[name].size < 10_000]
        return [text, *self.rng.sample(others, min(len(others), self.one([0, 1, 2])))]

    def _vstack(self, text, array):
        return f"np.vstack([{', '.join(self._several(text))}])"

    def _hstack(self, text, array):
        return f"np.hstack([{', '.join(self._several(text))}])"

    def _concatenate(self, text, array):
        parts, dtype = self._several(text), self.one(self.words.dtypes)
        if not all(np.can_cast(self.value(one).dtype, dtype, "same_kind") for one in parts):
            return ""
        axis = self.one([None, None, *range(array.ndim)])
        return f"np.concatenate([{', '.join(parts)}], axis={axis}, dtype={dtype.char!r})"

    def _like(self, text, array):
        shape = self.one([None, self.shape()])
        dtype = self.one([None, self.one(self.words.dtypes).char])
        function = self.one(["zeros_like", "ones_like"])
        return f"np.{function}({text}, {dtype!r}, shape={shape})"


def _broadcasts(shape, to):
    try:
        return np.broadcast_shapes(shape, to) == to
    except ValueError:
        return False


def tame_product(array):
    """Report whether a product cannot overflow or underflow in any order of multiplication."""
    sizes = abs(array[array != 0].astype("D"))
    if not np.isfinite(sizes).all():
        return False
    info = np.finfo(array.dtype)
    logs = np.log2(sizes)
    return logs[logs > 0].sum() < info.maxexp - 2 and logs[logs < 0].sum() > info.minexp + 2
