"""python -m PyGPU doctor: limits of containers, batch systems and shells."""

from types import SimpleNamespace

import pytest
from doctor_tools import doctor, faults, mounted, read_only, the_fault

from PyGPU._tools import doctor_limits as limits
from PyGPU._tools.findings import VENDORS, Finding

pytestmark = pytest.mark.no_device


def test_little_locked_memory():
    row = the_fault(doctor("--only", "locked_memory", before="ulimit -S -l 64;"))
    assert "RLIMIT_MEMLOCK is 64 KiB" in row["found"] and "ulimit -l unlimited" in row["remedy"]


@pytest.mark.parametrize(
    ("line", "folder", "limit", "used"),
    [
        ("0::/job/step", "sys/fs/cgroup/job", "memory.max", "memory.current"),
        ("0::/not/mounted", "sys/fs/cgroup", "memory.max", "memory.current"),
        (
            "5:cpu:/x\n4:hugetlb,memory:/job",
            "sys/fs/cgroup/memory/job",
            "memory.limit_in_bytes",
            "memory.usage_in_bytes",
        ),
    ],
)
def test_memory_of_a_control_group(tmp_path, line, folder, limit, used):
    group = tmp_path / folder
    group.mkdir(parents=True)
    (tmp_path / "proc/self").mkdir(parents=True)
    (tmp_path / "proc/self/cgroup").write_text(f"{line}\n")
    info = "MemTotal: 67108864 kB\nMemAvailable: 33554432 kB\n"
    (tmp_path / "proc/meminfo").write_text(info)
    (group / limit).write_text("max\n")
    (found,) = limits.memory(str(tmp_path))
    assert found == Finding("OK", "memory: 32 GiB of 64 GiB are available")
    (group / limit).write_text(f"{8 << 30}\n")
    (group / used).write_text(f"{6 << 30}\n")
    assert "leaves 2 GiB of its 8 GiB" in [*limits.memory(str(tmp_path))][1].found
    (group / used).write_text(f"{8 << 30}\n")
    _, found = limits.memory(str(tmp_path))
    assert found.state == "WARN" and "leaves 0 bytes" in found.found and "--mem" in found.remedy
    word = "total_inactive_file" if "memory/" in folder else "inactive_file"
    (group / "memory.stat").write_text(f"cache 7\n{word} {4 << 30}\n")
    assert [*limits.memory(str(tmp_path))][1].state == "OK"


def test_little_shared_memory(tmp_path, monkeypatch):
    state = SimpleNamespace(f_blocks=1 << 14, f_bavail=1 << 13, f_frsize=1 << 12)
    monkeypatch.setattr(limits.os, "statvfs", lambda folder: state)
    (found,) = limits.shared_memory()
    assert "32 MiB of 64 MiB" in found.found and "--shm-size" in found.remedy
    (found,) = limits.temporary_files()
    assert found.state == "WARN" and "TMPDIR" in found.remedy
    monkeypatch.undo()
    (found,) = limits.shared_memory(str(tmp_path / "none"))
    assert found.state == "WARN" and "tmpfs" in found.remedy


def test_no_folder_for_temporary_files(monkeypatch):
    monkeypatch.setattr(limits.tempfile, "gettempdir", lambda: "/none")
    (found,) = limits.temporary_files()
    assert found.state == "FAIL" and "TMPDIR" in found.remedy


def test_temporary_files_that_cannot_be_written_anywhere():
    """The checks run nevertheless; the one of kernels fails, for the compiler needs a file."""
    before = "".join(read_only(one) for one in ("/tmp", "/var/tmp"))
    rows = doctor(before=f"{before} cd /proc;", expect=1, TMPDIR="")
    found = {row["check"]: row for row in faults(rows)}
    assert "No usable temporary directory" in found["limits.temporary_files"]["found"]
    assert "TMPDIR" in found["limits.temporary_files"]["remedy"]
    assert "other lines' remedies first" in found["devices.kernel"]["remedy"]


def test_a_folder_of_temporary_files_that_is_not_there():
    row = the_fault(doctor("--only", "temporary", TMPDIR="/none/there"))
    assert "TMPDIR='/none/there' cannot be used" in row["found"] and "TMPDIR" in row["remedy"]


def test_temporary_files_that_may_not_be_executed(tmp_path):
    before = mounted("tmpfs -o noexec", tmp_path)
    rows = doctor("--only", "kernel", before=before, TMPDIR=str(tmp_path), PYGPU_DISABLE_CACHE="1")
    assert not faults(rows)


@pytest.mark.parametrize(
    ("options", "found", "remedy"),
    [
        ("tmpfs -o size=64k", "64 KiB of 64 KiB", "--shm-size"),
        ("tmpfs -o ro", "cannot be written", "mode 1777"),
    ],
)
def test_shared_memory_of_a_container(options, found, remedy):
    row = the_fault(doctor("--only", "shared_memory", before=mounted(options, "/dev/shm")))
    assert found in row["found"] and remedy in row["remedy"]


