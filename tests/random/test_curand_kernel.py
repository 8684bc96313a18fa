"""curand_kernel.h in kernels: cuRAND's sequences and distributions, the same on every target."""

import math
import statistics
from pathlib import Path

import curand_texts
import everywhere
import needs
import numpy as np
import pytest
from curand_model import XORWOW, MRG32k3a, Philox4_32_10, Sobol

import PyGPU.gpuarray as gpuarray
from PyGPU import errors
from PyGPU._compile.compilers import rtc
from PyGPU.compiler import SourceModule

MODELS = dict(zip(curand_texts.PSEUDO, (XORWOW, Philox4_32_10, MRG32k3a)))
# Of a float's normal numbers a GPU knows the angle's sine and cosine less well than the host.
FLOATS = {"rtol": 2e-5, "atol": 1e-5}
DOUBLES = {"rtol": 1e-13, "atol": 1e-14}


@pytest.fixture(scope="module")
def draws():
    return SourceModule(curand_texts.DRAWS.source, no_extern_c=True)


def vectors(bits):
    """The direction vectors of Sobol's second dimension."""
    result = [1 << (bits - 1)]
    while len(result) < bits:
        result.append(result[-1] ^ result[-1] >> 1)
    return np.array(result, f"u{bits // 8}")


def bits_of(state):
    return 64 if "64" in state else 32


