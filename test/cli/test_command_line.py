"""Arguments, messages, names, paths and standard output of tracec, tracert-run and the other tools."""

import errno
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import time

import pytest

from tool import BUILD, INPUTS, fails, ok, run

TOOLS = ("tracec", "tracert-run")
VERBS = {"tracec": "compile, run, verify, bench, inspect", "tracert-run": "run, verify, bench"}
SOURCE = INPUTS / "masked-mean.mlir"


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    """Has no test vectors."""
    path = tmp_path_factory.mktemp("model") / "m.trc"
    ok("tracec", "compile", SOURCE, "-o", path, "--target=cpu:x86-64-v3")
    return path


@pytest.fixture(scope="module")
def dumped(tmp_path_factory):
    """Has one."""
    import tracec as tc

    path = tmp_path_factory.mktemp("dumped") / "m.trc"
    function = tc.trace(lambda x: x * 2)
    function(tc.tensor([1.0, 2.0]))
    function.dump(path, arg_names=["x"])
    return path


def compiled(tmp_path, names, file=b"named.trc"):
    """The example with other names: {"x": r"a\\0Ab"} in MLIR's escapes."""
    text = SOURCE.read_text()
    for old, new in names.items():
        text = text.replace(f'trace.name = "{old}"', f'trace.name = "{new}"').replace(f'"{old}":', f'"{new}":')
    (tmp_path / "named.mlir").write_text(text)
    path = os.path.join(os.fsencode(tmp_path), file)
    ok("tracec", "compile", tmp_path / "named.mlir", b"-o", path, "--target=cpu:portable")
    return path


def test_a_section_for_another_kind_of_machine(tmp_path):
    listed = ok("tracec", "compile", "--list-targets").splitlines()
    assert listed[:2] == ["cpu", "cpu:portable"] and "cpu:aarch64  (this machine cannot run it)" in listed
    path = tmp_path / "both.trc"
    ok("tracec", "compile", SOURCE, "-o", path, "--target=cpu:aarch64", "--target=cpu:x86-64-v3")
    text = ok("tracec", "inspect", path)
    assert "section aarch64-neon: " in text and "not for this machine" in text and "section x86-64-v3: " in text
    assert ".4s" in ok("tracec", "compile", SOURCE, "--compile-to=asm", "--target=cpu:aarch64")
    assert "nvptx:sm_90" in fails(4, "tracec", "compile", SOURCE, "-o", path, "--target=nvptx:sm_90")


# ---------------------------------------------------------------------------------------------- verbs and flags


@pytest.mark.parametrize("tool", TOOLS)
def test_an_unknown_verb_is_named_with_the_nearest(tool):
    assert f"unknown verb 'nosuch'; known: {VERBS[tool]}; see {tool} --help" in fails(1, tool, "nosuch", "x.trc")
    assert "did you mean 'verify'?" in fails(1, tool, "verfy", "x.trc")
    assert "did you mean 'run'?" in fails(1, tool, "rum")
    assert f"no verb is given; verbs: {VERBS[tool]}" in fails(1, tool)
    assert f"no verb is given; verbs: {VERBS[tool]}" in fails(1, tool, "--json")
    assert "unknown verb ''" in fails(1, tool, "")


@pytest.mark.parametrize("tool", TOOLS)
def test_an_unknown_flag_is_named_with_the_nearest(tool, model):
    text = fails(1, tool, "bench", model, "--itertions=3")
    assert "unknown flag '--itertions'; did you mean '--iterations'?" in text and f"see {tool} bench --help" in text
    assert "unknown flag '--bogus'" in fails(1, tool, "run", model, "--bogus")
    assert "At Most 1" in fails(1, tool, "run", model, "extra")


@pytest.mark.parametrize("tool", TOOLS)
def test_help_names_the_program(tool):
    assert f"Usage: {tool} [OPTIONS] SUBCOMMAND" in ok(tool, "--help") and "3 damaged file" in ok(tool, "--help")
    for verb in VERBS[tool].split(", "):
        assert f"Usage: {tool} {verb} [OPTIONS]" in ok(tool, verb, "--help")
        assert len(ok(tool, verb, "--help").splitlines()) > 5


def test_the_version_is_that_of_the_files(model):
    written = f"{int.from_bytes(model.read_bytes()[8:10], 'little')}.{int.from_bytes(model.read_bytes()[10:12], 'little')}"
    match = re.fullmatch(r"tracec ([\d.]+), writes container version ([\d.]+), reads 1.0 to ([\d.]+)\n", ok("tracec", "--version"))
    assert match[2] == written == json.loads(ok("tracec", "inspect", model, "--json"))["format_version"]
    assert f"reads container versions 1.0 to {match[3]}\n" in ok("tracert-run", "--version")


