"""Generator of docs/settings.md, from the table in PyGPU/_runtime/settings.py.

python tests/support/settings_page.py > docs/settings.md
"""

from PyGPU._runtime import settings

HEAD = """\
# Environment variables

PyGPU reads these variables. A value that a variable does not accept draws a `PyGPU.SettingWarning`
at import, which names the variable, its value, the expected values and the default; the default is
then in force. `PYGPU_TARGET` is the exception: a program must not run on another target than the
one it asks for, so an invalid value is an `ImportError`.

Sizes are bytes, or numbers with a suffix: `64K`, `512M`, `1GB`, `1.5G`. An empty value counts as
not set. C++ reads its variables when it first needs them; Python reads its own at each use.

`python tests/support/settings_page.py > docs/settings.md` generates this page.

"""
TOOLKITS = """\

## Toolkits

The installation and the running program search for CUDA and ROCm in this order:

| search | CUDA | ROCm |
|---|---|---|
| a variable, the first that is set | `CUDA_PATH`, `CUDA_HOME` | `ROCM_PATH`, `HIP_PATH` |
| around the compiler on `PATH`, pip wheels of its Python included | `nvcc` | `hipcc` |
| environments | `CONDA_PREFIX`, `sys.prefix` | the same |
| usual folders | `/usr/local/cuda`, `/usr` | `/opt/rocm`, `/usr` |
| pip wheels on `sys.path` and in `sys.prefix` | `nvidia/*` | `_rocm_sdk_*` |
| at run time | the package `cuda-pathfinder`, if installed; then the loader | the loader |

Libraries are in `lib64`, `lib` or `targets/x86_64-linux/lib` of a toolkit, on ARM servers in
`targets/sbsa-linux/lib`; headers are in `include` or `targets/.../include`.
Where `nvcc` is a script or a link, as in NVIDIA's HPC SDK, modules, ccache, Nix and Guix, the
folders are those that `nvcc --dryrun` prints.

A variable that names a folder without what is needed there is an error, which names the variable
and the missing file: of the installation, and of the first compilation that needs the file. This
holds for the compilers, the runtime and their headers. Other libraries, such as cuRAND, are also
searched for in other toolkits.
"""


def page():
    """Return the text of docs/settings.md."""
    return HEAD + settings.table() + TOOLKITS


if __name__ == "__main__":
    print(page(), end="")
