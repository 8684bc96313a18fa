"""Reference model of Philox4x32-10 in NumPy, and of the numbers made from its words."""

import numpy as np

# (counter, key, result) from Random123's kat_vectors.
KNOWN_ANSWERS = [
    ([0] * 4, [0] * 2, [0x6627E8D5, 0xE169C58D, 0xBC57AC4C, 0x9B00DBD8]),
    ([0xFFFFFFFF] * 4, [0xFFFFFFFF] * 2, [0x408F276D, 0x41C83B0E, 0xA20BC7C6, 0x6D5451FD]),
    (
        [0x243F6A88, 0x85A308D3, 0x13198A2E, 0x03707344],
        [0xA4093822, 0x299F31D0],
        [0xD16CFE09, 0x94FDCCEB, 0x5001E420, 0x24126EA1],
    ),
]
_MASK = np.uint64(0xFFFFFFFF)
_SHIFT = np.uint64(32)


def philox(counters, key):
    """Return the words, uint32 (n, 4), of counters (n, 4) with one key (2,) or keys (n, 2)."""
    c = [np.asarray(counters)[:, i].astype(np.uint64) for i in range(4)]
    k = [np.asarray(key)[..., i].astype(np.uint64) for i in range(2)]
    for _ in range(10):
        a, b = c[0] * np.uint64(0xD2511F53), c[2] * np.uint64(0xCD9E8D57)
        c = [(b >> _SHIFT) ^ c[1] ^ k[0], b & _MASK, (a >> _SHIFT) ^ c[3] ^ k[1], a & _MASK]
        k = [(k[0] + np.uint64(0x9E3779B9)) & _MASK, (k[1] + np.uint64(0xBB67AE85)) & _MASK]
    return np.stack(c, axis=1).astype(np.uint32)


def words(n, seed, first=0, sequence=0):
    """Return the words `first` to `first + n` of a generator's sequence."""
    start, end = first // 4, -(-(first + n) // 4)
    blocks = np.arange(end - start, dtype=np.uint64) + np.uint64(start % 2**64)
    counters = np.zeros((len(blocks), 4), np.uint64)
    counters[:, 0], counters[:, 1] = blocks & _MASK, blocks >> _SHIFT
    counters[:, 2] = sequence
    key = np.array([seed % 2**32, seed % 2**64 >> 32], np.uint64)
    return philox(counters, key).ravel()[first % 4 :][:n]


def wide(array):
    """Join pairs of words to 64-bit integers, low word first."""
    return array[::2].astype(np.uint64) | array[1::2].astype(np.uint64) << _SHIFT


def bits(n, dtype, seed, first=0, sequence=0):
    """Return `n` integers of 32 or 64 bits."""
    per = np.dtype(dtype).itemsize // 4
    first = -(-first // per) * per
    array = words(n * per, seed, first, sequence)
    return (array if per == 1 else wide(array)).view(dtype)


def uniform(n, dtype, seed, first=0, sequence=0, closed=1):
    """Return `n` numbers in (0, 1], or with closed=0 in [0, 1)."""
    dtype = np.dtype(dtype)
    if dtype.itemsize == 2:
        start = 2 * first
        halves = words(-(-(n + 1) // 2), seed, start // 2, sequence).view(np.uint16)[start % 2 :][
            :n
        ]
        return (((halves >> 5).astype(np.float32) + closed) / 2**11).astype(dtype)
    x = bits(n, f"u{dtype.itemsize}", seed, first, sequence)
    digits = 24 if dtype.itemsize == 4 else 53
    x = x >> np.array(8 * dtype.itemsize - digits, x.dtype)
    return (x + np.array(closed, x.dtype)).astype(dtype) * dtype.type(2.0**-digits)


def normal(n, dtype, seed, first=0, sequence=0):
    """Return `n` normal numbers by Box and Muller, in double; `first` is a multiple of 4."""
    wide_words = np.dtype(dtype).itemsize == 8
    even = n + n % 2
    x = bits(even, "u8" if wide_words else "u4", seed, first, sequence)
    digits = 53 if wide_words else 32
    drop = np.array(11 if wide_words else 0, x.dtype)
    radius = np.sqrt(-2 * np.log(((x[::2] >> drop) + 0.5) / 2.0**digits))
    turns = ((x[1::2].view(f"i{x.itemsize}") >> drop.view(f"i{x.itemsize}")) + 0.5) / 2.0**digits
    both = [radius * np.cos(2 * np.pi * turns), radius * np.sin(2 * np.pi * turns)]
    return np.stack(both, axis=1).ravel()[:n].astype(dtype)
