"""The programs of the gallery at small sizes: results as NumPy's, and a picture each."""

import ast
import re
from pathlib import Path

import needs
import numpy as np
import pytest

GALLERY = Path(__file__).resolve().parents[2] / "examples" / "gallery"
PROGRAMS = sorted(GALLERY.glob("plot_*.py"))


def constants(node):
    """Return the names in capitals that a statement assigns."""
    if not isinstance(node, ast.Assign):
        return set()
    names = (each for target in node.targets for each in ast.walk(target))
    return {each.id for each in names if isinstance(each, ast.Name) and each.id.isupper()}


@pytest.fixture
def run(capsys):
    """run(name, CONSTANT=value...): the names of a program that ran with other constants."""
    matplotlib = needs.module("matplotlib")
    matplotlib.use("agg")
    from matplotlib import pyplot

    def program(name, **small):
        path = GALLERY / f"plot_{name}.py"
        body = []
        for node in ast.parse(path.read_text()).body:
            body.append(node)
            for constant in constants(node) & small.keys():
                body += ast.parse(f"{constant} = {small.pop(constant)!r}").body
        assert not small, f"{path.name} assigns no {small.keys()}"
        names = {"__name__": "__main__", "__file__": str(path)}
        exec(compile(ast.Module(body, []), str(path), "exec"), names)
        assert capsys.readouterr().out
        (number,) = pyplot.get_fignums()
        figure = pyplot.figure(number)
        figure.canvas.draw()
        assert np.ptp(np.asarray(figure.canvas.buffer_rgba())[..., :3]) > 100
        return names

    yield program
    pyplot.close("all")


def test_dtypes(run):
    names = run("dtypes", SIZE=512, STEPS=10)
    half, single, double = (names["running"][dtype].max() for dtype in names["DTYPES"])
    assert 1e-2 > half > single > double == 0
    x = 0.5
    for found in names["orbits"][np.float64]:
        x = 3.9 * x * (1 - x)
        assert found == pytest.approx(x)


def test_fft(run):
    assert run("fft", SIZE=64, FRAMES=8)["error"] < 1e-4


def around(a):
    """The sum of the four neighbours, inside of a frame."""
    return a[:-2, 1:-1] + a[2:, 1:-1] + a[1:-1, :-2] + a[1:-1, 2:]


def test_heat(run):
    names = run("heat", SIZE=20, STEPS=30)
    expected = np.zeros((20, 20))
    for _ in range(30):
        inside = expected[1:-1, 1:-1]
        new = inside + 0.24 * (around(expected) - 4 * inside) + names["source"].get()
        expected[1:-1, 1:-1] = new
    assert expected.max() > 1
    np.testing.assert_allclose(names["temperature"], expected, rtol=1e-4, atol=1e-5)


def test_image(run):
    names = run("image", SIZE=40)
    image, line = names["image"].get(), names["line"] / names["line"].sum()
    wide = np.pad(image, 3, mode="edge")
    rows = sum(weight * wide[i : i + 40] for i, weight in enumerate(line))
    expected = sum(weight * rows[:, i : i + 40] for i, weight in enumerate(line))
    np.testing.assert_allclose(names["blurred"].get(), expected, rtol=1e-5)
    assert names["counts"].get().tolist() == np.histogram(expected, 80, (0, 1.2))[0].tolist()


def test_kmeans(run):
    names = run("kmeans", POINTS=600, ROUNDS=12)
    data, centres = names["data"], names["track"][-2]
    nearest = ((data[:, None] - centres) ** 2).sum(axis=2).argmin(axis=1)
    labels = names["labels"].get()
    assert (labels != nearest).sum() <= 2  # points between two centres
    means = [data[labels == each].mean(axis=0) for each in range(names["CLUSTERS"])]
    np.testing.assert_allclose(names["track"][-1], means, rtol=1e-4, atol=1e-5)
    assert names["moved"] < 0.1


