"""What the shipped libraries contain and what importing the package loads.

libtracert and the extension must stand without LLVM, MLIR and (the runtime) Python; loading the
package must map neither LLVM nor NumPy; the runtime's core must stay small.
"""

import os
import pathlib
import re
import shutil
import subprocess
import sys

import pytest

BUILD = pathlib.Path(os.environ["TRACEC_BUILD"])
CORE_LIMIT_BYTES = 512 * 1024
# What the kernels of all ops and dtypes at three levels took, and a tenth more.
KERNELS_LIMIT_BYTES = 3_898_424 * 11 // 10
COMPILER_SYMBOL = re.compile(r"\b(llvm|mlir|clang|lld)::|\bLLVM[A-Z]|\bmlir[A-Z]")
PYTHON_SYMBOL = re.compile(r"\b_?Py[A-Z_]")


def output(*command, **options):
    return subprocess.run([str(part) for part in command], capture_output=True, text=True,
                          check=True, **options).stdout


def library(name):
    found = sorted(BUILD.glob(name))
    assert found, f"no {name} in {BUILD}"
    return found[0].resolve()


def needed(path):
    return re.findall(r"\(NEEDED\).*\[(.+)\]", output("readelf", "-d", path))


def symbols(path, *options):
    return output("nm", "-C", *options, path).splitlines()


LLVM_FREE = ["lib/libtracert.so", "lib/libtracert-kernels.so", "python/tracec/_core*.so",
             "bin/tracert-run"]


@pytest.mark.parametrize("name", LLVM_FREE)
def test_needs_no_compiler_library(name):
    assert not [entry for entry in needed(library(name))
                if re.search("LLVM|MLIR|clang|tracec-compiler", entry)]


@pytest.mark.parametrize("name", LLVM_FREE)
def test_has_no_compiler_symbol(name):
    path = library(name)
    both = symbols(path) + symbols(path, "-D")
    assert len(both) > 10, f"{path} has hardly any symbol; is it the right file?"
    assert not [line for line in both if COMPILER_SYMBOL.search(line)]


def test_compiler_symbol_is_found_where_it_should_be():
    # Guards the pattern above: the compiler library does use MLIR.
    assert [line for line in symbols(library("lib/libtracec-compiler.so"), "-D")
            if COMPILER_SYMBOL.search(line)]


@pytest.mark.parametrize("name", ["lib/libtracert.so", "lib/libtracert-kernels.so",
                                  "bin/tracert-run"])
def test_runtime_has_no_python_symbol(name):
    path = library(name)
    assert not [line for line in symbols(path) + symbols(path, "-D")
                if PYTHON_SYMBOL.search(line)]
    assert not [entry for entry in needed(path) if "python" in entry]


@pytest.mark.parametrize("name", ["lib/libtracert.so", "lib/libtracert-kernels.so"])
def test_runtime_exports_only_its_own_names(name):
    exported = symbols(library(name), "-D", "--defined-only", "--extern-only")
    foreign = [line for line in exported
               if not re.search(r" (trt_|(typeinfo (name )?for |vtable for |VTT for |"
                                r"guard variable for )?.*tracert::)", line)
               # Inline functions of the C++ library that had to be emitted here.
               and not re.search(r" [VWu] .*\bstd::", line)]
    assert not foreign


@pytest.mark.parametrize("name, limit", [("libtracert.so", CORE_LIMIT_BYTES),
                                         ("libtracert-kernels.so", KERNELS_LIMIT_BYTES)])
def test_the_runtime_is_small_when_stripped(tmp_path, name, limit):
    stripped = tmp_path / name
    shutil.copy(library(f"lib/{name}"), stripped)
    output("strip", stripped)
    assert stripped.stat().st_size <= limit


@pytest.mark.parametrize("isa", ["portable", "v3", "avx512"])
def test_isa_level_shares_no_definition(isa):
    """A global inline function compiled at two levels would be merged by the linker, so that
    portable code could run AVX-512 instructions."""
    path = library(f"runtime/isolated/tracert_kernels_{isa}_objects.o")
    defined = symbols(path, "--defined-only", "--extern-only")
    assert defined
    assert not [line for line in defined if f"tracert::{isa}::" not in line]


def mapped_libraries(code):
    """Base names of all files mapped by a fresh interpreter after running `code`."""
    script = f"{code}\nprint(open('/proc/self/maps').read())"
    maps = output(sys.executable, "-c", script,
                  env={**os.environ, "PYTHONPATH": str(BUILD / "python")})
    return {os.path.basename(line.split()[-1]) for line in maps.splitlines() if "/" in line}


def test_import_loads_neither_llvm_nor_numpy():
    mapped = mapped_libraries("import sys, tracec\nassert 'numpy' not in sys.modules")
    assert any(name.startswith("libtracert.so") for name in mapped)
    assert not [name for name in mapped if re.match("libLLVM|libMLIR|libtracec-compiler", name)]
    assert not [name for name in mapped if "_multiarray" in name]


def test_mapped_libraries_does_see_numpy():
    assert [name for name in mapped_libraries("import numpy") if "_multiarray" in name]