def draw(module, state, n, *arguments):
    """(bits, floats, doubles, counts) of `n` threads, four of each."""
    out = [
        gpuarray.zeros((n, 4), dtype) for dtype in (np.uint64, np.float32, np.float64, np.uint32)
    ]
    function = module.get_function(f"draw_{state}")
    block = min(n, 64)
    function(*out, *arguments, grid=(n // block, 1), block=(block, 1, 1))
    return [one.get() for one in out]


def arguments_of(state, values):
    """Seed, sequence and offset; or vectors, scramble and offset."""
    if state in curand_texts.PSEUDO:
        return [np.uint64(value) for value in values]
    bits = bits_of(state)
    words = [np.array(value % 2**bits, f"u{bits // 8}")[()] for value in values]
    return [gpuarray.to_gpu(vectors(bits)), *words]


# What NVIDIA's header (cuRAND 10.4, compiled for a CPU) gives: three integers of curand and one
# after all others; uniform, two normal, log-normal; the same in double; Poisson numbers of mean 5,
# 200 and 10000, and the state's size.
KNOWN = [
    (
        "curandStateXORWOW_t",
        (0, 0, 0),
        (3179217846, 1883133293, 2220552389, 1796834923),
        (0.156988621, 1.51097095, -0.822750092, 1.62150657),
        (0.46250842073016324, -0.45620721898582134, -1.7710559339629761, 1.0753364775601042),
        (7, 198, 9724, 48),
    ),
    (
        "curandStateXORWOW_t",
        (1234567890123, 1099511627779, 1125899906842625),
        (3865441985, 3923972510, 3884591291, 3272906914),
        (0.942029238, 0.862522542, -0.348951757, 1.47469711),
        (0.74475436588312838, -0.76850443884660768, -1.7211807878786149, 1.8575041798920531),
        (7, 225, 9728, 48),
    ),
    (
        "curandStatePhilox4_32_10_t",
        (0, 0, 0),
        (1713891541, 3781805453, 3159862348, 1943925342),
        (0.605481863, -1.33784282, -0.49182865, 1.11350477),
        (0.97224120167084038, 2.1735188577861648, 1.7764262445135788, 1.4914240308053832),
        (5, 212, 9910, 64),
    ),
    (
        "curandStatePhilox4_32_10_t",
        (1234567890123, 1099511627779, 1125899906842625),
        (4232605920, 3900961080, 704254870, 78689518),
        (0.470315069, -0.161407754, -1.19596553, 1.41454971),
        (0.12218592828139663, -0.01472231153817195, -0.06737188196081062, 1.921575495932371),
        (4, 196, 10080, 64),
    ),
    (
        "curandStateMRG32k3a_t",
        (0, 0, 0),
        (545508615, 1368065476, 1327943825, 345711544),
        (0.825846851, 0.135105282, -1.11298299, 1.51361203),
        (0.22162991583362512, 1.0846179471268373, 0.94431304220274737, 2.2169932423921588),
        (4, 230, 10068, 48),
    ),
    (
        "curandStateMRG32k3a_t",
        (1234567890123, 1099511627779, 1125899906842625),
        (2234036522, 2109705921, 2477786847, 4158559236),
        (0.575694561, 0.632569611, -0.897639215, 2.34933925),
        (0.85638926946217142, -2.2953804134986062, -0.083229131397746015, 1.7931271209799398),
        (5, 195, 9933, 48),
    ),
    (
        "curandStateSobol32_t",
        (0x9E3779B97F4A7C15, 1000003),
        (2413424640, 802811904, 2950295552, 3084513280),
        (0.436919212, -1.15317535, 0.317108095, 1.64812136),
        (0.93691921257413924, -0.32017137036667664, 1.1475325821708526, 3.7137338964693458),
        (3, 209, 9922, 140),
    ),
    (
        "curandStateScrambledSobol32_t",
        (0x9E3779B97F4A7C15, 1000003),
        (4036201493, 1351846933, 3499330581, 3365112853),
        (0.0647513941, -0.312707663, 1.16135585, 0.810461342),
        (0.56475139176473022, -1.1394805328992088, 0.32458231105406032, 1.6510490239395412),
        (3, 210, 9943, 140),
    ),
    (
        "curandStateSobol64_t",
        (0x9E3779B97F4A7C15, 1000003),
        (10365579900160573440, 3448050872519491584, 12671422909374267392, 13247883661677690880),
        (0.436919212, -1.15317535, 0.317108095, 1.64812136),
        (0.93691921234130859, -0.32017137067383306, 1.1475325816071551, 3.7137338435201155),
        (3, 209, 9922, 536),
    ),
    (
        "curandStateScrambledSobol64_t",
        (0x9E3779B97F4A7C15, 1000003),
        (1292121572899453973, 12821336618967923733, 3597964582113147925, 3021503829809724437),
        (0.945046067, 0.0189162381, -2.43016124, 2.21876931),
        (0.44504605082264875, 0.69843067500495015, -0.65092933854919721, 1.5300490902701385),
        (6, 184, 10042, 536),
    ),
]


@pytest.mark.parametrize(("state", "arguments", "bits", "floats", "doubles", "counts"), KNOWN)
def test_known_values(draws, state, arguments, bits, floats, doubles, counts):
    got = [one[0] for one in draw(draws, state, 1, *arguments_of(state, arguments))]
    assert got[0].tolist() == list(bits)
    assert got[1][0] == np.float32(floats[0]) and got[2][0] == doubles[0]
    np.testing.assert_allclose(got[1], floats, **FLOATS)
    np.testing.assert_allclose(got[2], doubles, **DOUBLES)
    assert got[3].tolist() == list(counts)


def uniform(x, bits):
    """cuRAND's float of a word, which is rounded to a float before its half step is added."""
    return np.float32(float(np.float32(x >> bits - 32)) * 2.0**-32 + 2.0**-33)


def turned(u, turns):
    """Box and Muller's pair, the sine first, as cuRAND has it."""
    radius = math.sqrt(-2 * math.log(u))
    return radius * math.sin(2 * math.pi * turns), radius * math.cos(2 * math.pi * turns)


def mixed(x, y):
    return ((x ^ y << 21) + 0.5) * 2.0**-53


@pytest.mark.parametrize("state", ["curandStateXORWOW_t", "curandStatePhilox4_32_10_t"])
def test_distributions_of_pseudo_random_words(draws, state):
    """Each number from the words that cuRAND takes for it, in its order."""
    seed, first, offset, n = 0xFEDCBA9876543210, 2**35 - 7, 12345678901, 64
    got = draw(draws, state, n, *map(np.uint64, (seed, first, offset)))
    for i, (bits, floats, doubles, _) in enumerate(zip(*got)):
        model = MODELS[state](seed, first + i, offset)
        assert bits[:3].tolist() == [model.next() for _ in range(3)]
        assert floats[0] == uniform(model.next(), 32)
        if model.__class__ is XORWOW:
            assert doubles[0] == mixed(model.next(), model.next())
        else:
            assert doubles[0] == (model.next() + 1) * 2.0**-32
        u, angle = uniform(model.next(), 32), (model.next() + 0.5) / 2**32
        np.testing.assert_allclose(floats[1:3], turned(u, angle), **FLOATS)
        u, angle = (mixed(model.next(), model.next()) for _ in range(2))
        np.testing.assert_allclose(doubles[1:3], turned(u, angle), **DOUBLES)
        u, angle = uniform(model.next(), 32), (model.next() + 0.5) / 2**32
        np.testing.assert_allclose(floats[3], np.exp(0.5 + 0.25 * turned(u, angle)[0]), **FLOATS)
        u, angle = (mixed(model.next(), model.next()) for _ in range(2))
        np.testing.assert_allclose(doubles[3], np.exp(0.5 + 0.25 * turned(u, angle)[0]), **DOUBLES)


def test_distributions_of_mrg32k3a(draws):
    """Not from words but from the difference of its two recurrences."""
    seed, n, scale = 2**50 + 3, 64, 2.3283065498378288e-10
    got = draw(draws, "curandStateMRG32k3a_t", n, *map(np.uint64, (seed, 9, 2**40)))
    for i, (bits, floats, doubles, _) in enumerate(zip(*got)):
        model = MRG32k3a(seed, 9 + i, 2**40)
        assert bits[:3].tolist() == [model.next() for _ in range(3)]
        assert floats[0] == np.float32(model.difference() * scale)
        assert doubles[0] == model.difference() * scale
        pair = turned(*(model.difference() * scale for _ in range(2)))
        np.testing.assert_allclose(floats[1:3], pair, **FLOATS)
        pair = turned(*(model.difference() * scale for _ in range(2)))
        np.testing.assert_allclose(doubles[1:3], pair, **DOUBLES)


@pytest.mark.parametrize("state", curand_texts.QUASI)
def test_distributions_of_sobols_sequences(draws, state):
    """Normal and Poisson numbers by inversion."""
    bits = bits_of(state)
    scramble, offset, n = 0x0123456789ABCDEF % 2**bits, 2**30 - 5, 64
    got = draw(draws, state, n, *arguments_of(state, (scramble, offset)))
    inverse = statistics.NormalDist().inv_cdf
    for i, (words, floats, doubles, counts) in enumerate(zip(*got)):
        model = Sobol(vectors(bits), scramble if "Scrambled" in state else 0, offset + i)
        assert words[:3].tolist() == [model.next() for _ in range(3)]
        assert floats[0] == uniform(model.next(), bits)
        x = model.next()
        assert doubles[0] == ((x + 1) * 2.0**-32 if bits == 32 else ((x >> 11) + 0.5) * 2.0**-53)
        expected = [inverse(((model.next() >> bits - 32) + 0.5) * 2.0**-32) for _ in range(2)]
        np.testing.assert_allclose(floats[1:3], expected, 1e-5, 1e-6)
        digits = 32 if bits == 32 else 53
        halves = [((model.next() >> bits - digits) + 0.5) * 2.0**-digits for _ in range(2)]
        np.testing.assert_allclose(doubles[1:3], [*map(inverse, halves)], 1e-11, 1e-12)
        model.skip(2)
        u = [((model.next() >> bits - digits) + 0.5) * 2.0**-digits for _ in range(3)]
        assert counts[:2].tolist() == [quantile(u[0], 5.0), quantile(u[1], 200.0)]
        assert counts[2] == int(10000.5 + 100 * inverse(u[2]))


def quantile(u, mean):
    """Of Poisson's distribution."""
    count, term = 0, math.exp(-mean)
    total = term
    while u > total:
        count += 1
        term *= mean / count
        total += term
    return count


SKIPS = [
    *((0, 0), (1, 0), (5, 0), (0, 1), (0, 3), (6, 2), (2**32 + 1, 0)),
    *((2**64 - 1, 0), (0, 2**64 - 1), (0x0123456789ABCDEF, 2**40 + 5)),
]


@pytest.mark.parametrize("state", curand_texts.PSEUDO)
def test_skipping(draws, state):
    """By the mathematics of each generator: 2^64 numbers cost no more than a few."""
    seed, out = 77, gpuarray.zeros(6, np.uint32)
    spacing = {XORWOW: 67, Philox4_32_10: 66, MRG32k3a: 127}[MODELS[state]]
    for n, sequences in SKIPS:
        draws.get_function(f"skip_{state}")(
            out, *map(np.uint64, (seed, n, sequences)), block=(1, 1, 1)
        )
        model = MODELS[state](seed)
        model.skip(n + (sequences << spacing))
        assert out.get().tolist() == [model.next() for _ in range(6)], (n, sequences)


def test_four_at_once():
    seed, first = 987654321987, 6
    words, counts = (gpuarray.zeros((3, 4), np.uint32) for _ in range(2))
    floats, doubles = gpuarray.zeros((3, 4), np.float32), gpuarray.zeros(5, np.float64)
    many = SourceModule(curand_texts.PHILOX.source).get_function("many")
    many(words, floats, doubles, counts, np.uint64(seed), first, block=(1, 1, 1))
    model = Philox4_32_10(seed, 0, first)

    def take(n):
        return [model.next() for _ in range(n)]

    def normals():
        return turned(uniform(model.next(), 32), (model.next() + 0.5) / 2**32)

    assert words.get()[:2].ravel().tolist() == take(8)
    f, d, k = floats.get(), doubles.get(), counts.get()
    assert f[0].tolist() == [uniform(x, 32) for x in take(4)]
    np.testing.assert_allclose(f[1], [*normals(), *normals()], **FLOATS)
    np.testing.assert_allclose(f[2], np.exp(0.5 + 0.25 * np.r_[normals(), normals()]), **FLOATS)
    x = take(4)
    assert d[:2].tolist() == [mixed(*x[:2]), mixed(*x[2:])]
    assert d[2] == mixed(*take(8)[6:])
    x = take(8)[4:]
    np.testing.assert_allclose(d[3], turned(mixed(*x[:2]), mixed(*x[2:]))[1], **DOUBLES)
    x = take(8)[4:]
    z = turned(mixed(*x[:2]), mixed(*x[2:]))[1]
    np.testing.assert_allclose(d[4], np.exp(0.5 + 0.25 * z), **DOUBLES)
    assert k[0].tolist() == [by_product(model, 5.0) for _ in range(4)]
    assert abs(k[1].astype(float) - 200).max() < 6 * math.sqrt(200)
    assert abs(k[2].astype(float) - 10000).max() < 600


def by_product(model, mean):
    """Knuth's Poisson number: how many uniform numbers until their product is below exp(-mean)."""
    count, product = 0, np.float32(math.exp(mean)) * uniform(model.next(), 32)
    while product > 1:
        count, product = count + 1, product * uniform(model.next(), 32)
    return count


def test_pairs():
    """A pair is what two calls for one give, of which the first leaves the second in the state."""
    f, d = gpuarray.zeros(8, np.float32), gpuarray.zeros(8, np.float64)
    SourceModule(curand_texts.PAIRS.source).get_function("pairs")(
        f, d, np.uint64(5), block=(1, 1, 1)
    )
    np.testing.assert_array_equal(f.get()[:4], f.get()[4:])
    np.testing.assert_array_equal(d.get()[:4], d.get()[4:])
    assert (d.get()[2:4] > 0).all()


@pytest.mark.parametrize("state", curand_texts.PSEUDO)
def test_means_and_deviations(draws, state):
    n = 4096
    _, floats, doubles, counts = draw(draws, state, n, *map(np.uint64, (42, 0, 0)))
    bound = 5 / math.sqrt(n)
    for column in (floats, doubles):
        assert abs(column[:, 0].mean() - 0.5) < bound / 3
        assert abs(column[:, 1:3].mean()) < bound and abs(column[:, 1:3].std() - 1) < bound
        logarithm = np.log(column[:, 3])
        assert abs(logarithm.mean() - 0.5) < bound / 4 and abs(logarithm.std() - 0.25) < bound / 4
    for j, mean in enumerate((5, 200, 10000)):
        column = counts[:, j].astype(float)
        assert abs(column.mean() - mean) < bound * math.sqrt(mean)
        assert abs(column.var() / mean - 1) < 2 * bound


def test_discrete_numbers():
    """A square histogram of three columns: 100 with 1/6, 101 with 1/2, 102 with 1/3."""
    discrete = SourceModule(curand_texts.DISCRETE.source).get_function("discrete")
    n, out = 512, gpuarray.zeros((512, 8), np.uint32)
    thresholds = gpuarray.to_gpu(np.array([1 / 6, 2 / 3, 1.0]))
    others = gpuarray.to_gpu(np.array([1, 1, 1], np.uint32))
    discrete(out, thresholds, others, np.uint32(3), 0.0, 0.0, 1, block=(n, 1, 1))
    got = out.get()
    assert (got[:, :4] == got[:, 4:]).all(), "four at once are four"
    shares = np.bincount(got[:, :4].ravel() - 100, minlength=3) / got[:, :4].size
    np.testing.assert_allclose(shares, [1 / 6, 1 / 2, 1 / 3], atol=0.04)
    u = (np.array([Philox4_32_10(1, i).next() for i in range(n)]) + 1.0) * 2.0**-32
    column = np.minimum((3 * u).astype(int), 2)
    below = u < np.array([1 / 6, 2 / 3, 1.0])[column]
    assert (got[:, 0] - 100 == np.where(below, column, 1)).all()

    discrete(out, thresholds, others, np.uint32(3), 1000.0, 20.0, 0, block=(n, 1, 1))
    got = out.get().astype(float)
    assert abs(got.mean() - 1000) < 3 and abs(got.std() - 20) < 2
    discrete(out, thresholds, others, np.uint32(3), -1000.0, 20.0, 0, block=(n, 1, 1))
    assert not out.get().any(), "nothing is below 0"


def test_states_of_a_program():
    """The usual way: one kernel makes the states, others go on with them."""
    module = SourceModule(curand_texts.STATES.source)
    n, seed = 256, 1234
    states = gpuarray.zeros(48 * n, np.uint8)
    module.get_function("initialize")(states, np.uint64(seed), grid=(2, 1), block=(128, 1, 1))
    out = gpuarray.zeros((2, n, 3), np.float32)
    for k in range(2):
        module.get_function("fill")(states, out[k], 3, grid=(2, 1), block=(128, 1, 1))
    for i in (0, 1, 127, 128, 255):
        model = XORWOW(seed, i)
        expected = [uniform(model.next(), 32) for _ in range(6)]
        assert out.get()[:, i].ravel().tolist() == expected
    assert abs(out.get().mean() - 0.5) < 0.05


def test_functions_of_the_programs_own():
    """Names that a program may have stay its own."""
    out = gpuarray.zeros(1, np.float32)
    SourceModule(curand_texts.OWN_NAMES.source).get_function("own")(out, block=(1, 1, 1))
    assert math.isfinite(out.get()[0])


MTGP = curand_texts.Text(
    "#include <curand_kernel.h>\n"
    "__global__ void f(unsigned *out, curandStateMtgp32 *s) { *out = curand(s); }"
)


@pytest.mark.no_device
@pytest.mark.parametrize(("prefix", "backend", "arch"), everywhere.COMPILERS[1:3])
def test_ours_compiles_for_gpus(prefix, backend, arch, monkeypatch):
    everywhere.require(prefix)
    monkeypatch.setattr(rtc, "toolkit_include_options", lambda prefix: [])
    for text in (curand_texts.DRAWS, curand_texts.PHILOX, curand_texts.DISCRETE):
        entry = everywhere.build(text, backend, arch, options=("-std=c++11",))
        assert entry.image and entry.log == ""
    with pytest.raises(errors.CompileError) as caught:
        everywhere.build(MTGP, backend, arch)
    assert "curandStateMtgp32: its tables are cuRAND's host library's" in caught.value.stderr


@pytest.mark.no_device
def test_nvidias_header_comes_first():
    everywhere.require("nvrtc")
    text = curand_texts.Text("#include <curand_kernel.h>\nint is_theirs = CURAND_KERNEL_H_ + 0;")
    folders = [one[2:] for one in rtc.toolkit_include_options("nvrtc")]
    if not any(Path(folder, "curand_kernel.h").exists() for folder in folders):
        needs.missing("curand", f"there is no curand_kernel.h in {folders}")
    everywhere.build(text, "cuda", "sm_90")
