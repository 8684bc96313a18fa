"""Images in files: which architectures a device runs, which file is chosen, what a file keeps."""

import itertools

import pytest

from PyGPU._compile.cache import architectures, image_files
from PyGPU._compile.compilers import build

pytestmark = pytest.mark.no_device

# device: images, from the best to the worst; images that do not run
RUN = {
    "sm_86": (
        ["sm_86", "sm_80", "compute_86", "compute_80", "compute_75"],
        ["sm_87", "sm_75", "sm_90", "compute_90", "compute_80a", "gfx90a", "host"],
    ),
    "sm_90": (["sm_90", "sm_90a", "compute_90a", "compute_90", "compute_89"], ["sm_100", "sm_89"]),
    "sm_103": (
        ["sm_103", "sm_103a", "sm_103f", "sm_100f", "sm_100", "compute_100f", "compute_90"],
        ["sm_100a", "compute_100a", "compute_90a", "sm_110", "sm_90"],
    ),
    "gfx90a:sramecc+:xnack-": (
        ["gfx90a:sramecc+:xnack-", "gfx90a:xnack-", "gfx90a"],
        ["gfx90a:xnack+", "gfx90a:sramecc-", "gfx90a:sramecc+:xnack+", "gfx908", "sm_90"],
    ),
    "gfx942:sramecc+:xnack-": (["gfx942"], ["gfx942:xnack+", "gfx940", "gfx90a", "gfx94"]),
    "gfx1100": (["gfx1100"], ["gfx1100:xnack+", "gfx1101", "gfx110"]),
    "host": (["host"], ["sm_90", "gfx90a"]),
}


@pytest.mark.parametrize("device", RUN)
def test_the_best_image_for_a_device(device):
    usable, others = RUN[device]
    for better, worse in itertools.combinations(usable, 2):
        assert architectures.best([worse, better, *others], device) == better, (better, worse)
    for one in usable:
        assert architectures.best([one], device) == one
    assert architectures.best(others, device) is None
    for one in others:
        assert architectures.rank(one, device) is None, one


def test_the_target_of_a_name():
    assert [architectures.target_of(n) for n in ("sm_90a", "compute_103f", "sm_100")] == [
        "cuda",
        "cuda",
        "cuda",
    ]
    assert architectures.target_of("gfx90a:sramecc+:xnack-") == "hip"
    assert architectures.target_of("host") == "host"
    for name in ("", "banana", "sm_", "sm_9", "gfx", "gfx90a:", "gfx90a:fast+", "90", "Host"):
        assert architectures.target_of(name) is None, name


# Files.


@pytest.fixture
def folder(tmp_path):
    for name in (
        *("mine.gfx90a.hsaco", "mine.gfx90a_xnack+.hsaco", "mine.sm_90.cubin"),
        *("mine.compute_80.ptx", "mine.host.so", "mine.cu", "mine.h", "notes.txt", "a.b.c"),
    ):
        (tmp_path / name).write_text(name)
    return tmp_path


@pytest.mark.parametrize(
    ("device", "name"),
    [
        ("gfx90a:sramecc+:xnack-", "mine.gfx90a.hsaco"),
        ("gfx90a:sramecc+:xnack+", "mine.gfx90a_xnack+.hsaco"),
        ("sm_90", "mine.sm_90.cubin"),
        ("sm_86", "mine.compute_80.ptx"),
        ("host", "mine.host.so"),
    ],
)
def test_the_file_for_a_device(folder, device, name):
    assert image_files.choose(folder, device) == folder / name
    assert image_files.choose(folder / "mine", device) == folder / name


def test_no_file_for_a_device(folder):
    for path in (folder, folder / "mine"):
        with pytest.raises(LookupError) as caught:
            image_files.choose(path, "gfx942:sramecc+:xnack-")
        text = str(caught.value)
        assert "gfx942:sramecc+:xnack-" in text and "mine.gfx90a_xnack+.hsaco" in text
        assert "mine.cu," not in text and "--arch gfx942" in text


def test_a_folder_of_several_texts(folder):
    (folder / "other.name.sm_90.cubin").write_text("")
    with pytest.raises(LookupError, match="several texts"):
        image_files.choose(folder, "sm_90")
    assert image_files.choose(folder / "mine", "sm_90") == folder / "mine.sm_90.cubin"
    path = folder / "other.name.sm_90.cubin"
    assert image_files.choose(folder / "other.name", "sm_90") == path
    with pytest.raises(FileNotFoundError):
        image_files.choose(folder / "none", "sm_90")


def test_an_empty_folder(tmp_path):
    with pytest.raises(LookupError, match="no image"):
        image_files.choose(tmp_path, "sm_90")


@pytest.mark.parametrize(
    ("image", "arch", "name"),
    [
        (b"\x7fELF\0\0", "gfx90a:sramecc+:xnack-", "a.gfx90a_sramecc+_xnack-.hsaco"),
        (b"\x7fELF\0\0", "sm_90", "a.sm_90.cubin"),
        (b".version 8.0\n\0", "compute_90", "a.compute_90.ptx"),
        (b"\x7fELF\0\0", "host", "a.host.so"),
    ],
)
def test_names_and_contents(tmp_path, image, arch, name):
    assert image_files.name("a", arch, build.backend_of(arch).suffix(image)) == name
    entry = image_files.Image(
        image, {"f<int>": "_Z1fIiEvv"}, {"f": (("x", "Pf4", 8), ("n", "i", 4))}
    )
    data = image_files.packed(entry)
    found = image_files.unpacked(data)
    assert found.image == (image.rstrip(b"\0") if image[:1] == b"." else image)
    assert found.names == entry.names
    assert found.parameters == {"f": [["x", "Pf4", 8], ["n", "i", 4]]}
    (tmp_path / name).write_bytes(data)
    assert image_files.choose(tmp_path, arch) == tmp_path / name


@pytest.mark.parametrize(
    "data", [b"", b"\x7fELF", b"x\n// PyGPU kernels: {nonsense\n", b"\n// PyGPU kernels: [5]\n"]
)
def test_what_has_no_note_stays_as_it_is(data):
    assert image_files.unpacked(data) == (data, {}, {})
