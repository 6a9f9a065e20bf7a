"""dump and load from Python: round trip, and every kind of bad path and bad file as a clear error.

The file is written to a temporary name and renamed, so a failed dump leaves neither a new file nor a damaged old one.
"""

import os
import re
import subprocess
import sys
import textwrap
import zlib

import numpy as np
import pytest

import tracec as tc
from checks import assert_same
from paths import level_of

WEIGHT = np.float32([[1, 2], [3, 4], [5, 6]])
X = np.float32([[0.5, -1, 2], [3, 0, 1]])
AT = np.int64([1, 0, 1])


def traced_sample():
    """A small function with a weight, a gather, a mask and a write to a captured tensor-free temporary."""
    weight = tc.tensor(WEIGHT)

    def model(x, at):
        y = x @ weight
        y[y > 10] = 10.0
        return y[at] * 2.0, x[x > 0].sum()

    function = tc.trace(model)
    for _ in range(2):
        function(tc.tensor(X), tc.tensor(AT))
    return function


@pytest.fixture(scope="module")
def dumped(tmp_path_factory):
    path = tmp_path_factory.mktemp("files") / "model.trc"
    traced_sample().dump(path, arg_names=["x", "at"], output_names=["y", "total"])
    return path


def test_round_trip(dumped):
    loaded = tc.load(dumped)
    for at in (AT, AT[:2], np.int64([-1, -2, 0, 0, 1])):
        for x in (X, X * 3, np.concatenate([X, -X, X])):
            y = np.minimum(x @ WEIGHT, np.float32(10))
            result = loaded(tc.tensor(x), tc.tensor(at))
            assert isinstance(result, tuple)
            assert_same(result, (y[at] * np.float32(2), np.float32(x[x > 0].sum())))
            assert_same(loaded(x, at), result)


def test_path_forms(dumped, tmp_path):
    function = traced_sample()
    function.dump(str(tmp_path / "text.trc"))
    function.dump(tmp_path / "path.trc")
    assert_same(tc.load(str(tmp_path / "text.trc"))(X, AT), tc.load(tmp_path / "path.trc")(X, AT))
    assert sorted(entry.name for entry in tmp_path.iterdir()) == ["path.trc", "text.trc"]


def test_data_errors_of_a_loaded_file(dumped):
    loaded = tc.load(dumped)
    with pytest.raises(IndexError, match="2"):
        loaded(X, np.int64([0, 2]))
    assert_same(loaded(X, AT), loaded(X, AT))


@pytest.mark.parametrize(
    "arguments",
    [(X,), (X, AT, AT), (X.astype("float64"), AT), (X, AT.astype("float32")), (X[0], AT), (X[:, :2], AT), ("a", AT), (None, AT)],
    ids=["too-few", "too-many", "dtype", "index-dtype", "rank", "size", "text", "none"],
)
def test_wrong_arguments_at_the_door(dumped, arguments):
    loaded = tc.load(dumped)
    with pytest.raises((TypeError, ValueError)) as caught:
        loaded(*arguments)
    assert len(str(caught.value)) > 10


# ---------------------------------------------------------------------------------------------- dump that fails


def test_dump_needs_a_traced_function(tmp_path):
    function = tc.trace(lambda x: x + 1)
    with pytest.raises((ValueError, tc.TraceError)) as caught:
        function.dump(tmp_path / "model.trc")
    assert "call" in str(caught.value)
    assert not list(tmp_path.iterdir())


def test_dump_names_must_fit(tmp_path):
    function = traced_sample()
    for names in ({"arg_names": ["x"]}, {"arg_names": ["x", "x"]}, {"output_names": ["y", "y"]}, {"output_names": ["a", "b", "c"]}):
        with pytest.raises(ValueError):
            function.dump(tmp_path / "model.trc", **names)
        assert not list(tmp_path.iterdir())


def test_dump_to_an_impossible_path(tmp_path):
    function = traced_sample()
    (tmp_path / "file").write_text("a file")
    (tmp_path / "folder").mkdir()
    for path in (tmp_path / "missing" / "model.trc", tmp_path / "file" / "model.trc", tmp_path / "folder"):
        with pytest.raises(OSError) as caught:
            function.dump(path)
        assert path.name in str(caught.value)
    assert sorted(entry.name for entry in tmp_path.iterdir()) == ["file", "folder"]
    assert not list((tmp_path / "folder").iterdir())