# ---------------------------------------------------------------------------------------------- numbers

NUMBERS = {
    "--threads": ("run verify bench", 0, 4096, int),
    "--rtol": ("run verify", 0, 1.7976931348623157e308, float),
    "--atol": ("run verify", 0, 1.7976931348623157e308, float),
    "--ulp": ("run verify", 0, 2**64 - 1, int),
    "--warmup": ("bench", 0, 10**6, int),
    "--iterations": ("bench", 1, 10**7, int),
    "--min-time": ("bench", 0.001, 3600, float),
    "--percentiles": ("bench", 0, 100, float),
}


def bad_numbers(low, high, kind):
    bad = ["nan", "inf", "-inf", "-1", "", "x", "1x", " 1", "0x10", "1e999", "--5", str(10**30), "1,,2"]
    bad += ["1.5", "1e3"] if kind is int else []
    bad += ["0"] if low > 0 else []
    return bad + ([str(high + 1)] if high < 1e300 else [])


@pytest.mark.parametrize("tool", TOOLS)
@pytest.mark.parametrize("flag", NUMBERS)
def test_numbers_out_of_range_name_the_range(tool, flag, model):
    verbs, low, high, kind = NUMBERS[flag]
    for verb in verbs.split():
        for number in bad_numbers(low, high, kind):
            if flag in ("--rtol", "--atol") and number == str(10**30):
                continue
            start = time.monotonic()
            text = fails(1, tool, verb, model, f"{flag}={number}")
            assert flag in text and time.monotonic() - start < 20
            if number and flag != "--percentiles":
                assert f"takes a {'whole ' if kind is int else ''}number from {low} to" in text and f"got '{number}'" in text
        # A negative number is the flag's value, not another flag.
        assert f"{flag} takes" in fails(1, tool, verb, model, flag, "-1")


@pytest.mark.parametrize("flag, number", [(flag, number) for flag, (_, low, high, _) in NUMBERS.items() for number in (low, 1)])
def test_numbers_in_range_are_taken(flag, number, model):
    verb = NUMBERS[flag][0].split()[0]
    extra = ["--iterations=1"] if verb == "bench" and flag not in ("--iterations", "--min-time") else []
    if flag != "--min-time" or number != 1:
        ok("tracert-run", verb, model, *([] if verb == "verify" else ["--fill-mode=ones"]), f"{flag}={number}", *extra)


def test_a_flag_is_given_once(model):
    for flag in ("--threads", "--ulp", "--section"):
        value = "best" if flag == "--section" else 1
        assert flag in fails(1, "tracec", "run", model, f"{flag}={value}", f"{flag}={value}")
    assert "twice" in fails(1, "tracec", "bench", model, "--percentiles=50,90,50.0")
    assert "excludes" in fails(1, "tracec", "bench", model, "--iterations=1", "--min-time=1")


def test_optimisation_levels_are_checked(tmp_path):
    for level in ("-1", "3", "nan", "1.0"):
        assert "-O takes a whole number from 0 to 2" in fails(1, "tracec", "compile", SOURCE, "-o", tmp_path / "m", f"-O{level}")
    ok("tracec", "compile", SOURCE, "-o", tmp_path / "m", "-O0")


# ---------------------------------------------------------------------------------------------- names of things


@pytest.mark.parametrize("tool", TOOLS)
def test_names_that_the_model_does_not_have(tool, model):
    assert "unknown size 's1'; did you mean 's0'?" in fails(1, tool, "run", model, "--fill-mode=ones", "--size", "s1=3")
    assert "unknown input 'y'" in fails(1, tool, "run", model, "--input", "y=3xf32=1")
    assert "did you mean 'mean'?" in fails(1, tool, "run", model, "--fill-mode=ones", "--output", "maen=@/tmp/none.npy")
    assert "unknown output 'n'" in fails(1, tool, "run", model, "--fill-mode=ones", "--expected-output", "n=f32=1")
    assert "did you mean 'portable'?" in fails(1, tool, "run", model, "--section=portible")
    assert "unknown section" in fails(1, tool, "verify", model, "--section=portable", "--section=x")
    assert "unknown fill mode 'one'; did you mean 'ones'?" in fails(1, tool, "run", model, "--fill-mode=one")
    assert "unknown fill mode" in fails(1, tool, "run", model, "--input", "3xf32=1", "--fill-mode=one")


