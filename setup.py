"""Build PyGPU: the same C++ sources once for each target, plus the host machine's library.

Only host code is compiled, so a C++17 compiler and the vendor's headers are enough. The environment
variable PYBIND_GPU_TARGET chooses:

    (unset)       host, and cuda if a CUDA toolkit is found
    host          host alone
    cuda          cuda and host; an error without a CUDA toolkit
    gfx908        hip and host, for these AMD architectures (comma-separated); an error without HIP
    all           host and whatever is found
    wheel         host, cuda, and hip once for each folder of PYGPU_HIP_ROOTS; an error if one is
                  missing

PYGPU_HIP_ROOTS=/a:/b names folders with HIP's headers and library, each of another major version.
The structures of HIP differ between major versions, so each version has a module of its own: _hip5,
_hip6, _hip7. The package loads the module whose libamdhip64 is installed. .ci/wheels builds wheels.
"""

import gzip
import hashlib
import os
import re
import runpy
import shutil
import signal
import tarfile
import zlib
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from types import SimpleNamespace

import pybind11
from setuptools import Distribution, Extension, setup
from setuptools.command.build_ext import build_ext
from setuptools.command.build_py import build_py
from setuptools.command.sdist import sdist

HERE = Path(__file__).resolve().parent
# Where a parent had this signal ignored, a compiler's failure would read as success.
signal.signal(signal.SIGCHLD, signal.SIG_DFL)


def sources(*folders):
    found = [path for folder in folders for path in (HERE / "src" / folder).rglob("*.cpp")]
    return sorted(str(path.relative_to(HERE)) for path in found)


# PYGPU_PARTS: what is built and installed. PyGPU/_runtime/parts.py has the parts and their modules.
PARTS_OF_PYTHON = SimpleNamespace(**runpy.run_path(str(HERE / "PyGPU/_runtime/parts.py")))
try:
    PARTS = PARTS_OF_PYTHON.wanted(os.environ.get("PYGPU_PARTS", "all"))
except ValueError as error:
    raise SystemExit(str(error)) from None
# Folders of C++ sources of each part. The runtime is the light ring: the seam, the runtime's
# resources and calls, and the low level's classes, without arrays and launches.
FOLDERS = {
    "runtime": ["src/core/runtime", "src/python", "src/python/binding", "src/python/runtime"],
    "kernels": ["src/core/arrays", "src/python/value", "src/python/launch"],
    "arrays": ["src/python/operations", "src/python/array", "src/python/exchange"],
}
CORE_SOURCES = [
    source
    for source in sources("core", "python")
    if any(str(Path(source).parent) in FOLDERS.get(part, ()) for part in PARTS)
]
MACHINE_SOURCES = sources("host")
MACHINE = "PyGPU.libPyGPU_host"
HAS_SYMBOLS = "-g" in os.environ.get("CFLAGS", "").split()  # asked for, as tests/sanitized.py does
COMPILE = [
    "-std=c++17",
    *([] if HAS_SYMBOLS else ["-g0"]),
    # Python's own flags have it, but newer setuptools drop those where CFLAGS is set. Without it,
    # pybind11 checks at every reference that it counts: up to half as many instructions more.
    "-DNDEBUG",
    "-fvisibility=hidden",
    "-Wall",
    "-Wextra",
    "-Wshadow",
    # The linker drops the functions that nothing calls.
    *("-ffunction-sections", "-fdata-sections", "-fvisibility-inlines-hidden"),
]
# g++ takes a quarter less time for this than for -O2, and the calls as many instructions.
QUICK = [
    *("-O1", "-finline-functions", "-finline-small-functions", "-findirect-inlining"),
    *("-fpartial-inlining", "-fstrict-aliasing", "-fipa-cp", "-fipa-sra"),
]
# Folders whose sources are compiled at once, those that take longest first.
UNITS = {
    "array": ["src/python/value", "src/python/operations", "src/python/array"],
    "calls": ["src/python/runtime", "src/python/exchange"],
    "machine": ["src/host"],
    "launch": ["src/python", "src/python/binding", "src/python/launch"],
    "core": ["src/core/runtime", "src/core/arrays"],
}
# Units that are small instead of quick: the low level's calls take less time than the runtime's
# functions that they call. The light ring is small as a whole.
SMALL = {"calls"} if "kernels" in PARTS else {*UNITS}
# Folders of headers that only the package's own sources include, so no wheel has them.
OWN_HEADERS = ["runtime", "arrays"]
# The search at run time is the search of the build; the package is not built yet.
TOOLKITS = SimpleNamespace(**runpy.run_path(str(HERE / "PyGPU" / "_runtime" / "toolkits.py")))
LINK = [*([] if HAS_SYMBOLS else ["-Wl,-s"]), "-Wl,--as-needed", "-Wl,--gc-sections"]


