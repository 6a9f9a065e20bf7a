"""Where dump() writes and load() reads: links, modes, devices, odd names, many writers, and the OSErrors."""

import errno
import os
import pathlib
import stat
import subprocess
import sys
import textwrap
import threading

import numpy as np
import pytest

import tracec as tc
from checks import assert_same

X = np.float32([1, 2, 3])
NOT_UTF8 = b"m\xff\xfe.trc"


def traced():
    function = tc.trace(lambda x: x * 2 + 1)
    function(tc.tensor(X))
    function(tc.tensor(X))
    return function


@pytest.fixture(scope="module")
def function():
    return traced()


def names(folder):
    return sorted(os.listdir(os.fsencode(folder)))


def works(path):
    assert_same(tc.load(path)(X), X * 2 + 1)


# ---------------------------------------------------------------------------------------------- what is written through


def test_a_link_stays_and_its_target_is_written(function, tmp_path):
    (tmp_path / "real").mkdir()
    target = tmp_path / "real" / "target.trc"
    target.write_bytes(b"old")
    link = tmp_path / "link.trc"
    link.symlink_to(pathlib.Path("real") / "target.trc")
    second = tmp_path / "second.trc"
    second.symlink_to(link)
    function.dump(second)
    assert second.is_symlink() and link.is_symlink() and not target.is_symlink()
    works(second)
    works(target)
    assert names(tmp_path / "real") == [b"target.trc"] and names(tmp_path) == [b"link.trc", b"real", b"second.trc"]


def test_a_dangling_link_makes_its_target(function, tmp_path):
    link = tmp_path / "link.trc"
    link.symlink_to("new.trc")
    function.dump(link)
    assert link.is_symlink()
    works(tmp_path / "new.trc")
    (tmp_path / "lost.trc").symlink_to("missing/new.trc")
    with pytest.raises(FileNotFoundError):
        function.dump(tmp_path / "lost.trc")


def test_a_loop_of_links_is_an_error(function, tmp_path):
    (tmp_path / "a").symlink_to("b")
    (tmp_path / "b").symlink_to("a")
    with pytest.raises(OSError) as caught:
        function.dump(tmp_path / "a")
    assert caught.value.errno == errno.ELOOP
    with pytest.raises(OSError) as caught:
        tc.load(tmp_path / "a")
    assert caught.value.errno == errno.ELOOP
    assert names(tmp_path) == [b"a", b"b"]


@pytest.mark.parametrize("mode", [0o600, 0o640, 0o644, 0o666])
def test_the_mode_of_the_old_file_stays(function, tmp_path, mode):
    path = tmp_path / "m.trc"
    path.write_bytes(b"old")
    path.chmod(mode)
    function.dump(path)
    assert stat.S_IMODE(path.stat().st_mode) == mode
    works(path)


def test_a_new_file_follows_the_umask(function, tmp_path):
    before = os.umask(0o027)
    try:
        function.dump(tmp_path / "m.trc")
    finally:
        os.umask(before)
    assert stat.S_IMODE((tmp_path / "m.trc").stat().st_mode) == 0o640


@pytest.mark.parametrize("kind", ["fifo", "null", "full", "stdout", "socket"])
def test_what_is_no_regular_file_is_refused(function, tmp_path, kind):
    path = tmp_path / kind
    # By links: a fault here must not replace the machine's devices.
    links = {"null": "/dev/null", "full": "/dev/full", "stdout": "/proc/self/fd/1"}
    if kind in links:
        path.symlink_to(links[kind])
    if kind == "fifo":
        os.mkfifo(path)
    if kind == "socket":
        import socket

        holder = socket.socket(socket.AF_UNIX)
        holder.bind(str(path))
    before = os.stat(path)
    with pytest.raises(OSError) as caught:
        function.dump(path)
    assert caught.value.errno == errno.EINVAL and caught.value.filename == str(path)
    assert "TC0303" in str(caught.value)
    assert os.stat(path).st_mode == before.st_mode and path.is_symlink() == (kind in links)


