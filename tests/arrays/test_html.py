"""GPUArray in a notebook: facts, values at the corners, and no copy that nobody asked for."""

import re
from html.parser import HTMLParser

import numpy as np
import pytest

import PyGPU
import PyGPU.driver as drv
from PyGPU import gpuarray
from PyGPU._arrays import html
from PyGPU.gpuarray import to_gpu


class Cells(HTMLParser):
    """The rows of the table in a text."""

    def __init__(self, text):
        super().__init__()
        self.rows, self.is_cell, self.text = [], False, ""
        self.feed(text)
        self.close()

    def handle_starttag(self, tag, attrs):
        if tag == "tr":
            self.rows.append([])
        elif tag == "td":
            self.rows[-1].append("")
            self.is_cell = True

    def handle_endtag(self, tag):
        self.is_cell = self.is_cell and tag != "td"

    def handle_data(self, data):
        self.text += data
        if self.is_cell:
            self.rows[-1][-1] += data


def rows(array):
    return Cells(array._repr_html_()).rows


def text(array):
    return Cells(array._repr_html_()).text


def test_a_small_array_is_shown_whole():
    a = to_gpu(np.arange(6, dtype=np.float32).reshape(2, 3) / 4)
    assert rows(a) == [["0", "0.25", "0.5"], ["0.75", "1", "1.25"]]
    assert "GPUArray shape (2, 3), float32, 24 bytes, device 0" in text(a)


@pytest.mark.parametrize("order", "CF")
@pytest.mark.parametrize(
    "view",
    [lambda x: x, lambda x: x.T, lambda x: x[::-2, ::3], lambda x: x[:, 1:40]],
    ids=["whole", "transposed", "strided", "columns"],
)
def test_the_corners_of_a_large_array(view, order):
    host = np.asarray(np.arange(40 * 50).reshape(40, 50), order=order)
    shown, seen = rows(view(to_gpu(host))), view(host)
    near, far = [0, 1, 2], [-3, -2, -1]
    assert len(shown) == 7 and shown[3] == ["…"] * 7
    for line, i in zip(shown[:3] + shown[4:], near + far):
        values = [str(seen[i, j]) for j in near + far]
        assert line == values[:3] + ["…"] + values[3:]


def test_other_numbers_of_axes():
    assert rows(to_gpu(np.array(2.5))) == [["2.5"]]
    assert rows(to_gpu(np.arange(3))) == [["0", "1", "2"]]
    deep = to_gpu(np.arange(24).reshape(2, 3, 2, 2))
    assert rows(deep) == [["0", "1"], ["2", "3"]] and "[0, 0, :, :]" in text(deep)
    assert "no elements" in text(gpuarray.empty((0, 3), "f4"))


def test_texts_are_escaped():
    a = to_gpu(np.array([b"<b>&"]))
    assert rows(a) == [["b'<b>&'"]] and "<b>&" not in a._repr_html_()
    records = to_gpu(np.zeros(2, [("<a>", "i4")]))
    assert "<a>" not in records._repr_html_()


def test_an_array_above_the_limit_is_not_read(monkeypatch):
    monkeypatch.setattr(html, "_LIMIT", 1 << 10)
    at, above = gpuarray.zeros(1 << 8, "f4"), gpuarray.zeros((1 << 8) + 1, "f4")
    monkeypatch.setattr(html, "_read_row", lambda row, columns: pytest.fail("a copy"))
    assert "larger than 1.0 KiB" in text(above) and not rows(above)
    with pytest.raises(pytest.fail.Exception):
        at._repr_html_()


def test_at_most_49_elements_are_copied(monkeypatch):
    copied = []
    get = gpuarray.GPUArray.get

    def counted(array, *args, **kwargs):
        copied.append(array.size)
        return get(array, *args, **kwargs)

    monkeypatch.setattr(gpuarray.GPUArray, "get", counted)
    gpuarray.zeros((1000, 1000), "f4")._repr_html_()
    assert sum(copied) == 36
    copied.clear()
    gpuarray.zeros((7, 7), "f4")._repr_html_()
    assert sum(copied) == 49


def test_a_capture_stays_valid():
    stream, a = drv.Stream(), gpuarray.zeros(4, "int32")
    with stream.capture() as graph:
        assert "a stream is being captured" in text(a)
        drv.memset_d32_async(a.ptr, 3, 4, stream)
    graph.launch()
    assert rows(a) == [["3"] * 4]


def test_freed_memory_is_described():
    a = gpuarray.zeros(4, "f4")
    a.gpudata.free()
    assert "cannot be read" in text(a)


def test_traced_arrays_have_no_html():
    seen = []

    @PyGPU.fuse
    def double(x):
        seen.append(x._repr_html_)
        return 2 * x

    double(to_gpu(np.ones(2, "f4")))
    assert set(seen) == {None}


def test_bytes_are_in_units():
    found = {n: html.bytes_text(n) for n in (0, 1023, 1024, 1536, 3 << 20, 5 << 40, 1 << 51)}
    assert list(found.values()) == [
        *("0 bytes", "1023 bytes", "1.0 KiB", "1.5 KiB", "3.0 MiB", "5.0 TiB", "2048.0 TiB")
    ]
    assert re.fullmatch(r"[\d.]+ \w+", found[1536])