@pytest.mark.parametrize("tool", TOOLS)
def test_a_name_is_given_once(tool, model, tmp_path):
    assert "input 'x' is given twice" in fails(1, tool, "run", model, "--input", "x=3xf32=1", "--input", "x=3xf32=1")
    assert "input 'x' is given twice" in fails(1, tool, "run", model, "--input", "x=3xf32=1", "--input", "3xf32=1")
    assert "--size s0 is given twice" in fails(1, tool, "run", model, "--fill-mode=ones", "--size", "s0=1", "--size", "s0=2")
    out = tmp_path / "o.npy"
    text = fails(1, tool, "run", model, "--fill-mode=ones", "--output", f"mean=@{out}", "--output", f"@{out}")
    assert "twice for output 'mean'" in text and not out.exists()
    assert "twice" in fails(1, tool, "run", model, "--fill-mode=ones", "--expected-output", "mean=f32=1", "--expected-output", "f32=1")
    assert "more inputs" in fails(1, tool, "run", model, "--input", "3xf32=1", "--input", "3xf32=1")


def test_sizes_are_numbers_for_inputs_that_are_made(model):
    for size in ("-1", "nan", "1e3", "", "99999999999999999999", str(2**40 + 1)):
        assert "takes a whole number from 0 to 1099511627776" in fails(1, "tracec", "run", model, "--fill-mode=ones", "--size", f"s0={size}")
    assert "--fill-mode" in fails(1, "tracec", "run", model, "--size", "s0=3", "--input", "3xf32=1")
    assert "name=number" in fails(1, "tracec", "run", model, "--fill-mode=ones", "--size", "3")
    # More than this machine has is refused before it is touched.
    assert "memory" in fails(1, "tracec", "run", model, "--fill-mode=ones", "--size", f"s0={2**40}")
    assert "memory" in fails(1, "tracec", "run", model, "--input", f"x={2**39}xf32=1")


@pytest.mark.parametrize("value, word", [("1e39", "does not fit"), ("-1e39", "does not fit"), ("1x", "not a number"), ("", "takes 1 values")])
def test_values_that_do_not_fit(model, value, word):
    assert word in fails(1, "tracec", "run", model, "--input", f"x=1xf32={value}")


@pytest.mark.parametrize("tool", TOOLS)
@pytest.mark.parametrize("level", ["avx512", "x86-64-v2", "Portable", " ", "3"])
def test_an_unknown_isa_limit_is_an_error(tool, level, model):
    text = fails(1, tool, "run", model, "--fill-mode=ones", env={"TRACERT_MAX_ISA": level})
    assert f"TRACERT_MAX_ISA is '{level}'; known: portable, x86-64-v3, x86-64-v4" in text
    for level in ("portable", "x86-64-v3", "x86-64-v4", ""):
        ok(tool, "run", model, "--fill-mode=ones", env={"TRACERT_MAX_ISA": level})


def test_an_unknown_isa_limit_is_an_error_in_python():
    done = subprocess.run([sys.executable, "-c", f"import sys; sys.path[:0] = [{str(BUILD / 'python')!r}]; import tracec"], capture_output=True,
                          text=True, env={**os.environ, "TRACERT_MAX_ISA": "avx2"})
    assert done.returncode == 1 and "ValueError: TC0101" in done.stderr
    assert "TRACERT_MAX_ISA is 'avx2'; known: portable, x86-64-v3, x86-64-v4" in done.stderr


# ---------------------------------------------------------------------------------------------- odd names and paths

ODD = {r"x": r"e\1B[31mred\0Anew", "mean": r"tab\09\E2\80\AEflip", "scaled": r"q\22\5C\7F"}
ODD_TEXT = ["e\x1b[31mred\nnew", "tab\t\u202eflip", 'q"\\\x7f']


def test_control_characters_in_names_are_escaped(tmp_path):
    path = compiled(tmp_path, ODD)
    for tool, *arguments in (["tracec", "inspect"], ["tracec", "inspect", "--all"], ["tracec", "run", "--fill-mode=ones"],
                             ["tracert-run", "run", "--fill-mode=ones"]):
        process = run(tool, arguments[0], path, *arguments[1:])
        text = process.stdout.decode()
        assert process.returncode == 0 and text.replace("\n", "").isprintable(), repr(text)
    assert r"e\x1b[31mred\nnew" in ok("tracec", "inspect", path) and r"\u202eflip" in ok("tracec", "inspect", path)
    assert r"e\x1b[31mred\nnew" in fails(1, "tracec", "run", path)
    parsed = json.loads(ok("tracec", "inspect", path, "--json"))
    assert [parsed["inputs"][0]["name"], *(entry["name"] for entry in parsed["outputs"])] == ODD_TEXT
    assert [entry["name"] for entry in json.loads(ok("tracec", "run", path, "--fill-mode=ones", "--json"))["outputs"]] == ODD_TEXT[1:]