def cuda_extension():
    # The pip wheels of CUDA 11 have no static library.
    found = TOOLKITS.for_build(
        TOOLKITS.CUDA,
        ["cuda_runtime.h", "crt/host_config.h"],
        ["libcudart_static.a", "libcudart.so", "libcudart.so.[0-9]*"],
    )
    is_static = found.library.endswith(".a")
    return target_extension(
        "cuda",
        include_dirs=found.include_dirs,
        extra_objects=[found.library],
        runtime_library_dirs=[] if is_static else [str(Path(found.library).parent)],
        libraries=["dl", "rt", "pthread"],
    )


# pip wheels have no links, so their library has its version in its name alone.
HIP_FILES = ["hip/hip_runtime_api.h"], ["libamdhip64.so", "libamdhip64.so.[0-9]"]


def hip_extension(architectures):
    found = TOOLKITS.for_build(TOOLKITS.ROCM, *HIP_FILES)
    is_of_system = found.root == "/usr"
    return target_extension(
        "hip",
        macros=[("PYGPU_ARCHITECTURES", f'"{architectures}"')],
        include_dirs=[] if is_of_system else found.include_dirs,
        extra_objects=[found.library],
        runtime_library_dirs=[] if is_of_system else [str(Path(found.library).parent)],
        libraries=["pthread"],
    )


def hip_extensions_of_wheel():
    """One extension for each major version of HIP; the running program searches for the library."""
    roots = [root for root in os.environ.get("PYGPU_HIP_ROOTS", "").split(os.pathsep) if root]
    if not roots:
        raise TOOLKITS.NotFound("the variable PYGPU_HIP_ROOTS, which names folders of HIP")
    extensions = {}
    for root in roots:
        found = TOOLKITS.for_build(TOOLKITS.ROCM, *HIP_FILES, root=root)
        version = Path(found.include_dirs[0], "hip", "hip_version.h").read_text()
        name = "_hip" + re.search(r"HIP_VERSION_MAJOR (\d+)", version).group(1)
        if name in extensions:
            raise SystemExit(
                f"PYGPU_HIP_ROOTS={os.environ['PYGPU_HIP_ROOTS']!r}: two folders have HIP "
                f"{name[4:]}, expected one folder for each major version"
            )
        extensions[name] = target_extension(
            "hip",
            module=name,
            include_dirs=found.include_dirs,
            extra_objects=[found.library],
            libraries=["pthread"],
        )
    return list(extensions.values())


def host_extensions():
    machine = Extension(
        MACHINE,
        MACHINE_SOURCES,
        include_dirs=["include"],
        extra_compile_args=COMPILE,
        # Its threads and signal handlers stay when a program unloads the libraries that use it.
        extra_link_args=[*LINK, "-Wl,-soname,libPyGPU_host.so", "-Wl,-z,nodelete"],
        libraries=["pthread"],
        language="c++",
    )
    host = target_extension(
        "host", libraries=["PyGPU_host", "pthread"], extra_link_args=["-Wl,-rpath,$ORIGIN"]
    )
    return [machine, host]


def target_extension(
    target, module=None, macros=(), include_dirs=(), extra_link_args=(), **options
):
    module = module or f"_{target}"
    return Extension(
        f"PyGPU.{module}",
        CORE_SOURCES,
        define_macros=[
            (f"PYGPU_TARGET_{target.upper()}", None),
            ("PYGPU_MODULE", module),
            ("PYGPU_VERSION", f'"{version()}"'),
            ("PYGPU_SOURCES", f"{checksum()}u"),
            *((f"PYGPU_PART_{part.upper()}", None) for part in PARTS),
            ("PYGPU_PARTS", f'"{",".join(PARTS)}"'),
            *macros,
        ],
        include_dirs=["include", "src", *include_dirs],
        extra_compile_args=[*COMPILE, "-isystem", pybind11.get_include()],
        # src/python/binding/gil.cpp wraps this function.
        extra_link_args=[*LINK, "-Wl,--wrap=__gxx_personality_v0", *extra_link_args],
        language="c++",
        **options,
    )


