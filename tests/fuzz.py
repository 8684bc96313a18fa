"""Random programs on GPUArrays, compared with NumPy: python tests/fuzz.py --minutes 3 --seed 1

Each statement runs with GPUArrays and with ndarrays (support/fuzz_programs.py draws them); what
it made or changed must have NumPy's dtype, shape and values: integers and what IEEE 754 rounds to
the last bit, other results within some ulps. A program that fails is made shorter as long as it
fails, and printed as a script. The exit status is 1 for a failure.
"""

import argparse
import random
import re
import sys
import time
import warnings
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parent / "support"))
from fuzz_programs import Draw
from fuzz_vocabulary import Vocabulary

import PyGPU
from PyGPU.gpuarray import GPUArray, to_gpu

CHAPTER = 2000  # programs of one vocabulary
REFUSALS = (TypeError, ValueError, IndexError, ArithmeticError, NotImplementedError)


class Mismatch(Exception):
    """A statement whose result is not NumPy's."""


def _size(array):
    """The absolute values, those that are finite."""
    sizes = np.abs(array.astype("D" if array.dtype.kind == "c" else "d"))
    return np.where(np.isfinite(sizes), sizes, 0)


_NUMBERS = {"np": np, "inf": np.inf, "nan": np.nan}


class Both:
    """The variables of a program: GPUArrays and ndarrays, by name."""

    def __init__(self):
        self.steps, self.refused = [], 0
        self.ours = {
            **_NUMBERS,
            "put": lambda value: value if isinstance(value, GPUArray) else to_gpu(value),
            "apart": lambda value: value,
        }
        self.theirs = {
            **_NUMBERS,
            **{"put": np.asarray, "apart": np.copy, "size": _size, "total": np.sum},
        }

    def run(self, step):
        """Do a step on both sides. Mismatch where they differ; what both refuse is left out."""
        code = compile(step.text, "<program>", "exec")
        scale = eval(step.scale, self.theirs) if step.scale else None
        refused = None
        try:
            exec(code, self.theirs)
        except REFUSALS as error:
            refused = error
        self.steps.append(step)
        try:
            exec(code, self.ours)
        except Exception as error:
            known = isinstance(error, (*REFUSALS, PyGPU.errors.Error, RuntimeError))
            if not refused or not known:
                raise Mismatch(f"{step.text}: {type(error).__name__}: {error}") from None
            self.steps.pop()
            self.refused += 1
            return
        if refused:
            raise Mismatch(f"{step.text}: NumPy raises {type(refused).__name__}: {refused}")
        expected = self.theirs[step.target]
        if not isinstance(expected, np.ndarray):  # NumPy's scalars are our zero-dimensional arrays
            expected = self.theirs[step.target] = np.asarray(expected)
        got = self.ours[step.target].get()
        if reason := difference(got, expected, step.ulps, scale):
            raise Mismatch(f"{step.text}: {reason}\nPyGPU: {got!r}\nNumPy: {expected!r}")
        if got.dtype.kind in "fc" and got.size:
            expected[...] = got  # rounding errors and the bits of not-a-number do not add up

    def finish(self):
        """Compare all variables: a statement changes nothing but its target."""
        for name, expected in self.theirs.items():
            if isinstance(expected, np.ndarray):
                got = self.ours[name].get()
                if reason := difference(got, expected, 0, None):
                    message = f"{name} at the end: {reason}\nPyGPU: {got!r}\nNumPy: {expected!r}"
                    raise Mismatch(message)

    def contiguous(self, name):
        return self.ours[name].flags.c_contiguous and self.theirs[name].flags.c_contiguous


def difference(got, expected, ulps, scale):
    """What differs, in words; "" where nothing does that should not."""
    if got.dtype != expected.dtype or got.shape != expected.shape:
        return f"{got.dtype} {got.shape}, expected {expected.dtype} {expected.shape}"
    if expected.dtype.kind not in "fc":
        return "" if np.array_equal(got, expected) else "other values"
    same = (got == expected) | (np.isnan(got) & np.isnan(expected))
    if ulps == 0:
        for part in ("real", "imag") if expected.dtype.kind == "c" else ("real",):
            x, y = getattr(got, part), getattr(expected, part)
            same &= np.isnan(y) | (np.signbit(x) == np.signbit(y))
    elif ulps >= 1:
        same |= close(got, expected, ulps, scale)
    return "" if same.all() else f"{np.count_nonzero(~same)} other values"


