"""Progress of transfers, and what ends them: exceptions of the callable, Ctrl-C."""

import signal
import threading

import numpy as np
import pytest

import PyGPU
from PyGPU import gpuarray
from PyGPU.transfer import configure


class Bar:
    """A progress bar that records its calls, and may raise."""

    made = ()

    def __init__(self, total, unit, unit_scale, desc):
        assert (unit, unit_scale) == ("B", True)
        self.total, self.desc, self.updates, self.closed = total, desc, [], 0
        self.thread = threading.current_thread()
        Bar.made = (*Bar.made, self)

    def update(self, n):
        assert type(n) is int and n > 0
        self.updates.append(n)

    def close(self):
        self.closed += 1


@pytest.fixture(autouse=True)
def small():
    Bar.made = ()
    settings = {"threads": 2, "chunk_bytes": 4096, "threshold": 1, "progress_threshold": 10_000}
    with configure(progress=Bar, **settings):
        yield


X = np.arange(10_000, dtype=np.uint8)


@pytest.mark.parametrize("threshold", [0, 1])
def test_each_large_transfer_has_a_bar(threshold):
    configure(threshold=threshold)
    array = gpuarray.to_gpu(X)
    array.get()
    array.set(np.repeat(X, 2)[::2])
    array.get(np.zeros(30_000, np.uint8)[::3])
    assert [bar.desc for bar in Bar.made] == ["to the device", "to the host"] * 2
    for bar in Bar.made:
        assert bar.total == sum(bar.updates) == 10_000
        assert bar.closed == 1 and bar.thread is threading.current_thread()
    gpuarray.to_gpu(X[:-1]).get()
    assert len(Bar.made) == 4


def test_other_ways_of_copying():
    import PyGPU.driver as drv

    memory = drv.to_device(X)
    assert (drv.from_device(memory, X.shape, X.dtype) == X).all()
    twin = PyGPU.DeviceArray_uint8(X.copy())
    assert twin.allocate() == twin.to_device() == twin.to_host() == 0
    assert [bar.desc for bar in Bar.made] == ["to the device", "to the host"] * 2
    pinned = drv.pagelocked_empty(40_000, np.uint8).reshape(2, 20_000)
    array = gpuarray.to_gpu(pinned[:, :10_000])
    array.get(pinned[:, 10_000:])
    assert (pinned[:, :10_000] == pinned[:, 10_000:]).all()
    assert [sum(bar.updates) for bar in Bar.made[4:]] == [20_000] * 2


@pytest.mark.parametrize("step", ["to_device", "to_host"])
def test_a_device_array_answers_while_it_is_copied(python, step):
    done = python(f"""
import faulthandler, threading
import numpy as np
import PyGPU
from PyGPU.transfer import configure

faulthandler.dump_traceback_later(60, exit=True)  # a deadlock
array = PyGPU.DeviceArray_uint8(np.ones(1 << 20, np.uint8))
assert array.last_status() == array.allocate() == 0

answers = set()
address = int(array.device_data())

def ask():
    status = array.last_status() == array.allocate() == 0
    answers.add((status, array.allocated(), int(array.device_data()) == address, repr(array)))

class Bar:
    def __init__(self, **arguments):
        pass

    def update(self, n):
        other = threading.Thread(target=ask)
        other.start()
        ask()
        other.join()

    def close(self):
        pass

configure(progress=Bar, progress_threshold=1000)
assert array.{step}() == 0
assert answers == {{(True, True, True, "<DeviceArray_uint8 shape=(1048576,) allocated>")}}, answers
""")
    assert done.stderr == ""