def test_standard_output_that_is_a_file_is_refused_too(tmp_path):
    script = f"""
        import sys
        sys.path[:0] = {sys.path!r}
        import tracec as tc
        function = tc.trace(lambda x: x + 1)
        function(tc.tensor([1.0]))
        try:
            function.dump({str(tmp_path / "stdout")!r})
        except OSError as error:
            print("refused", error.errno)
    """
    (tmp_path / "stdout").symlink_to("/proc/self/fd/1")
    with open(tmp_path / "out", "w") as out:
        subprocess.run([sys.executable, "-c", textwrap.dedent(script)], stdout=out, check=True, timeout=60)
    assert (tmp_path / "out").read_text() == f"refused {errno.EINVAL}\n"
    assert names(tmp_path) == [b"out", b"stdout"]


# ---------------------------------------------------------------------------------------------- names


@pytest.mark.parametrize("name", [NOT_UTF8, b"new\nline\x1b[31m.trc", "é ü.trc".encode(), b"-o.trc", b"n" * 255, ("ü" * 127).encode()],
                         ids=["not-utf8", "control", "utf8", "dash", "longest", "longest-utf8"])
def test_any_name_that_the_system_takes(function, tmp_path, name):
    path = os.path.join(os.fsencode(tmp_path), name)
    for form in (path, os.fsdecode(path), pathlib.Path(os.fsdecode(path))):
        function.dump(form)
        assert names(tmp_path) == [name]
        works(form)
        model = tc.load(form)
        assert os.fsencode(model.path) == path
        assert "Model" in repr(model) and repr(model).isprintable()
        os.unlink(path)


def test_a_name_that_is_too_long(function, tmp_path):
    with pytest.raises(OSError) as caught:
        function.dump(tmp_path / ("n" * 256))
    assert caught.value.errno == errno.ENAMETOOLONG and not names(tmp_path)


@pytest.mark.parametrize("path, kind", [("a\0b", ValueError), (b"a\0b", ValueError), (None, TypeError), (3, TypeError), (1.5, TypeError),
                                        ("\ud800", ValueError), ("", FileNotFoundError)])
def test_what_is_no_path(function, path, kind):
    for use in (function.dump, tc.load):
        with pytest.raises(kind) as caught:
            use(path)
        assert "TC0" in str(caught.value)


# ---------------------------------------------------------------------------------------------- OSErrors


def expect_oserror(use, path, kind, number):
    with pytest.raises(kind) as caught:
        use(path)
    error = caught.value
    assert type(error) is kind
    assert error.errno == number and os.strerror(number) in error.strerror and error.filename == os.fspath(path)
    assert error.strerror.startswith("TC0303") and "test_dump_paths.py" in error.strerror
    assert "partial" not in str(error) and str(error).count(str(path)) == 1
    assert error.__notes__ and "\n" not in str(error)
    return error


def test_errors_are_what_open_would_raise(function, tmp_path):
    (tmp_path / "file").write_text("a file")
    (tmp_path / "folder").mkdir()
    expect_oserror(tc.load, "nosuch.trc", FileNotFoundError, errno.ENOENT)
    expect_oserror(tc.load, tmp_path / "folder", IsADirectoryError, errno.EISDIR)
    expect_oserror(tc.load, tmp_path / "file" / "m.trc", NotADirectoryError, errno.ENOTDIR)
    expect_oserror(function.dump, tmp_path / "missing" / "m.trc", FileNotFoundError, errno.ENOENT)
    expect_oserror(function.dump, tmp_path / "folder", IsADirectoryError, errno.EISDIR)
    expect_oserror(function.dump, str(tmp_path / "new.trc") + "/", IsADirectoryError, errno.EISDIR)
    expect_oserror(function.dump, tmp_path / "file" / "m.trc", NotADirectoryError, errno.ENOTDIR)
    assert names(tmp_path) == [b"file", b"folder"]


def test_a_bad_path_is_found_before_anything_is_compiled(tmp_path):
    # Of its own in this suite: a kernel that was compiled before is not compiled again.
    function = tc.trace(lambda x: tc.maximum(x * 2 - x, x + x * x) - tc.minimum(x, 7.25))
    function(tc.tensor(X))
    before = tc.stats.compile_count()
    with pytest.raises(FileNotFoundError):
        function.dump(tmp_path / "missing" / "m.trc")
    assert tc.stats.compile_count() == before
    function.dump(tmp_path / "m.trc")
    assert tc.stats.compile_count() > before


def test_no_dump_inside_a_traced_call(function, tmp_path):
    with pytest.raises(ValueError, match="inside a traced call"):
        tc.trace(lambda x: function.dump(tmp_path / "m.trc"))(tc.tensor(X))
    assert not names(tmp_path)


