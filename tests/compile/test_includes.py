"""What a text may include: found, whatever the directive looks like, or said not to be known."""

import os

import needs
import pytest
from cache_tools import entries
from everywhere import by_backend

from PyGPU._compile.compilers import build as _build
from PyGPU._compile.compilers.host import Host
from PyGPU._compile.source import includes

pytestmark = pytest.mark.no_device


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """The working directory, with folders of headers below it."""
    monkeypatch.chdir(tmp_path)
    for name in ("a", "b"):
        (tmp_path / name).mkdir()
    (tmp_path / "a" / "v.h").write_text("#define VALUE 1\n")
    return tmp_path


def found(source, folders=("a", "b", ""), **settings):
    result = includes.scan(source, folders, **settings)
    return {os.path.relpath(path) for path in result.files}, result.is_complete


FOUND = {
    "plain": '#include "v.h"',
    "in brackets": "#include <v.h>",
    "with blanks": '  \t#  include\t "v.h" // text',
    "without blanks": '#include"v.h"',
    "under a condition": '#if 0\n#include "v.h"\n#endif',
    "a comment before": '/* text */ #include "v.h"',
    "comments inside": '#/* a */include/* b */"v.h"',
    "a comment of two lines": '#include /* a\n b */ "v.h"',
    "a line end inside": '#inc\\\nlude \\\n"v.h"',
    "a line end with blanks": '#inc\\  \nlude "v.h"',
    "a line end of Windows": '#inc\\\r\nlude "v.h"\r\n',
    "a digraph": '%:include "v.h"',
    "import": '#import "v.h"',
    "the next one": "#include_next <v.h>",
    "embedded": '#embed "v.h"',
    "is it there": '#if __has_include("v.h")\n#endif',
    "is it there, by a macro": "#define HAS_INCLUDE(x) __has_include(x)\n#if HAS_INCLUDE(<v.h>)\n",
    "a macro": '#define H "v.h"\n#include H',
    "a macro with comments": '#define H /* a */ "v.h" // b\n#include H // c',
    "a comment that looks like a text's end": 'char c = \'"\'; /* "\n*/\n # include /**/ "v.h"\n',
    "text that looks like a comment": 'const char *s = "/*";\n # include /**/ "v.h"\n// */',
    "raw text that looks like a comment": 'auto s = R"(/*")";\n # include /**/ "v.h"\n// */',
    "a number that looks like text": "int i = 1'000; /* ' */\n#include/**/ <v.h>\n// '",
    "an apostrophe that is none": "#if 0\ndon't /*\n#endif\n # include /**/ <v.h>\n// */",
}


@pytest.mark.parametrize("source", FOUND.values(), ids=FOUND)
def test_found(folder, source):
    assert found(source) == ({"a/v.h"}, True)


UNKNOWN = {
    "a macro without a value": "#include H",
    "a macro of a macro": '#define G "v.h"\n#define H G\n#include H',
    "a macro of two values": '#define H "v.h"\n#undef H\n#define H G\n#include H',
    "a macro with arguments": "#define H(x) <x.h>\n#include H(v)",
    "a macro with brackets, which may hold macros": "#define H <v.h>\n#include H",
    "the assembler's": 'asm(".incbin \\"data\\"");',
    "the day": "const char *day = __DATE__;",
}


@pytest.mark.parametrize("source", UNKNOWN.values(), ids=UNKNOWN)
def test_unknown(folder, source):
    assert not found(source)[1]


NOTHING = {
    "words": 'int included, import; const char *s = "include"; // to include or #include it',
    "the compiler's own": "#include <cstdio>\n#include <sys/types.h>",
    "a comment": "/* as in\n #include HEADER\n or not */ // #include OTHER",
    "an empty text": "",
}


@pytest.mark.parametrize("source", NOTHING.values(), ids=NOTHING)
def test_nothing(folder, source):
    assert found(source) == (set(), True)


def test_a_name_stands_for_all_files_that_it_may_mean(folder):
    (folder / "v.h").write_text("")
    (folder / "b" / "v.h").write_text('#include "deep/er.h"\n')
    (folder / "b" / "deep").mkdir()
    (folder / "b" / "deep" / "er.h").write_text('#include "beside.h"\n#include "../a/v.h"\n')
    (folder / "b" / "deep" / "beside.h").write_text("")
    everything = {"v.h", "a/v.h", "b/v.h", "b/deep/er.h", "b/deep/beside.h"}
    assert found('#include "v.h"') == (everything, True)


def test_headers_that_include_each_other_by_ever_longer_names(folder):
    (folder / "a" / "v.h").write_text('#include "../a/v.h"\n#include "../a/../a/v.h"\n')
    names, is_complete = found('#include "v.h"')
    assert is_complete and 1 <= len(names) <= 2


def test_headers_before_the_text_and_names_from_options(folder):
    (folder / "w.h").write_text('#define H "v.h"\n')
    assert found("", first=["w.h"])[0] == {"w.h"}
    assert found("#include H", first=["w.h"]) == ({"w.h", "a/v.h"}, True)
    assert found("#include H", macros=['-DH="v.h"', "-UX", "-DY"]) == ({"a/v.h"}, True)
    assert not found("#include H", macros=["-DH=G"])[1]


def test_contents_are_bytes_of_any_kind(folder):
    (folder / "a" / "v.h").write_bytes(b"// \xff\xfe\0 latin\r\n")
    assert includes.scan('#include "v.h" // \udcff', ["a"]).files == {
        "a/v.h": b"// \xff\xfe\0 latin\r\n"
    }
    assert found('#include "no\0name"\n#include "' + "x" * 5000 + '"') == (set(), True)


