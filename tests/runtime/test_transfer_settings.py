"""PyGPU.transfer.configure: settings of transfers, what they refuse, and the variable."""

import copy
import os
import pickle
import threading

import needs
import numpy as np
import pytest

import PyGPU
from PyGPU._runtime import core
from PyGPU.transfer import Settings, configure

MB = 1 << 20


@pytest.fixture(autouse=True)
def restored():
    with configure():
        yield


def test_settings_in_force():
    before = configure()
    assert isinstance(before, Settings)
    assert before == configure()
    after = configure(threads=3, chunk_bytes=8192)
    assert after == configure() == before._replace(threads=3, chunk_bytes=8192)
    assert (after.threads, after.chunk_bytes, after.chunks) == (3, 8192, before.chunks)
    assert "threads=3, chunk_bytes=8192" in repr(after)
    configure(threshold=0)
    assert configure().threshold == 0
    with pytest.raises(AttributeError):
        after.threads = 4


def test_defaults(python):
    text = """
import os, PyGPU
now = PyGPU.transfer.configure()
cores = len(os.sched_getaffinity(0))
assert now.threads == min(max(cores // 2, 1), 8) and now.chunks == 4 and now.chunk_bytes == 2 << 20
assert now.progress is None and now.progress_threshold == 1 << 30
print(now.threshold)
"""
    usual = 0 if PyGPU.target == "host" or len(os.sched_getaffinity(0)) == 1 else 512 << 10
    assert int(python(text, PYGPU_STAGING="").stdout) == usual
    for value, nbytes in (("0", 0), ("12345", 12345), ("1.5MB", 3 << 19)):
        assert int(python(text, PYGPU_STAGING=value).stdout) == nbytes


def test_as_a_context():
    before = configure()
    with configure(threads=5) as outer:
        assert outer.threads == configure().threads == 5
        with configure(threads=6, threshold=77):
            assert configure()[:4] == (6, before.chunk_bytes, before.chunks, 77)
        assert configure() == outer
        with pytest.raises(RuntimeError), configure(chunks=9):
            raise RuntimeError
        assert configure() == outer
    assert configure() == before


def test_an_interrupt_before_the_block_restores():
    before, other = configure(), configure().threads % 64 + 1

    def raise_(error):
        raise error

    with pytest.raises(KeyboardInterrupt):
        _ = configure(threads=other), raise_(KeyboardInterrupt)
    assert configure() == before
    with pytest.raises(ValueError, match="the program's own"):
        _ = configure(threads=other), raise_(ValueError("the program's own"))
    assert configure().threads == other


def test_copies_of_settings():
    settings = configure(threads=7)
    for again in (copy.copy(settings), pickle.loads(pickle.dumps(settings))):
        assert again == settings
        with again:
            assert configure().threads == 7
        assert configure().threads == 7


def test_settings_changed_in_threads_fit_together():
    def work(k):
        for _ in range(300):
            with configure(threads=k, chunk_bytes=4096 * k):
                pass
            configure(threads=k, chunk_bytes=4096 * k)

    threads = [threading.Thread(target=work, args=(k,)) for k in range(1, 5)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert configure()[:4] == core._transfer_settings()


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("threads", 0),
        ("threads", -1),
        ("threads", 65),
        ("chunk_bytes", 0),
        ("chunk_bytes", 511),
        ("chunk_bytes", (1 << 30) + 1),
        ("chunks", 0),
        ("chunks", 17),
        ("threshold", -1),
        ("threshold", 1 << 63),
        ("progress_threshold", -1),
        ("progress_threshold", 1 << 70),
    ],
)
def test_numbers_out_of_range(name, value):
    before = configure()
    with pytest.raises(ValueError, match=rf"{name}={value}: expected \d+ to \d+"):
        configure(**{name: value})
    with pytest.raises(ValueError, match=name):
        configure(**{"threads": 2, name: value})
    assert configure() == before


@pytest.mark.parametrize("value", [1.0, "4", b"4", [1], (), object()])
@pytest.mark.parametrize(
    "name", ["threads", "chunk_bytes", "chunks", "threshold", "progress_threshold"]
)
def test_what_is_no_number(name, value):
    with pytest.raises(TypeError, match=f"{name}: expected an integer"):
        configure(**{name: value})


def test_too_much_page_locked_memory():
    before = configure()
    with pytest.raises(ValueError, match=r"threads=64, chunks=16, chunk_bytes=8388608: 8589934592"):
        configure(threads=64, chunks=16, chunk_bytes=8 * MB)
    assert configure() == before


@pytest.mark.parametrize("value", [1, 0, "tqdm", [print], 1.5])
def test_what_shows_no_progress(value):
    with pytest.raises(TypeError, match="progress: expected True, False or a callable"):
        configure(progress=value)


def test_arguments_are_given_by_name():
    with pytest.raises(TypeError):
        configure(4)
    with pytest.raises(TypeError):
        configure(workers=4)
    assert configure(threads=np.int8(3)).threads == 3


