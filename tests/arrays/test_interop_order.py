"""Which streams wait for which when arrays are exchanged: read off the machine's own calls.

On the host all work is done at once, so results cannot show a missing wait. The calls can.
"""

import os
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

import PyGPU

pytestmark = pytest.mark.skipif(
    PyGPU.target != "host", reason="only the host's machine can be listened to"
)

LISTENER = r"""
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
static void *machine(const char *name)
{
  return dlsym(dlopen("libPyGPU_host.so", RTLD_LAZY | RTLD_NOLOAD), name);
}
int PyGPU_host_cudaEventRecord(void *event, void *stream)
{
  int (*call)(void *, void *) = machine(__func__);
  printf("earlier %p\n", stream);
  fflush(stdout);
  return call(event, stream);
}
int PyGPU_host_cudaStreamWaitEvent(void *stream, void *event, unsigned flags)
{
  int (*call)(void *, void *, unsigned) = machine(__func__);
  printf("later %p\n", stream);
  fflush(stdout);
  return call(stream, event, flags);
}
int PyGPU_host_cudaStreamSynchronize(void *stream)
{
  int (*call)(void *) = machine(__func__);
  printf("host %p\n", stream);
  fflush(stdout);
  return call(stream);
}
int PyGPU_host_cudaDeviceSynchronize(void)
{
  int (*call)(void) = machine(__func__);
  printf("host all\n");
  fflush(stdout);
  return call();
}
"""

BEGIN = """
import dlpack_tools as dlpack
import PyGPU
from PyGPU.gpuarray import asarray, from_dlpack, zeros

def say(*words):
    print(*words, flush=True)

array = zeros(4)
blocking, a, b = PyGPU.cudaStream_t(), PyGPU.cudaStream_t(1), PyGPU.cudaStream_t(1)
for name in ("blocking", "a", "b"):
    say("name", name, hex(int(globals()[name])))

def export(end=False, **arguments):
    managed = dlpack.take(array.__dlpack__(**arguments))
    if end:
        say("begin")
        dlpack.end(managed)

def told(**changes):
    said = {**array.__cuda_array_interface__, **changes}
    return dlpack.Carrier(__cuda_array_interface__=said)

"""


def waits(lines):
    """What waited after "begin": pairs of (later, earlier)."""
    names, found, earlier = {"(nil)": "null", "0x1": "null", "all": "all"}, [], None
    for line in lines:
        word, *rest = line.split()
        if word == "name":
            names[rest[1]] = rest[0]
        elif word == "begin":
            found = []
        elif word == "end":
            break
        elif word == "earlier":
            earlier = names.get(rest[0], "another")
        elif word == "later":
            found.append((names.get(rest[0], "another"), earlier))
        else:
            found.append(("host", names.get(rest[0], "another")))
    return found


OF_BOTH = {("null", "a"), ("null", "b")}
CASES = {
    # A consumer waits for the null stream and for all that runs beside it, but not for itself.
    "say('begin'); export(stream=1)": OF_BOTH,
    # Blocking streams do not wait for each other, but the null stream for all of them.
    "say('begin'); export(stream=blocking)": {
        ("blocking", "null"),
        ("blocking", "a"),
        ("blocking", "b"),
    },
    "say('begin'); export(stream=a)": {("a", "null"), ("a", "b")},
    "del b; say('begin'); export(stream=a)": {("a", "null")},
    "say('begin'); export(stream=-1)": set(),
    "array = array[:0]; say('begin'); export(stream=a)": set(),
    "say('begin'); array.__cuda_array_interface__": OF_BOTH,
    # Memory without a consumer's stream may be read by the host.
    "say('begin'); export()": OF_BOTH | {("host", "null")},
    # A copy is made in the order of the null stream.
    "say('begin'); export(stream=a, copy=True)": OF_BOTH | {("a", "null"), ("a", "b")},
    # Our memory is free once a consumer beside the null stream is done, whose work we cannot know.
    "export(stream=1, end=True)": set(),
    "export(stream=blocking, end=True)": set(),
    "export(stream=a, end=True)": {("host", "all")},
    # A stream leaves its work to the null stream.
    "say('begin'); del a": {("null", "a")},
    "say('begin'); PyGPU.cudaStreamDestroy(blocking)": {("null", "blocking")},
    # The null stream waits for a producer, and for the null stream the stream to be used.
    "t = told(stream=1); say('begin'); x = asarray(t)": set(),
    "t = told(stream=int(a)); say('begin'); x = asarray(t)": {("null", "a")},
    "t = told(stream=int(a)); say('begin'); x = asarray(t, stream=b)": {
        ("null", "a"),
        ("b", "null"),
    },
    "t = told(version=2); say('begin'); x = asarray(t)": {("host", "all")},
    # The first use on a stream beside the null stream waits for it too.
    "x = asarray(told(stream=1)); say('begin'); x.fill(1, a)": {("a", "null")},
    # A producer gets its memory back when our work is done, or in the order of the null stream.
    "x = asarray(told(stream=1)); say('begin'); del x": OF_BOTH,
    "x = asarray(told(stream=None)); say('begin'); del x": OF_BOTH | {("host", "null")},
    "x = asarray(told(stream=int(a))); say('begin'); del x": OF_BOTH | {("host", "null")},
    "x = from_dlpack(dlpack.Producer(array)); say('begin'); del x": OF_BOTH | {("host", "null")},
}


@pytest.fixture(scope="module")
def heard(tmp_path_factory):
    """The calls of each case, by a library that hears them before the machine does."""
    folder = tmp_path_factory.mktemp("listener")
    (folder / "listener.c").write_text(LISTENER)
    compiler = shlex.split(os.environ.get("CC", "cc"))
    options = ["-shared", "-fPIC", "listener.c", "-o", "listener.so", "-ldl"]
    subprocess.run([*compiler, *options], cwd=folder, check=True)
    program = f"""
import gc
for case in {list(CASES)!r}:
    gc.collect()  # the streams of the last one
    print("case", flush=True)
    exec({BEGIN!r} + case + "; say('end')", {{}})
"""
    done = subprocess.run(
        [sys.executable, "-c", program],
        env={
            **os.environ,
            "LD_PRELOAD": str(folder / "listener.so"),
            "PYTHONPATH": str(Path(__file__).parents[1] / "support"),
            "PYGPU_TARGET": "host",
        },
        stdout=subprocess.PIPE,
        text=True,
        check=True,
        timeout=120,
    )
    parts = done.stdout.split("case\n")[1:]
    return dict(zip(CASES, (part.splitlines() for part in parts)))


@pytest.mark.parametrize("program", CASES)
def test_what_waits(heard, program):
    found = waits(heard[program])
    assert set(found) == CASES[program]
    assert len(found) == len(set(found)), "nothing waits twice"