def test_disk_full_while_dumping_leaves_the_old_file(tmp_path):
    """A file size limit of 100 bytes makes every write past it fail, as a full disk does."""
    (tmp_path / "model.trc").write_bytes(b"the old file")
    script = f"""
        import resource, sys
        sys.path[:0] = {sys.path!r}
        import tracec as tc
        function = tc.trace(lambda x: x + 1.0)
        function(tc.tensor([1.0, 2.0]))
        function(tc.tensor([1.0, 2.0]))
        resource.setrlimit(resource.RLIMIT_FSIZE, (100, 100))
        try:
            function.dump({str(tmp_path / "model.trc")!r})
        except OSError as error:
            print("OSError", error)
        print("alive", function(tc.tensor([1.0])).tolist())
    """
    done = subprocess.run([sys.executable, "-c", textwrap.dedent(script)], capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    assert "OSError" in done.stdout and "model.trc" in done.stdout and "alive [2.0]" in done.stdout
    assert (tmp_path / "model.trc").read_bytes() == b"the old file"
    assert [entry.name for entry in tmp_path.iterdir()] == ["model.trc"]


def test_same_program_same_bytes(tmp_path):
    traced_sample().dump(tmp_path / "first.trc")
    traced_sample().dump(tmp_path / "second.trc")
    assert (tmp_path / "first.trc").read_bytes() == (tmp_path / "second.trc").read_bytes()


# ---------------------------------------------------------------------------------------------- files that do not load


def expect_load_error(path, *words):
    with pytest.raises(tc.LoadError) as caught:
        tc.load(path)
    text = str(caught.value)
    assert path.name in text
    for word in words:
        assert word in text.lower(), text
    return text


def test_unreadable_paths(tmp_path):
    for path in (tmp_path / "missing.trc", tmp_path / "missing" / "model.trc", tmp_path):
        with pytest.raises((tc.LoadError, OSError)) as caught:
            tc.load(path)
        assert path.name in str(caught.value)


def test_truncated_files(dumped, tmp_path):
    data = dumped.read_bytes()
    path = tmp_path / "cut.trc"
    for length in [*range(0, 70), 100, 1000, len(data) // 2, len(data) - 1]:
        path.write_bytes(data[:length])
        expect_load_error(path)
    path.write_bytes(data[: len(data) // 2])
    expect_load_error(path, "truncated")


def test_wrong_magic(dumped, tmp_path):
    path = tmp_path / "other.trc"
    path.write_bytes(b"PK\3\4" + dumped.read_bytes()[4:])
    expect_load_error(path, "not a tracec file")
    path.write_text("hello, this is text\n" * 100)
    expect_load_error(path, "not a tracec file")
    # A transfer in text mode turns CR LF into LF; the magic is there to notice.
    path.write_bytes(dumped.read_bytes().replace(b"\r\n", b"\n"))
    expect_load_error(path)


def test_newer_container_version(dumped, tmp_path):
    """Preamble: magic (8), major and minor (2 + 2), ..., CRC-32 of the first 60 bytes at 60."""
    data = bytearray(dumped.read_bytes())
    assert data[:8] == b"TRACEC\r\n"
    assert zlib.crc32(data[:60]) == int.from_bytes(data[60:64], "little")
    data[8:10] = (int.from_bytes(data[8:10], "little") + 1).to_bytes(2, "little")
    data[60:64] = zlib.crc32(data[:60]).to_bytes(4, "little")
    path = tmp_path / "newer.trc"
    path.write_bytes(data)
    text = expect_load_error(path, "version")
    assert text.startswith("TC0302") and "newer" in text.split("\n")[1] and "section" not in text


def test_a_section_that_is_not_in_the_file(tmp_path):
    path = tmp_path / "portable.trc"
    traced_sample().dump(path, targets=())
    with pytest.raises(tc.LoadError, match="no section for x86-64-v3") as caught:
        tc.load(path, section="v3")
    assert 'section="portable"' in str(caught.value).split("\n")[1] and "newer" not in str(caught.value)


def test_a_section_for_another_kind_of_machine(tmp_path):
    path = tmp_path / "both.trc"
    function = traced_sample()
    report = function.dump(path, targets=("cpu:aarch64", "cpu:x86-64-v3", "cpu:portable"))
    loaded = tc.load(path)
    assert loaded.sections == ["portable", "aarch64-neon", "x86-64-v3"] and "aarch64-neon" not in report["sections"]
    assert_same(loaded(X, AT), function(tc.tensor(X), tc.tensor(AT)))
    with pytest.raises(ValueError, match="needs a processor with aarch64-neon"):
        tc.load(path, section="aarch64")


def test_flipped_bytes_never_give_a_wrong_result(dumped, tmp_path):
    """Each flipped byte gives an error or exactly the same results."""
    data = dumped.read_bytes()
    expected = tc.load(dumped)(X, AT)
    random = np.random.default_rng(0)
    path = tmp_path / "flipped.trc"
    refused = 0
    for place in [*range(64), *random.integers(64, len(data), 150)]:
        flipped = bytearray(data)
        flipped[place] ^= 1 << random.integers(0, 8)
        path.write_bytes(flipped)
        try:
            loaded = tc.load(path)
        except tc.LoadError:
            refused += 1
            continue
        assert_same(loaded(X, AT), expected, f"byte {place}")
    assert refused >= 64


def test_load_does_not_need_the_compiler(dumped):
    script = f"""
        import sys
        sys.path[:0] = {sys.path!r}
        import tracec as tc
        x, at = tc.tensor({X.tolist()!r}), tc.tensor({AT.tolist()!r}, dtype="int64")
        print(tc.load({str(dumped)!r})(x, at)[1].item())
        maps = open("/proc/self/maps").read()
        print("compiler" if "libLLVM" in maps or "libMLIR" in maps else "no compiler")
    """
    done = subprocess.run([sys.executable, "-c", textwrap.dedent(script)], capture_output=True, text=True, timeout=60, env=dict(os.environ))
    assert done.returncode == 0, done.stderr
    assert done.stdout.split("\n")[:2] == [str(float(X[X > 0].sum())), "no compiler"]


@pytest.mark.parametrize("level", ["portable", "x86-64-v3"])
def test_a_machine_without_avx512_runs_the_file_with_equal_bits(dumped, tmp_path, level):
    """A missing level is a slowdown, not a failure, unless just that section was asked for."""
    if level not in map(level_of, tc.stats.runnable_sections()):
        pytest.skip(f"this machine cannot run {level}")
    script = f"""
        import sys
        sys.path[:0] = {sys.path!r}
        import numpy as np
        import tracec as tc
        x, at = np.float32({X.tolist()!r}), np.int64({AT.tolist()!r})
        model = tc.load({str(dumped)!r})
        np.savez({str(tmp_path / "out.npz")!r}, *[r.numpy() for r in model(x, at)])
        print("ran on", model.stats().section, "kernels", model.stats().launches)
        try:
            tc.load({str(dumped)!r}, section="avx512")(x, at)
        except Exception as error:
            print(type(error).__name__, error)
    """
    env = dict(os.environ, TRACERT_MAX_ISA=level)
    done = subprocess.run([sys.executable, "-c", textwrap.dedent(script)], capture_output=True, text=True, timeout=60, env=env)
    assert done.returncode == 0, done.stderr
    used, launches = re.search(r"ran on (\S+) kernels (\d+)", done.stdout).groups()
    assert used == level and (int(launches) > 0) == (level != "portable")
    with np.load(tmp_path / "out.npz") as results:
        assert_same([results["arr_0"], results["arr_1"]], [r.numpy() for r in tc.load(dumped)(X, AT)])
    assert "ValueError" in done.stdout and "needs a processor with x86-64-v4" in done.stdout, done.stdout


def test_missing_compiler_library_is_a_compile_error():
    script = f"""
        import sys
        sys.path[:0] = {sys.path!r}
        import tracec as tc
        function = tc.trace(lambda x: x * 2 + 1)
        x = tc.tensor([1.0, 2.0])
        print(function(x).tolist())
        for _ in range(2):
            try:
                function(x)
            except tc.CompileError as error:
                print(error)
        print((x * 2).tolist())
    """
    env = dict(os.environ, TRACEC_COMPILER_LIBRARY="/nonexistent/libtracec-compiler.so")
    done = subprocess.run([sys.executable, "-c", textwrap.dedent(script)], capture_output=True, text=True, timeout=60, env=env)
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    assert lines[0] == "[3.0, 5.0]" and lines[-1] == "[2.0, 4.0]"
    assert done.stdout.count("/nonexistent/libtracec-compiler.so") == 2 and "TRACEC_COMPILER_LIBRARY" in done.stdout