@pytest.mark.parametrize("name", [r"a\00b", r"a\FFb", r"\ED\A0\80", r"\C0\80", r"\F4\90\80\80"],
                         ids=["nul", "byte", "surrogate", "overlong", "too-large"])
def test_names_that_are_no_text_are_not_written(tmp_path, name):
    (tmp_path / "named.mlir").write_text(SOURCE.read_text().replace('"x"', f'"{name}"'))
    text = fails(1, "tracec", "compile", tmp_path / "named.mlir", "-o", tmp_path / "m.trc")
    assert "UTF-8 text without NUL" in text and not (tmp_path / "m.trc").exists()


def test_paths_that_are_not_utf8(tmp_path, dumped):
    path = compiled(tmp_path, {}, file=b"m\xff\x1b.trc")
    parsed = json.loads(ok("tracec", "inspect", path, "--json"))
    assert os.fsencode(parsed["file"]) == path
    copied = os.path.join(os.fsencode(tmp_path), b"c\xc3.trc")
    shutil.copy(os.fsencode(dumped), copied)
    rows = json.loads(ok("tracert-run", "verify", copied, "--json"))
    assert all(os.fsencode(row["file"]) == copied for row in rows) and rows
    assert r"m\xff\x1b.trc" in ok("tracec", "inspect", path)
    assert r"none\xff.trc" in fails(1, "tracec", "run", os.path.join(os.fsencode(tmp_path), b"none\xff.trc"))
    out = os.path.join(os.fsencode(tmp_path), b"o\xfe.npy")
    ok("tracec", "run", path, "--fill-mode=ones", b"--output=mean=@" + out)
    assert os.path.exists(out)
    assert json.loads(ok("tracec", "run", path, b"--input=x=1xf32=1", "--json"))["outputs"]


def test_json_of_every_verb_is_json(model, dumped):
    json.loads(ok("tracec", "verify", dumped, dumped, "--json"))
    for arguments in (["inspect"], ["inspect", "--ops"], ["inspect", "--segments", "--sizes"],
                      ["run", "--fill-mode=random"], ["run", "--input", "3xf32=nan,inf,-inf"], ["bench", "--iterations=2", "--fill-mode=ones"]):
        json.loads(ok("tracec", arguments[0], model, *arguments[1:], "--json"),
                   parse_constant=lambda text: pytest.fail(f"{text} is no JSON"))
    result = json.loads(ok("tracec", "run", model, "--input", "4xf32=1,0,2,0.25", "--json"))
    assert [output["values"] for output in result["outputs"]] == [1.5, [1, 0, 2, 0.25]]
    many = json.loads(ok("tracec", "run", model, "--fill-mode=ones", "--size=s0=5000", "--json"))
    assert many["outputs"][1]["values"] == [1] * 5000


def test_one_bad_file_does_not_hide_the_others(dumped, tmp_path):
    (tmp_path / "bad.trc").write_bytes(dumped.read_bytes()[:5000])
    process = run("tracec", "verify", dumped, tmp_path / "bad.trc", tmp_path / "none.trc", dumped, "--json")
    rows = json.loads(process.stdout)
    assert process.returncode == 3 and len(process.stderr.splitlines()) == 2
    assert [row.get("error") for row in rows if "error" in row] == ["TRT_CORRUPT_FILE", "TRT_IO"]
    assert sum(row["file"] == str(dumped) for row in rows) >= 4


def test_verify_without_vectors_does_not_pass(model):
    for tool in TOOLS:
        assert "loads, but has no test vectors to compare results with" in fails(1, tool, "verify", model)
    rows = json.loads(run("tracert-run", "verify", model, "--json").stdout)
    assert [(row["file"], row["error"]) for row in rows] == [(str(model), "TRT_INVALID_ARGUMENT")]
    assert "\ntest vectors: none\n" in ok("tracec", "inspect", model)


# ---------------------------------------------------------------------------------------------- output that is lost