@pytest.mark.skipif(PyGPU.target != "host", reason="only the host machine counts pinned memory")
def test_page_locked_memory_follows_the_settings():
    import failing_calls

    x = np.zeros(1 << 17, np.uint8)

    def held(**settings):
        with configure(threshold=1, **settings):
            PyGPU.to_gpu(x)
            return failing_calls.live()["bytes"]

    configure(threshold=1, threads=1, chunk_bytes=512, chunks=1)
    PyGPU.to_gpu(x)
    least = failing_calls.live()["bytes"]
    assert held(threads=4, chunk_bytes=65536, chunks=2) == least + 8 * 65536 - 512
    assert failing_calls.live()["bytes"] == least - 512  # at once, with the ring that it replaced
    assert held(chunk_bytes=4096) == least + 4096 - 512
    for _ in range(20):
        held(threads=3, chunk_bytes=1 << 16)
    assert failing_calls.live()["bytes"] == least - 512
    assert failing_calls.live()["streams"] <= 1
    configure(threads=1, chunk_bytes=512, chunks=1, threshold=0)  # the same ring
    with configure(progress_threshold=1):
        PyGPU.to_gpu(x)


@pytest.mark.skipif(PyGPU.target != "host", reason="only the host machine's calls can fail")
@pytest.mark.parametrize("number", [1, 20])
def test_page_locked_memory_without_its_events_is_released(number):
    """Transfers are then the runtime's, until the settings change."""
    import failing_calls

    x = np.arange(1 << 17, dtype=np.uint8)
    array = PyGPU.to_gpu(x)
    before = failing_calls.live()
    with configure(threshold=1, threads=3, chunk_bytes=8192, chunks=2):
        failing_calls.fail_call(number, b"cudaEventCreateWithFlags")
        array.set(x[::-1])
        assert failing_calls.fail_call(0, None) == b"cudaEventCreateWithFlags"
        assert failing_calls.live() == before and not PyGPU.cudaGetLastError()
        assert (array.get() == x[::-1]).all()
        configure(chunks=3)
        array.set(x)
        assert failing_calls.live()["bytes"] == before["bytes"] + 3 * 3 * 8192
        assert (array.get() == x).all()


def test_in_a_forked_child(python):
    """The child does not have its parent's threads, so no setting may wait for them."""
    done = python("""
import os, time, warnings
import numpy as np
import PyGPU
from PyGPU.transfer import configure
warnings.simplefilter("ignore")  # of a fork with threads

x = np.arange(1 << 18, dtype=np.uint8)
array = PyGPU.to_gpu(x)
with configure(threads=3, chunk_bytes=4096, threshold=1):
    array.set(x)
    child = os.fork()
if not child:
    after = configure(chunks=2)
    os._exit(after.chunks != 2 or configure(threads=5).threads != 5)
end = time.monotonic() + 60
while (found := os.waitpid(child, os.WNOHANG)) == (0, 0) and time.monotonic() < end:
    time.sleep(0.02)
if found == (0, 0):
    os.kill(child, 9)
    raise SystemExit("the child hangs")
assert found[1] == 0, found
assert (array.get() == x).all()
""")
    assert done.stderr == ""


@pytest.mark.skipif(not needs.ON_MACHINE, reason="the vendor's own threads take signals")
def test_signals_are_for_the_programs_threads(python):
    """A program that blocks a signal to wait for it must not be ended by it."""
    python("""
import os, signal
import numpy as np
import PyGPU
from PyGPU.transfer import configure

array = PyGPU.to_gpu(np.zeros(1 << 18, np.uint8))
with configure(threads=3, chunk_bytes=4096, threshold=1):
    array.set(array.get())
    signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGUSR1})
    os.kill(os.getpid(), signal.SIGUSR1)
    found = signal.sigtimedwait({signal.SIGUSR1}, 10)
    assert found is not None and found.si_signo == signal.SIGUSR1
""")


LAYOUTS = {
    "contiguous": lambda n: np.arange(n, dtype=np.int32),
    "strided": lambda n: np.arange(2 * n, dtype=np.int32)[::2],
    "transposed": lambda n: np.arange(n // 7 * 7, dtype=np.int32).reshape(7, -1).T,
    "rows": lambda n: np.arange(n // 50 * 100, dtype=np.int32).reshape(-1, 100)[:, :50],
    "permuted": lambda n: (
        np.arange(n // 60 * 60, dtype=np.int32).reshape(5, -1, 12).transpose(1, 2, 0)
    ),
}


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("threads", [1, 3])
@pytest.mark.parametrize(("chunks", "chunk_bytes"), [(1, 4096), (2, 20480), (3, 65536)])
def test_staged_bytes_arrive_whatever_the_ring_holds(layout, threads, chunks, chunk_bytes):
    """Transfers shorter than a piece, as long as the ring, and many times as long."""
    configure(threads=threads, chunks=chunks, chunk_bytes=chunk_bytes, threshold=1)
    ring = threads * chunks * chunk_bytes // 4
    for n in (60, ring // 4, ring - 1, ring + 1, 5 * ring):
        host = LAYOUTS[layout](max(n, 60))
        array = PyGPU.to_gpu(host)
        np.testing.assert_array_equal(array.get(), host)
        array.fill(0)
        array.set(host)
        np.testing.assert_array_equal(array.get(), host)