# Through the compilers: what is kept is what a compiler would make now.

COMPILERS = [("g++", "host", None), ("nvrtc", "cuda", "sm_90"), ("hiprtc", "hip", "gfx90a")]
VALUES = (0x5AFE1235, 0x5AFE9876)
SOURCE = "%s\n__global__ void write(int *out) { *out = VALUE; }"


@pytest.fixture(params=COMPILERS, ids=[row[0] for row in COMPILERS])
def compiled(request, cache):
    """compiled(text, *options) -> the value that the kernel writes, read off its image."""
    compiler, backend, arch = request.param
    (needs.program if compiler == "g++" else needs.compiler)(compiler)

    def build(text, *options):
        wanted = _build.Request(SOURCE % text, cache_dir=cache, options=options)
        image = by_backend(backend, wanted, options, arch).image
        (value,) = [one for one in VALUES if one.to_bytes(4, "little") in image]
        return value

    build.compiler = compiler
    return build


# (text, options, is it kept)
CHANGED = {
    "in the working directory": ('#include "cwd.h"', (), True),
    "by a macro": ('#define H "cwd.h"\n#include H', (), True),
    "by a macro of a macro": ('#define G "cwd.h"\n#define H G\n#include H', (), False),
    "in a folder": ('/**/ #include "in/x.h"', ("-Ib",), True),
}


@pytest.mark.parametrize("case", CHANGED)
def test_a_header_that_changed_is_read_again(folder, cache, compiled, case):
    text, options, is_kept = CHANGED[case]
    (folder / "b" / "in").mkdir()
    (folder / "b" / "in" / "x.h").write_text('#include "y.h"\n')
    for value in VALUES:
        for path in ("cwd.h", "b/in/y.h"):
            (folder / path).write_text(f"#define VALUE {value}\n")
        assert compiled(text, *options) == value
    assert len(entries(cache)) == (2 if is_kept else 0)


def test_the_working_directory_is_looked_into_where_that_is_needed(folder):
    """Nothing there shall take the place of what a system's header asks for."""
    (folder / "cwd.h").write_text("")

    def is_needed(source):
        return includes.scan(source, ["a", ""]).uses_working_directory

    assert not is_needed('#include "v.h"\n#include <vector>')
    assert is_needed('#include "cwd.h"') and is_needed("#include H")


def test_headers_of_the_working_directory_come_last(folder, compiled):
    for path, value in zip(("v.h", "b/v.h"), VALUES):
        (folder / path).write_text(f"#define VALUE {value}\n")
    assert compiled('#include "v.h"') == VALUES[0]
    assert compiled('#include "v.h"', "-Ib") == VALUES[1]


def test_folders_from_the_environment(folder, compiled, monkeypatch):
    if compiled.compiler == "nvrtc":
        pytest.skip("NVRTC does not heed CPATH")
    monkeypatch.setenv("CPATH", f"{folder / 'none'}:{folder / 'b'}")
    for value in VALUES:
        (folder / "b" / "e.h").write_text(f"#define VALUE {value}\n")
        assert compiled("#include <e.h>") == value
    (folder / "none").mkdir()
    (folder / "none" / "e.h").write_text(f"#define VALUE {VALUES[0]}\n")
    assert compiled("#include <e.h>") == VALUES[0]


def test_options_that_read_files(folder, cache, compiled):
    if compiled.compiler != "g++":
        pytest.skip("options of g++")
    for value in VALUES:
        (folder / "flags").write_text(f"-DVALUE={value}\n")
        assert compiled("", "@flags") == value
    assert not entries(cache)


def test_a_header_that_changes_while_it_is_compiled(folder, compiled, monkeypatch):
    """What was compiled may be of either contents: it is not kept."""
    header = folder / "cwd.h"
    header.write_text(f"#define VALUE {VALUES[0]}\n")
    load = _build.entries.load

    def changing(*arguments):
        header.write_text(f"#define VALUE {VALUES[1]}\n")
        return load(*arguments)

    with monkeypatch.context() as patch:
        patch.setattr(_build.entries, "load", changing)
        assert compiled('#include "cwd.h"') == VALUES[1]
    header.write_text(f"#define VALUE {VALUES[0]}\n")
    assert compiled('#include "cwd.h"') == VALUES[0]


def test_a_system_header_that_changed(folder, cache, compiled, monkeypatch):
    """Of what no folder of the user's has, g++ says which files it was."""
    if compiled.compiler != "g++":
        pytest.skip("run-time compilers do not say what they read")
    system = folder / "system"
    system.mkdir()
    monkeypatch.setenv("CPATH", str(system))
    monkeypatch.setattr(Host, "include_variables", ())  # so that it is none of the user's
    header = system / "s.h"
    for value, time in zip(VALUES, (10**9, 10**9 + 1)):
        header.write_text(f"#define VALUE {value}\n")
        os.utime(header, (time, time))
        assert compiled("#include <s.h>") == compiled("#include <s.h>") == value
    assert len(entries(cache)) == 1
    header.write_text(f"#define VALUE {VALUES[0]}\n")  # just now: its time tells nothing
    assert compiled("#include <s.h>") == VALUES[0]
    header.unlink()
    (folder / "s.h").write_text(f"#define VALUE {VALUES[1]}\n")
    assert compiled("#include <s.h>") == VALUES[1]