def test_life(run):
    names = run("life", SIZE=32, GENERATIONS=25)
    board = names["board"]
    for _ in range(25):
        moved = [np.roll(board, (y, x), (0, 1)) for y in (-1, 0, 1) for x in (-1, 0, 1)]
        neighbours = np.sum(moved, axis=0) - board
        board = ((neighbours == 3) | ((neighbours == 2) & (board == 1))).astype(np.uint8)
    assert names["now"].get().tolist() == board.tolist()
    assert names["population"][-1] == board.sum() > 7


def test_mandelbrot(run):
    names = run("mandelbrot", WIDTH=90, HEIGHT=61, STEPS=100)
    count = names["count"].get()
    assert count[30, 66] == 100  # zero
    assert 0 < count[0, 0] < 5
    assert names["area"] == pytest.approx(1.53, abs=0.1)


def test_nbody(run):
    names = run("nbody", BODIES=128, STEPS=1)
    position, mass = names["start"][:, :3].astype(float), names["start"][:, 3]
    apart = position[None] - position[:, None]
    distance = np.sqrt((apart**2).sum(axis=2) + 0.01)
    expected = 0.02 * (apart * (mass / distance**3)[..., None]).sum(axis=1)
    expected[:, 0] -= 0.8 * names["side"]
    np.testing.assert_allclose(names["speed"].get()[:, :3], expected, rtol=1e-3, atol=1e-5)
    np.testing.assert_allclose(
        names["paths"][1], position[:, :2] + 0.02 * expected[:, :2], rtol=1e-3, atol=1e-5
    )


def test_option(run):
    names = run("option", LARGEST=14)
    assert names["exact"]() == pytest.approx(7.128, abs=1e-3)
    assert names["errors"][-1] < 5 * names["spread"] / 2**7


def test_ray_marching(run):
    names = run("ray_marching", WIDTH=60, HEIGHT=40)
    picture = names["picture"]
    np.testing.assert_allclose(picture[0], 0.75)  # the sky
    assert picture.min() < 0.35 and picture.max() > 0.8


def test_reaction(run):
    names = run("reaction", SIZE=32, STEPS=20)
    random = np.random.default_rng(7)
    u, v = np.ones((34, 34)), np.zeros((34, 34))
    for row, column in random.integers(10, 22, (12, 2)):
        u[row : row + 8, column : column + 8] = 0.5
        v[row : row + 8, column : column + 8] = 0.25
    for _ in range(20):
        a, b = u[1:-1, 1:-1], v[1:-1, 1:-1]
        new = a + 0.16 * (around(u) - 4 * a) - a * b * b + 0.037 * (1 - a)
        v[1:-1, 1:-1] = b + 0.08 * (around(v) - 4 * b) + a * b * b - 0.097 * b
        u[1:-1, 1:-1] = new
    np.testing.assert_allclose(names["pattern"], v[1:-1, 1:-1], rtol=1e-3, atol=1e-5)


def test_sunspots(run):
    needs.compiler_of_files()
    assert run("sunspots", PERIODS=400)["strongest"] == pytest.approx(11, abs=0.1)


def test_wave_graph(run):
    names = run("wave_graph", SIZE=60, STEPS=40)
    wall = names["wall"].get().astype(float)
    now, old = np.zeros((60, 60)), np.zeros((60, 60))
    for step in range(40):
        new = np.zeros((60, 60))
        inside = now[1:-1, 1:-1]
        bend = around(now) - 4 * inside
        new[1:-1, 1:-1] = wall[1:-1, 1:-1] * (1.998 * inside - 0.998 * old[1:-1, 1:-1] + 0.4 * bend)
        new[1:-1, 8] = np.sin(0.25 * step)
        now, old = new, now
    assert int(names["step"][0]) == 40
    np.testing.assert_allclose(names["height"], now, rtol=1e-3, atol=1e-4)


@pytest.mark.no_device
def test_every_program_is_tested_and_short():
    tested = {name[len("test_") :] for name in globals() if name.startswith("test_")}
    assert {path.stem[len("plot_") :] for path in PROGRAMS} <= tested
    assert len(PROGRAMS) >= 12
    for path in PROGRAMS:
        text = path.read_text()
        assert len(text.splitlines()) < 80, path.name
        assert re.match(r'"""\n(.+)\n=+\n\n', text), path.name
        assert "plt.subplots(" in text, path.name