def outputs_of(model, dumped, full):
    """Everything that prints something, with the tool's name."""
    yield from ([tool, *rest] for tool in TOOLS for rest in (
        ["--help"], ["--version"], ["run", "--help"], ["run", model, "--fill-mode=ones"], ["run", model, "--fill-mode=ones", "--json"],
        ["verify", dumped], ["verify", dumped, "--json"], ["bench", model, "--iterations=1"], ["bench", model, "--iterations=1", "--json"]))
    yield from (["tracec", *rest] for rest in (
        ["inspect", model], ["inspect", model, "--all"], ["inspect", model, "--json"], ["compile", "--list-targets"],
        ["compile", SOURCE, "--compile-to=trace"], ["compile", SOURCE, "--compile-to=asm", "-o", "-"],
        ["compile", SOURCE, "--compile-to=llvm", "-o", full]))
    yield ["tracec-opt", SOURCE]


def test_a_full_disk_is_an_error(model, dumped, tmp_path):
    (tmp_path / "full").symlink_to("/dev/full")
    with open("/dev/full", "w") as full:
        for tool, *arguments in outputs_of(model, dumped, tmp_path / "full"):
            process = run(tool, *arguments, stdout=full)
            assert process.returncode != 0, (tool, arguments)
            if tool in TOOLS:
                assert process.returncode == 1 and os.strerror(errno.ENOSPC) in process.stderr.decode(), (tool, arguments, process.stderr)
                assert len(process.stderr.splitlines()) == 1, process.stderr


def test_closed_standard_output_is_an_error(model):
    for arguments in (["run", model, "--fill-mode=ones"], ["--help"], ["inspect", model]):
        done = subprocess.run(["/bin/sh", "-c", 'exec "$0" "$@" >&-', BUILD / "bin/tracec", *map(str, arguments)], capture_output=True, timeout=60)
        assert done.returncode == 1 and b"cannot write standard output" in done.stderr, arguments


def test_scripts_of_the_repository_fail_on_a_full_disk():
    root = pathlib.Path(__file__).parents[2]
    for script in (["tools/promotion-table"], ["tools/gen-ops", "--help"], ["tools/check-layering", "--help"], ["tools/run-tests", "--help"]):
        with open("/dev/full", "w") as full:
            done = subprocess.run([sys.executable, *script], cwd=root, stdout=full, stderr=subprocess.PIPE, timeout=60,
                                  env={**os.environ, "PYTHONPATH": str(BUILD / "python")})
        assert done.returncode != 0, script


def test_an_output_file_that_cannot_be_written(model, tmp_path):
    (tmp_path / "full").symlink_to("/dev/full")
    for place, word in ((tmp_path / "full", "No space left"), (tmp_path / "none" / "o.npy", "No such file"), (tmp_path, "Is a directory")):
        assert word in fails(1, "tracec", "run", model, "--fill-mode=ones", "--output", f"mean=@{place}")
    assert (tmp_path / "full").is_char_device()
    (tmp_path / "old.npy").write_bytes(b"x" * 10000)
    (tmp_path / "link.npy").symlink_to("old.npy")
    (tmp_path / "old.npy").chmod(0o600)
    ok("tracec", "run", model, "--fill-mode=ones", "--output", f"mean=@{tmp_path / 'link.npy'}")
    assert (tmp_path / "link.npy").is_symlink() and (tmp_path / "old.npy").stat().st_size < 1000
    assert (tmp_path / "old.npy").stat().st_mode & 0o777 == 0o600


def test_compile_follows_links_and_leaves_nothing(tmp_path):
    (tmp_path / "link.trc").symlink_to("real.trc")
    ok("tracec", "compile", SOURCE, "-o", tmp_path / "link.trc", "--target=cpu:portable")
    assert (tmp_path / "link.trc").is_symlink() and sorted(os.listdir(tmp_path)) == ["link.trc", "real.trc"]
    # By links: a fault here must not replace the machine's devices.
    (tmp_path / "null").symlink_to("/dev/null")
    (tmp_path / "stdout").symlink_to("/proc/self/fd/1")
    for place, word in ((tmp_path / "null", "no regular file but a device"), (tmp_path / "stdout", "no regular file"), (tmp_path, "Is a directory"),
                        (tmp_path / "no" / "m", "No such file")):
        text = fails(1, "tracec", "compile", SOURCE, "-o", place, "--target=cpu:portable")
        assert word in text and str(place) in text and "partial" not in text
    assert sorted(os.listdir(tmp_path)) == ["link.trc", "null", "real.trc", "stdout"]


def test_processes_that_write_one_file(tmp_path):
    path = tmp_path / "m.trc"
    command = [BUILD / "bin/tracec", "compile", SOURCE, "-o", path, "--target=cpu:portable"]
    processes = [subprocess.Popen(command) for _ in range(4)]
    assert [process.wait(timeout=100) for process in processes] == [0] * 4
    assert os.listdir(tmp_path) == ["m.trc"]
    ok("tracert-run", "run", path, "--fill-mode=ones")