def checksum():
    """Return the CRC by which src/python/binding/staleness.cpp knows its sources."""
    crc = 0
    for path in sorted(map(str, (HERE / "src" / "python").rglob("*"))):
        if path.endswith((".h", ".cpp")):
            crc = zlib.crc32(Path(path).read_bytes(), crc)
    return crc


def version():
    return re.search(r'^version = "(.+)"', (HERE / "pyproject.toml").read_text(), re.M).group(1)


def wanted_targets(asked):
    """{target: how to find its extensions}, and whether it is an error if one is not found."""
    # Names of rocminfo and of compilers: gfx90a:sramecc+:xnack-, gfx9-4-generic.
    architecture = r"gfx[0-9a-f]+(-[0-9]+)*(-generic)?(:[a-z]+[+-])*"
    if re.fullmatch(rf"{architecture}(,{architecture})*", asked):
        return {"hip": lambda: [hip_extension(asked)]}, True
    cuda = {"cuda": lambda: [cuda_extension()]}
    choices = {
        "": (cuda, False),
        "host": ({}, True),
        "cuda": (cuda, True),
        "all": ({**cuda, "hip": lambda: [hip_extension("")]}, False),
        "wheel": ({**cuda, "hip": hip_extensions_of_wheel}, True),
    }
    if asked not in choices:
        raise SystemExit(
            f"PYBIND_GPU_TARGET={asked!r}: expected host, cuda, all, wheel, or AMD "
            "architectures such as gfx908 or gfx908,gfx90a"
        )
    return choices[asked]


def extensions():
    asked = os.environ.get("PYBIND_GPU_TARGET", "").strip().lower()
    finders, required = wanted_targets(asked)
    found = host_extensions()
    for target, find_extensions in finders.items():
        try:
            found += find_extensions()
        except TOOLKITS.Misnamed as error:
            raise SystemExit(f"PyGPU: the {target} target: {error}") from None
        except TOOLKITS.NotFound as missing:
            if required:
                raise SystemExit(f"PYBIND_GPU_TARGET={asked}: not found: {missing}") from None
            print(f"PyGPU: without the {target} target; not found: {missing}")
    return found


class BuildExt(build_ext):
    """Compile every source of every target side by side, then link."""

    def get_ext_filename(self, fullname):
        # The machine is a plain shared library that users link to, without Python's ABI tag.
        if fullname.endswith("libPyGPU_host"):
            return os.path.join(*fullname.split(".")) + ".so"
        return super().get_ext_filename(fullname)

    def get_export_symbols(self, ext):
        return ext.export_symbols

    def build_extensions(self):
        self.remove_other_targets()
        cores = self.parallel or len(os.sched_getaffinity(0))
        units = self.units()
        with ThreadPoolExecutor(cores) as pool:
            objects = list(pool.map(lambda unit: self.compile(*unit), units))
        for ext in self.extensions:
            own = [made for (owner, _), made in zip(units, objects) if owner is ext]
            self.link(ext, own)

    def remove_other_targets(self):
        """Drop what an earlier build for other targets left where this one's results go."""
        folders = [Path(self.build_lib, "PyGPU")]
        if getattr(self, "editable_mode", False) or self.inplace:
            folders.append(HERE / "PyGPU")
        wanted = {self.get_ext_filename(ext.name.split(".")[-1]) for ext in self.extensions}
        for folder in folders:
            for old in {*folder.glob("_*.so"), *folder.glob("lib*.so")}:
                if old.name not in wanted:
                    old.unlink()

    def units(self):
        """(extension, source): what is compiled at once, the longest first.

        The sources of some folders are one unit, for reading headers takes most of a file's time.
        """
        units = []
        for name, folders in UNITS.items():
            for ext in self.extensions:
                inside = [source for source in ext.sources if str(Path(source).parent) in folders]
                if inside:
                    unit = Path(self.build_temp, ext.name, f"{name}.cpp")
                    unit.parent.mkdir(parents=True, exist_ok=True)
                    unit.write_text("".join(f'#include "{HERE / source}"\n' for source in inside))
                    units.append((ext, str(unit)))
        return units

    def compile(self, ext, source):
        is_gnu = re.search(r"\bg\+\+", " ".join(self.compiler.compiler_cxx))
        is_small = Path(source).stem in SMALL
        optimize = ["-Os"] if is_small else QUICK if is_gnu else ["-O2"]
        (made,) = self.compiler.compile(
            [source],
            output_dir=str(Path(self.build_temp, ext.name)),
            macros=ext.define_macros,
            include_dirs=ext.include_dirs,
            extra_postargs=[*optimize, *ext.extra_compile_args],
        )
        return made

    def link(self, ext, objects):
        Path(self.get_ext_fullpath(ext.name)).parent.mkdir(parents=True, exist_ok=True)
        machine = Path(self.get_ext_fullpath(MACHINE)).parent
        self.compiler.link_shared_object(
            objects + ext.extra_objects,
            self.get_ext_fullpath(ext.name),
            libraries=ext.libraries,
            library_dirs=[*ext.library_dirs, str(machine)],
            runtime_library_dirs=ext.runtime_library_dirs,
            extra_postargs=ext.extra_link_args,
            build_temp=self.build_temp,
            target_lang="c++",
        )