def test_threads_that_allocate_a_device_array_share_its_memory():
    array = PyGPU.DeviceArray_uint8(np.ones(1 << 16, np.uint8))
    start = threading.Barrier(4)
    found = []

    def allocate():
        start.wait()
        found.append((int(array.allocate()), int(array.device_data())))

    threads = [threading.Thread(target=allocate) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == [(0, int(array.device_data()))] * 4


def slow_to_gather(nbytes):
    """Each byte in another line of the cache, by small pieces: seconds a GB on any machine."""
    configure(chunk_bytes=512, threads=1)
    return np.ones((nbytes >> 14, 1 << 14), np.uint8).T


def test_a_long_transfer_is_shown_as_it_goes_on():
    x = slow_to_gather(64 << 20)
    array = gpuarray.empty(x.shape, x.dtype)
    array.set(x)
    (bar,) = Bar.made
    assert len(bar.updates) > 1 and sum(bar.updates) == x.nbytes
    assert array.get(x) is x and x.all()


def test_off_and_on():
    configure(progress=False)
    gpuarray.to_gpu(X)
    assert not Bar.made and configure().progress is None
    configure(progress=Bar)
    configure(threads=1)  # leaves it
    gpuarray.to_gpu(X)
    assert len(Bar.made) == 1


class Failing(Bar):
    """One of its methods raises."""

    where, error = "", ZeroDivisionError

    def __init__(self, **arguments):
        super().__init__(**arguments)
        self.fail("init")

    def fail(self, where):
        if where == Failing.where:
            raise Failing.error("of the bar")

    def update(self, n):
        super().update(n)
        self.fail("update")

    def close(self):
        super().close()
        self.fail("close")


@pytest.mark.parametrize("error", [ZeroDivisionError, KeyboardInterrupt, SystemExit])
@pytest.mark.parametrize("where", ["init", "update", "close"])
@pytest.mark.parametrize("threshold", [0, 1])
def test_an_exception_of_the_bar_is_the_transfers(threshold, where, error, monkeypatch):
    array, out = gpuarray.zeros(10_000, np.uint8), np.zeros(30_000, np.uint8)
    configure(progress=Failing, threshold=threshold)
    monkeypatch.setattr(Failing, "where", where)
    monkeypatch.setattr(Failing, "error", error)
    for work in (
        lambda: array.set(X),
        lambda: array.set(X[::-1]),
        array.get,
        lambda: array.get(out[::3]),
    ):
        with pytest.raises(error, match="of the bar"):
            work()
        assert Bar.made[-1].closed == (where != "init")
    if where == "init":
        assert not out.any()  # before anything is copied
    assert not PyGPU.cudaGetLastError()
    monkeypatch.setattr(Failing, "where", "")
    array.set(X)
    assert (array.get() == X).all()


@pytest.mark.parametrize("lacking", ["update", "close"])
def test_what_is_no_bar(lacking):
    class Other:
        def __getattr__(self, name):
            if name == lacking:
                raise AttributeError(f"no {name}")
            return lambda *_: None

    configure(progress=lambda **_: Other())
    with pytest.raises(AttributeError, match=f"no {lacking}"):
        gpuarray.to_gpu(X)
    configure(progress=lambda: None)
    with pytest.raises(TypeError, match="unexpected keyword argument 'total'"):
        gpuarray.to_gpu(X)


def test_a_failed_transfer_closes_its_bar():
    import PyGPU.driver as drv

    memory = drv.mem_alloc(5000)
    with pytest.raises(drv.LogicError):
        drv.memcpy_htod(memory, X)
    assert [(bar.updates, bar.closed) for bar in Bar.made] == [([], 1)]


def test_transfers_in_the_bars_methods():
    """They are not shown, wait for nothing, and may change the settings."""

    class Busy(Bar):
        def update(self, n):
            super().update(n)
            with configure(threads=1):
                assert (gpuarray.to_gpu(X[::-1]).get() == X[::-1]).all()

    configure(progress=Busy)
    assert (gpuarray.to_gpu(X).get() == X).all()
    assert len(Bar.made) == 2


def test_a_bar_that_waits_for_another_threads_transfer(python):
    python("""
import faulthandler, threading
import numpy as np
import PyGPU
from PyGPU.transfer import configure

faulthandler.dump_traceback_later(60, exit=True)  # a deadlock
large = np.ones(16 << 20, np.uint8)
other = PyGPU.to_gpu(large)
updates = []

class Bar:
    def __init__(self, **arguments):
        pass

    def update(self, n):
        if not updates:
            thread = threading.Thread(target=other.set, args=(2 * large,))
            thread.start()
            thread.join()
        updates.append(n)

    def close(self):
        pass

configure(chunk_bytes=512, threads=1, threshold=1)
slow = np.ones((1 << 12, 1 << 14), np.uint8).T  # each byte in another line of the cache
array = PyGPU.to_gpu(slow)
configure(progress=Bar, progress_threshold=slow.nbytes)
array.set(slow)
assert len(updates) > 1 and sum(updates) == slow.nbytes
assert (other.get() == 2).all()
""")


def test_bars_of_several_threads():
    def work():
        assert (gpuarray.to_gpu(X).get() == X).all()

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(Bar.made) == 8
    assert all(sum(bar.updates) == 10_000 and bar.closed == 1 for bar in Bar.made)
    assert {bar.thread for bar in Bar.made} == set(threads)


@pytest.mark.parametrize("progress", [False, Bar])
@pytest.mark.parametrize("threshold", [0, 1])
def test_ctrl_c_ends_a_long_transfer(progress, threshold):
    """While its pieces are copied; the array's contents are undefined then, and the next works."""
    configure(progress=progress, threshold=threshold)
    x = slow_to_gather(128 << 20)
    array = gpuarray.zeros(x.shape, np.uint8)
    array[:2].set(x[:2])  # whatever is made when it is first used

    def interrupt(*_):
        raise KeyboardInterrupt("by the timer")

    before = signal.signal(signal.SIGALRM, interrupt)
    try:
        with pytest.raises(KeyboardInterrupt, match="by the timer"):
            signal.setitimer(signal.ITIMER_REAL, 0.005)  # which may ring at once
            array.set(x)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
    assert not array[-1, -1].get(), "it went on to the end"
    assert all(bar.closed == 1 for bar in Bar.made)
    array[-9:].set(x[-9:])
    assert array[-9:].get().all()


TQDM = """
class tqdm:
    def __init__(self, total, unit, unit_scale, desc):
        print(total, unit, unit_scale, desc)
        self.n = 0
    def update(self, n):
        self.n += n
    def close(self):
        print(self.n)
"""


def test_by_tqdm(python, tmp_path):
    """tqdm is found by its name."""
    (tmp_path / "tqdm.py").write_text(TQDM)
    text = """
import numpy as np, PyGPU
with PyGPU.transfer.configure(progress=True, progress_threshold=1000) as settings:
    PyGPU.to_gpu(np.zeros(1000, np.uint8))
import tqdm
assert settings.progress is tqdm.tqdm
"""
    done = python(text, PYTHONPATH=str(tmp_path))
    assert done.stdout == "1000 B True to the device\n1000\n"


def test_without_tqdm(python, tmp_path):
    (tmp_path / "tqdm.py").write_text("raise ImportError('not here')")
    text = """
import PyGPU
try:
    PyGPU.transfer.configure(progress=True, threads=3)
except ImportError as error:
    print(error)
assert PyGPU.transfer.configure().progress is None
"""
    done = python(text, PYTHONPATH=str(tmp_path))
    assert "tqdm" in done.stdout and "pip install tqdm" in done.stdout


def test_the_real_tqdm(capfd):
    tqdm = pytest.importorskip("tqdm")
    with configure(progress=True):
        gpuarray.to_gpu(X)
    with configure(progress=tqdm.tqdm):
        gpuarray.to_gpu(X)
    assert capfd.readouterr().err.count("to the device: 100%") == 2