@pytest.mark.parametrize(
    ("limit", "check", "found", "remedy"),
    [
        ("-v 4000000", "address_space", "RLIMIT_AS is 3.8 GiB", "ulimit -v unlimited"),
        ("-n 64", "limits.files", "RLIMIT_NOFILE is 64", "ulimit -n 1024"),
        ("-f 100000", "limits.files", "RLIMIT_FSIZE is", "ulimit -f unlimited"),
    ],
)
def test_limits_of_a_shell(limit, check, found, remedy):
    row = the_fault(doctor("--only", check, before=f"ulimit -S {limit};"))
    assert found in row["found"] and remedy in row["remedy"]


def test_a_small_address_space():
    """Checks that fail for want of addresses name the limit."""
    rows = faults(doctor(before="ulimit -S -v 200000;", expect=1))
    lost = [row for row in rows if "MemoryError" in row["found"]]
    assert lost and all("`limits`" in row["remedy"] for row in lost)
    assert "limits.address_space" in {row["check"] for row in rows}


def test_files_that_may_not_grow():
    rows = faults(doctor(before="ulimit -S -f 100;", expect=1))
    found = {row["check"]: row for row in rows}
    assert "File too large" in found["limits.temporary_files"]["found"]
    for name in ("limits.files", "limits.temporary_files", "cache.folder"):
        assert "ulimit -f unlimited" in found[name]["remedy"]


def test_processes_of_a_user(monkeypatch):
    monkeypatch.setattr(limits.resource, "getrlimit", lambda which: (20, 20))
    monkeypatch.setattr(limits.os, "geteuid", lambda: 1000)
    found = next(limits.processes("/none"))
    assert found.state == "WARN" and "RLIMIT_NPROC is 20" in found.found
    assert "ulimit -u" in found.remedy
    monkeypatch.setattr(limits.os, "geteuid", lambda: 0)
    assert next(limits.processes("/none")).state == "OK"


def with_group(root, line, folder, **files):
    """A folder with the files of a control group below `root`; `__` in a name is a dot."""
    (root / "proc/self").mkdir(parents=True)
    (root / "proc/self/cgroup").write_text(f"{line}\n")
    group = root / folder
    group.mkdir(parents=True)
    for name, text in files.items():
        (group / name.replace("__", ".")).write_text(f"{text}\n")
    return str(root)


@pytest.mark.parametrize(
    ("line", "folder"),
    [("0::/job", "sys/fs/cgroup/job"), ("3:pids:/job", "sys/fs/cgroup/pids/job")],
)
def test_processes_of_a_control_group(tmp_path, line, folder):
    root = with_group(tmp_path, line, folder, pids__max=100, pids__current=90)
    *_, found = limits.processes(root)
    assert found.state == "WARN" and "group /job has 90 of at most 100" in found.found
    assert "--pids-limit" in found.remedy
    (tmp_path / folder / "pids.max").write_text("max\n")
    assert {one.state for one in limits.processes(root)} == {"OK"}


@pytest.mark.parametrize(
    ("line", "folder", "files"),
    [
        ("0::/job", "sys/fs/cgroup/job", {"cpu__max": "150000 100000"}),
        (
            "3:cpu,cpuacct:/job",
            "sys/fs/cgroup/cpu/job",
            {"cpu__cfs_quota_us": 150000, "cpu__cfs_period_us": 100000},
        ),
    ],
)
def test_processors_of_a_control_group(tmp_path, monkeypatch, line, folder, files):
    monkeypatch.setattr(limits.os, "sched_getaffinity", lambda _: {0, 1, 2, 3})
    monkeypatch.setattr(limits, "OWN", None)
    root = with_group(tmp_path, line, folder, **files)
    (found,) = limits.processors(root)
    assert found.state == "WARN" and "/job limits their time to that of 1.5" in found.found
    assert found.remedy.startswith("Set PYGPU_HOST_THREADS=1, or ask for more processors")
    monkeypatch.setattr(limits, "OWN", VENDORS[0])
    assert next(limits.processors(root)).remedy.startswith("Ask for more processors")
    monkeypatch.setattr(limits.os, "sched_getaffinity", lambda _: {0})
    assert [one.state for one in limits.processors(root)] == ["OK"]


def test_files_of_control_groups_that_are_not_there(tmp_path):
    group = limits.Group("/", str(tmp_path), True)
    assert group.memory() == (None, 0)
    assert group.processes() == (None, 0)
    assert group.processors() is None
    (tmp_path / "cpu.max").write_text("max 100000\n")
    assert group.processors() is None