class BuildPy(build_py):
    """Install the modules of the parts, and the headers where PyGPU.get_include() finds them."""

    def find_package_modules(self, package, package_dir):
        found = super().find_package_modules(package, package_dir)
        names = [f"{package}.{module}".removeprefix("PyGPU.") for _, module, _ in found]
        return [row for row, name in zip(found, names) if PARTS_OF_PYTHON.part_of(name) in PARTS]

    def find_data_files(self, package, src_dir):
        is_wanted = PARTS_OF_PYTHON.part_of(package.removeprefix("PyGPU.")) in PARTS
        return super().find_data_files(package, src_dir) if is_wanted else []

    def run(self):
        super().run()
        if not getattr(self, "editable_mode", False):
            include = Path(self.build_lib, "PyGPU", "include")
            ignore = shutil.ignore_patterns(*OWN_HEADERS)
            shutil.copytree(HERE / "include", include, dirs_exist_ok=True, ignore=ignore)
            self.write_digest()

    def write_digest(self):
        """Write the digest of the files that images depend on, which a checkout looks up."""
        package, digest = Path(self.build_lib, "PyGPU"), hashlib.sha256()
        if not (package / "_compile").is_dir():  # a package without kernels
            return
        for path in sorted([*package.glob("include/**/*"), *package.glob("_compile/**/*.py")]):
            if path.is_file():
                digest.update(f"{path.relative_to(package)}\0".encode() + path.read_bytes())
        (package / "_compile" / "digest").write_bytes(digest.digest())


class SourceArchive(sdist):
    """Write the same bytes at each build if SOURCE_DATE_EPOCH is set."""

    def make_archive(self, base_name, format, root_dir=None, base_dir=None, **owner):
        epoch = os.environ.get("SOURCE_DATE_EPOCH")
        if not epoch or format != "gztar":
            return super().make_archive(base_name, format, root_dir, base_dir, **owner)

        def neutral(member):
            member.mtime = int(epoch)
            member.uid = member.gid = 0
            member.uname = member.gname = ""
            member.mode = 0o755 if member.isdir() or member.mode & 0o100 else 0o644
            return member

        name = f"{base_name}.tar.gz"
        stream = gzip.GzipFile(name, "wb", mtime=int(epoch))
        with stream, tarfile.open(fileobj=stream, mode="w") as archive:
            archive.add(base_dir, filter=neutral)
        return name


class WithLicence(Distribution):
    """State the licence as an expression where setuptools has those, since version 77."""

    def parse_config_files(self, *args, **kwargs):
        super().parse_config_files(*args, **kwargs)
        if hasattr(self.metadata, "license_expression"):
            self.metadata.license_expression = "MIT"
            # The expression replaces the classifier.
            kept = [one for one in self.metadata.classifiers if not one.startswith("License ::")]
            self.metadata.classifiers = kept


setup(
    ext_modules=extensions(),
    distclass=WithLicence,
    cmdclass={"build_ext": BuildExt, "build_py": BuildPy, "sdist": SourceArchive},
)