@np.errstate(invalid="ignore")
def close(got, expected, ulps, scale):
    """Which elements are as near as rounding explains."""
    info = np.finfo(expected.dtype)
    wide = "D" if expected.dtype.kind == "c" else "d"
    x, y = got.astype(wide), expected.astype(wide)
    size = np.abs(y) if scale is None else np.broadcast_to(scale, y.shape)
    largest = float(info.max) / 8
    bound = ulps * (float(info.eps) * size + float(info.smallest_subnormal))
    near = np.abs(x - y) <= bound
    if expected.dtype.kind == "c":  # parts may overflow on the way, or vanish
        tame = np.sqrt(largest)
        with_reserve = (size < tame) & (np.abs(x) < tame) & (size > 1 / tame)
        return near | ~with_reserve
    # Sums and results at the edge of the range may overflow on one side alone.
    edge = (np.abs(x) > largest) & (np.abs(y) > largest)
    vast = size > largest
    return near | edge | (vast & np.isfinite(size) if scale is None else vast)


def replay(steps):
    """The Mismatch of a program, or None."""
    both = Both()
    try:
        for step in steps:
            both.run(step)
        both.finish()
    except Mismatch as mismatch:
        return mismatch
    except Exception:  # of NumPy's, in a program that has lost a statement
        return None
    return None


def shrunk(steps):
    """A shorter program that fails: with fewer steps, then with fewer and simpler numbers."""
    if not replay(steps):
        return steps
    done = False
    while not done:
        done = True
        for place in reversed(range(len(steps))):
            fewer = steps[:place] + steps[place + 1 :]
            if replay(fewer):
                steps, done = fewer, False
        for place, step in enumerate(steps):
            for text in simpler(step.text):
                changed = [*steps[:place], step._replace(text=text), *steps[place + 1 :]]
                if replay(changed):
                    steps, done = changed, False
                    break
    return steps


def simpler(text):
    """Texts with one number or one axis less in the list and shape of np.resize."""
    for start, end in (("[", "]"), ("(", ")")):
        found = re.search(r"np\.resize\(np\.array\(\[.*?\], '.'\), \(.*?\)\)", text)
        if not found:
            return
        begin = text.index(
            start, found.start() + (18 if start == "[" else found.group().rindex("("))
        )
        stop = text.index(end, begin)
        items = [item for item in text[begin + 1 : stop].split(",") if item.strip()]
        for place, item in enumerate(items):
            for fewer in ([], ["1"] if item.strip() not in ("1", "0") else None):
                if fewer is None or (start == "[" and not fewer and len(items) == 1):
                    continue
                if start == "(" and not fewer:
                    continue
                left = items[:place] + fewer + items[place + 1 :]
                tail = "," if start == "(" and len(left) == 1 else ""
                yield f"{text[: begin + 1]}{','.join(left)}{tail}{text[stop:]}"


SCRIPT = """import numpy as np
from numpy import inf, nan
from PyGPU.gpuarray import GPUArray, to_gpu

def program(put, apart):
    {body}
    return {target}

print("NumPy:", repr(program(np.asarray, np.copy)))
ours = program(lambda x: x if isinstance(x, GPUArray) else to_gpu(x), lambda x: x)
print("PyGPU:", repr(ours.get()))
"""


def script(steps):
    """The text of a program as a script."""
    lines = []
    for step in steps:
        head, mark, tail = step.text.partition(f"{step.target} = ")
        is_new = not head and mark and not tail.startswith("put(")
        lines.append(f"{step.target} = put({tail})" if is_new else step.text)
    return SCRIPT.format(body="\n    ".join(lines), target=steps[-1].target if steps else "None")


def main(arguments=None):
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--minutes", type=float, default=1)
    parser.add_argument("--seed", type=int, default=None, help="by default another at each run")
    parser.add_argument("--most", type=int, default=None, help="stop after so many programs")
    asked = parser.parse_args(arguments)
    if np.lib.NumpyVersion(np.__version__) < "2.0.0":
        parser.error("NumPy 1 promotes by the values of zero-dimensional arrays: NumPy 2 is needed")
    seed = random.SystemRandom().randrange(10**9) if asked.seed is None else asked.seed
    print(f"seed {seed}, target {PyGPU.target}, NumPy {np.__version__}", flush=True)
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        return search(seed, 60 * asked.minutes, asked.most)


def search(seed, seconds, most):
    """Run programs for so long, or so many; the exit status."""
    start, number, statements, refused = time.monotonic(), 0, 0, 0
    words = None
    while time.monotonic() < start + seconds and number != most:
        if number % CHAPTER == 0:
            words = Vocabulary(random.Random(f"{seed} {number}"))
        both = Both()
        try:
            Draw(random.Random(f"{seed}:{number}"), words, both).program()
            both.finish()
        except Mismatch as mismatch:
            print(f"program {number} fails: {mismatch}\n")
            steps = shrunk(both.steps)
            print(script(steps))
            print(replay(steps) or "It does not fail when it is run again.")
            return 1
        number += 1
        statements += len(both.steps)
        refused += both.refused
    took = time.monotonic() - start
    print(f"{number} programs, {statements} statements, {refused} more refused, {took:.0f} s")
    return 0


if __name__ == "__main__":
    sys.exit(main())
