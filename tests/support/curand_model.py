"""Reference models of cuRAND's generators in Python, which return their integers.

They step one by one, and skip by powers of the matrices of their steps.
"""

import functools

import philox

MASK = 0xFFFFFFFF


class XORWOW:
    """Marsaglia's generator: 160 bits that are shifted and combined, plus a counter."""

    def __init__(self, seed, sequence=0, offset=0):
        low = 1099087573 * (seed & MASK ^ 0xAAD26B49) & MASK
        high = 2591861531 * (seed >> 32 ^ 0xF7DCEFDD) & MASK
        self.d = (6615241 + low + high) & MASK
        self.v = [123456789 + low, 362436069 ^ low, 521288629 + high, 88675123 ^ high]
        self.v = [x & MASK for x in [*self.v, 5783321 + low]]
        self.skip(sequence << 67)
        self.skip(offset)

    @staticmethod
    def _step(v):
        t = v[0] ^ v[0] >> 2
        return [*v[1:], (v[4] ^ v[4] << 4 ^ t ^ t << 1) & MASK]

    def next(self):
        self.v = self._step(self.v)
        self.d = (self.d + 362437) & MASK
        return (self.v[4] + self.d) & MASK

    def skip(self, n):
        state = sum(x << 32 * i for i, x in enumerate(self.v))
        for k in range(n.bit_length()):
            if n >> k & 1:
                state = _times(_power_of_step(k), state)
        self.v = [state >> 32 * i & MASK for i in range(5)]
        self.d = (self.d + 362437 * n) & MASK


def _times(columns, state):
    """Multiply a matrix over GF(2), given by its columns, with a state of 160 bits (int)."""
    result = 0
    for i, column in enumerate(columns):
        if state >> i & 1:
            result ^= column
    return result


@functools.cache
def _power_of_step(k):
    """Return the columns of the matrix of 2^k steps."""
    if k:
        half = _power_of_step(k - 1)
        return [_times(half, column) for column in half]
    units = [[(1 << i) >> 32 * j & MASK for j in range(5)] for i in range(160)]
    return [sum(x << 32 * j for j, x in enumerate(XORWOW._step(unit))) for unit in units]


class MRG32k3a:
    """L'Ecuyer's generator: two linear recurrences of order three."""

    STEPS = (
        (4294967087, [[0, 1, 0], [0, 0, 1], [-810728, 1403580, 0]]),
        (4294944443, [[0, 1, 0], [0, 0, 1], [-1370589, 0, 527612]]),
    )

    def __init__(self, seed, subsequence=0, offset=0):
        low, high = seed & MASK ^ 0x55555555, seed >> 32 ^ 0xAAAAAAAA
        factors = ([low, high, low], [high, low, high]) if seed else ([1] * 3, [1] * 3)
        self.s = [[x * 12345 % m for x in row] for (m, _), row in zip(self.STEPS, factors)]
        self.skip((subsequence << 76) + offset)

    def skip(self, n):
        for (modulus, matrix), s in zip(self.STEPS, self.s):
            power = matrix
            for k in range(n.bit_length()):
                if n >> k & 1:
                    s[:] = [sum(a * b for a, b in zip(row, s)) % modulus for row in power]
                columns = list(zip(*power))
                power = [
                    [sum(a * b for a, b in zip(row, column)) % modulus for column in columns]
                    for row in power
                ]

    def difference(self):
        self.skip(1)
        return (self.s[0][2] - self.s[1][2] - 1) % 4294967087 + 1

    def next(self):
        return min(int(self.difference() * 1.000000048662), MASK)


class Philox4_32_10:
    """The generator of Salmon and others: the words of counters."""

    def __init__(self, seed, sequence=0, offset=0):
        self.seed, self.word = seed, (sequence << 66) + offset

    def next(self):
        counter = self.word // 4
        counters = [[counter >> 32 * i & MASK for i in range(4)]]
        words = philox.philox(counters, [self.seed & MASK, self.seed >> 32])[0]
        self.word += 1
        return int(words[(self.word - 1) % 4])

    def skip(self, n):
        self.word += n


class Sobol:
    """Points of given direction vectors, in Gray code order."""

    def __init__(self, vectors, scramble=0, offset=0):
        self.vectors, self.scramble, self.i = [int(v) for v in vectors], scramble, offset

    def next(self):
        code, x = self.i ^ self.i >> 1, self.scramble
        for bit, vector in enumerate(self.vectors):
            x ^= vector if code >> bit & 1 else 0
        self.i += 1
        return x

    def skip(self, n):
        self.i += n