def test_bytes_paths_are_named_in_errors(tmp_path):
    path = os.path.join(os.fsencode(tmp_path), NOT_UTF8)
    with pytest.raises(FileNotFoundError) as caught:
        tc.load(path)
    assert os.fsencode(caught.value.filename) == path
    (tmp_path / os.fsdecode(NOT_UTF8)).write_bytes(b"no model")
    with pytest.raises(tc.LoadError) as caught:
        tc.load(path)
    str(caught.value).encode()  # can be printed


@pytest.mark.skipif(os.geteuid() == 0 and not hasattr(os, "fork"), reason="needs a user without rights")
def test_permission_errors(tmp_path):
    """As an ordinary user: root may write everywhere."""
    script = f"""
        import os, sys
        sys.path[:0] = {sys.path!r}
        import tracec as tc
        function = tc.trace(lambda x: x + 1)
        for _ in range(2):
            function(tc.tensor([1.0]))
        if os.geteuid() == 0:
            os.setgid(65534)
            os.setuid(65534)
        for use, path in ((tc.load, "secret.trc"), (function.dump, "locked.trc"), (function.dump, "closed/m.trc"),
                          (function.dump, "link.trc")):
            try:
                use(os.path.join({str(tmp_path)!r}, path))
                print("no error")
            except PermissionError as error:
                print(error.errno, os.path.basename(error.filename))
    """
    for name, mode in (("secret.trc", 0o000), ("locked.trc", 0o444)):
        (tmp_path / name).write_bytes(b"old")
        (tmp_path / name).chmod(mode)
    (tmp_path / "link.trc").symlink_to("locked.trc")
    (tmp_path / "closed").mkdir(mode=0o555)
    for folder in (tmp_path, *tmp_path.parents):
        if os.stat(folder).st_uid == os.geteuid() and folder != pathlib.Path("/"):
            folder.chmod(folder.stat().st_mode | 0o011)
    done = subprocess.run([sys.executable, "-c", textwrap.dedent(script)], capture_output=True, text=True, timeout=60)
    assert done.stdout.split("\n")[:4] == ["13 secret.trc", "13 locked.trc", "13 m.trc", "13 link.trc"], done.stdout + done.stderr
    assert (tmp_path / "locked.trc").read_bytes() == b"old"


# ---------------------------------------------------------------------------------------------- many writers


def test_threads_that_dump_to_one_path(tmp_path):
    """The last one wins; the file is whole at every moment, and nothing else is left."""
    path = tmp_path / "m.trc"
    functions = [traced() for _ in range(4)]
    functions[0].dump(path)
    failures = []

    def write(function):
        try:
            for _ in range(3):
                function.dump(path)
        except BaseException as error:  # noqa: BLE001
            failures.append(error)

    threads = [threading.Thread(target=write, args=(function,)) for function in functions]
    for thread in threads:
        thread.start()
    while any(thread.is_alive() for thread in threads):
        works(path)
    for thread in threads:
        thread.join()
    assert not failures and names(tmp_path) == [b"m.trc"]
    works(path)


def test_a_dump_inside_the_check_of_another(tmp_path, monkeypatch):
    """The same thread of one process, in the middle of a dump to the same path."""
    from tracec import _dump

    function, path, seen = traced(), tmp_path / "m.trc", []
    original = _dump.check_file

    def check(partial):
        seen.append(os.path.basename(partial))
        if len(seen) == 1:
            function.dump(path)
            assert os.path.basename(partial) in os.listdir(tmp_path)
        return original(partial)

    monkeypatch.setattr(_dump, "check_file", check)
    function.dump(path)
    assert len(set(seen)) == 2 and names(tmp_path) == [b"m.trc"]
    works(path)


@pytest.mark.parametrize("error", [KeyboardInterrupt, ValueError, SystemExit])
def test_a_dump_that_is_interrupted_leaves_nothing(function, tmp_path, monkeypatch, error):
    from tracec import _dump

    (tmp_path / "m.trc").write_bytes(b"old")

    def check(partial):
        raise error("stop")

    monkeypatch.setattr(_dump, "check_file", check)
    with pytest.raises(error):
        function.dump(tmp_path / "m.trc")
    assert names(tmp_path) == [b"m.trc"] and (tmp_path / "m.trc").read_bytes() == b"old"
