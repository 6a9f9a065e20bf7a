"""What `tracec inspect` shows: the text as it is printed, and all of it as JSON."""

import json
import re

import pytest

from tool import INPUTS, lines, ok, run

TARGETS = ["--target=cpu:x86-64-v3", "--target=cpu:x86-64-v4"]


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    path = tmp_path_factory.mktemp("model") / "m.trc"
    ok("tracec", "compile", INPUTS / "all-kinds.mlir", "-o", path, *TARGETS)
    return path


def shown(model, *flags):
    return lines(run("tracec", "inspect", model, *flags))


def expect(text, pattern):
    assert re.search(pattern, text, re.MULTILINE), f"{pattern}\n--- in\n{text}"


def test_signature(model):
    text = ok("tracec", "inspect", model)
    assert text == ok("tracec", "inspect", model, "--signature")
    expect(text, rf"^file .*m\.trc: {model.stat().st_size:,} bytes, format 1\.0, written by tracec")
    expect(text, r"^input x: float32\[s0,3\]$")
    expect(text, r"^input at: int64\[2\]$")
    expect(text, r"^output rows: float32\[2,3\]$")
    expect(text, r"^output total: float32\[\]$")
    expect(text, r"^size s0: \d+ or more$")
    expect(text, r"^section portable: \d+ ops$")
    expect(text, r"^section x86-64-v3: \d+ kernels? for \d of \d ops, [\d,]+ bytes of code$")
    expect(text, r"^constants: \d, \d+ bytes$")
    expect(text, r"^test vectors: none$")


def test_ops_show_operands_constants_types_kernels_and_lines(model):
    text = ok("tracec", "inspect", model, "--ops")
    expect(text, r"^  %\d+ = mul\(%x, 0\.5\) +float32\[\?,3\] +\S+ +#0 +model\.py:12$")
    expect(text, r"^  %\d+ = add\(%\d+, \[1, 2, 3\]\) +float32\[\?,3\] +\S+ +#1 +model\.py:12$")
    expect(text, r"^  %\d+ = indexing_multi_axis_vec\(%\d+, %at, items=\[array, :\]\) +float32\[2,3\] +\S+ +-> rows +#2 +model\.py:13$")
    expect(text, r"^  %\d+ = indexing_multi_axis_vec\(%w\d, %at, items=\[array, :\]\) +float32\[2,3\] +\S+ +#3 +model\.py:13$")
    expect(text, r"^  %\d+ = sum\(%\d+, axes=\[0, 1\], keepdims=false\) +float32\[\] +\S+ +-> total +#4 +model\.py:13$")
    columns = [line.index("model.py") for line in text.splitlines() if "model.py" in line]
    assert len(set(columns)) <= 2, text


def test_constants_have_a_place_and_values(model):
    text = ok("tracec", "inspect", model, "--constants")
    expect(text, r"^  %w\d  float32\[4,3\] +at [\d,]+ +48 bytes +\[\[0\.25, 0\.25, 0\.25\], ")
    for constant in json.loads(ok("tracec", "inspect", model, "--constants", "--json"))["constants"]:
        data = model.read_bytes()[constant["offset"]:][:constant["bytes"]]
        assert constant["dtype"] == "float32" and len(data) == constant["bytes"]
        import struct

        flat = json.dumps(constant["values"]).replace("[", "").replace("]", "").split(",")
        assert [float(value) for value in flat] == list(struct.unpack(f"<{len(data) // 4}f", data))


def test_kernels_show_what_they_cover_and_access(model):
    text = ok("tracec", "inspect", model, "--kernels")
    expect(text, r"^kernel \S+ \(x86-64-v3\): code at [\d,]+, over float32\[.*\] of %\d+")
    expect(text, r"^  covers +%\d+ = mul\(%x, 0\.5\) +model\.py:12$")
    expect(text, r"^  (load|gather) +%x: float32\[s0,3\] +\S+ stride$")
    expect(text, r"^  (reduce-)?store +%\d+: float32")


def test_lines_sizes_and_segments(model):
    expect(ok("tracec", "inspect", model, "--locs"), r"^  /home/someone/model\.py:12 +mul add$")
    expect(ok("tracec", "inspect", model, "--sizes"), r"^sizes: \d+ ops, \d+ values, 3 constants, file [\d,]+ bytes$")
    data, segments = model.read_bytes(), json.loads(ok("tracec", "inspect", model, "--segments", "--json"))["segments"]
    assert {"graph", "weights", "native code", "source locations"} <= {segment["kind"] for segment in segments}
    graph = next(segment for segment in segments if segment["kind"] == "graph")
    assert data[graph["offset"] + 4:graph["offset"] + 8] == b"TRC1" and len(graph["hash"]) == 16
    expect(ok("tracec", "inspect", model, "--segments"), rf"^  graph +at {graph['offset']:,} +{graph['bytes']:,} bytes +{graph['hash']}$")


def test_json_is_complete(model):
    parsed = json.loads(ok("tracec", "inspect", model, "--json"))
    assert parsed == json.loads(ok("tracec", "inspect", model, "--json", "--all"))
    assert parsed["inputs"][0] == {"name": "x", "value": parsed["inputs"][0]["value"], "dtype": "float32", "shape": ["s0", 3],
                                   "type": "float32[s0,3]", "state": False}
    assert parsed["sections"] == ["portable", "x86-64-v3", "x86-64-v4"] and parsed["user_info"] is None
    assert parsed["file_bytes"] == model.stat().st_size and parsed["test_vectors"] == []
    by_name = {op["op"]: op for op in parsed["ops"]}
    total = by_name["sum"]
    assert total["attributes"] == {"axes": [0, 1], "keepdims": False}
    assert (total["file"], total["line"], total["source_ops"]) == ("/home/someone/model.py", 13, [4])
    assert set(total["kernels"]) == {"x86-64-v3", "x86-64-v4"}
    names = {kernel["name"] for kernel in parsed["kernels"]}
    for index, op in enumerate(parsed["ops"]):
        for section, kernel in op["kernels"].items():
            covering = [k["name"] for k in parsed["kernels"] if k["section"] == section and index in k["ops"]]
            assert covering == ([kernel] if kernel else []) and names >= set(covering)
        assert all(value < len(parsed["values"]) for value in op["operands"] + op["results"])
    assert {constant["value"] for constant in parsed["constants"]} <= {value for op in parsed["ops"] for value in op["operands"]}


def test_a_portable_file(tmp_path):
    ok("tracec", "compile", INPUTS / "all-kinds.mlir", "-o", tmp_path / "m.trc", "--target=cpu:portable", "--strip=locs")
    assert "kernels: none" in ok("tracec", "inspect", tmp_path / "m.trc", "--kernels")
    text = ok("tracec", "inspect", tmp_path / "m.trc", "--all")
    assert "model.py" not in text and "%x" in text
    parsed = json.loads(ok("tracec", "inspect", tmp_path / "m.trc", "--json"))
    assert all(op["kernels"] == {} and op["file"] is None and op["line"] is None for op in parsed["ops"])


TEXTS = ['{"a": [1, -2.5e+3, true, null, "x\\u00e9\\n"], "b": {}}', "[]", '""', "0", "-0.0", " 1 ", "1e5", '"\\ud800"', "01", "-", "1.", ".5", "1e",
         "+1", "NaN", "Infinity", "tru", "nul", "[1,]", "[1 2]", "{1: 2}", '{"a" 1}', '{"a": 1,}', '"a', '"\\x"', '"\\u12"', "'a'", "{", "]", "1 2",
         '"tab\tinside"', "//", "[" * 50 + "]" * 50, "\ufeff1", "[1]\n", "é", '"é"']


def test_user_info_that_is_no_json_is_a_string(tmp_path):
    """Files of others may hold any text there; the document stays valid. Python's reader is the oracle."""
    import tracec as tc
    function = tc.trace(lambda x: x * 2)
    function(tc.tensor([1.0]))

    def refuse(text):
        raise ValueError(text)

    for number, text in enumerate(TEXTS):
        path = tmp_path / f"{number}.trc"
        function._state.core.dump(str(path).encode(), [], [], [], True, text, [], [], True, lambda partial: None)
        try:
            expected = json.loads(text, parse_constant=refuse)
        except ValueError:
            expected = text
        assert json.loads(ok("tracec", "inspect", path, "--json"))["user_info"] == expected, text
        if expected is text and text not in ("NaN", "Infinity"):  # Python's reader takes these
            with pytest.raises(tc.LoadError, match="no JSON"):
                tc.load(path).user_info


def test_empty_tensors_with_large_sizes(tmp_path):
    """No bytes, but 2^40 rows: nothing may loop over them."""
    (tmp_path / "m.mlir").write_text("func.func @main(%x: tensor<0x1099511627776xf32> {trace.name = \"x\"}) -> (tensor<0x1099511627776xf32> "
                                     "{trace.name = \"y\"}, tensor<1099511627776x0xf32> {trace.name = \"z\"}) {\n"
                                     "  %y = trace.add %x, %x {op_ids = array<i64: 0>} : (tensor<0x1099511627776xf32>, tensor<0x1099511627776xf32>) "
                                     "-> tensor<0x1099511627776xf32>\n"
                                     "  %z = trace.permute %y axes [1, 0] {op_ids = array<i64: 1>} : (tensor<0x1099511627776xf32>) -> "
                                     "tensor<1099511627776x0xf32>\n  return %y, %z : tensor<0x1099511627776xf32>, tensor<1099511627776x0xf32>\n}\n")
    ok("tracec", "compile", tmp_path / "m.mlir", "-o", tmp_path / "m.trc", "--target=cpu:portable")
    outputs = json.loads(ok("tracec", "run", tmp_path / "m.trc", "--fill-mode=ones", "--json"))["outputs"]
    assert [output["shape"] for output in outputs] == [[0, 2**40], [2**40, 0]] and [output["values"] for output in outputs] == [[], []]
    assert "z: float32[1099511627776,0] = " in ok("tracec", "run", tmp_path / "m.trc", "--fill-mode=ones")


def test_files_of_dump(tmp_path):
    """State, user info, test vectors: what a compiled .mlir has not."""
    import tracec as tc
    state = tc.tensor([1.0, 2.0])

    def step(x):
        state[...] = state + x
        return state * 2

    function = tc.trace(step)
    for _ in range(2):
        function(tc.tensor([1.0, float("nan")]))
    info = {"name": "é\n", "numbers": [1, 2.5, None]}
    function.dump(tmp_path / "m.trc", user_info=info, arg_names=["x"], output_names=["twice"])
    text = ok("tracec", "inspect", tmp_path / "m.trc", "--all")
    expect(text, r"^state state0: float32\[\S+\], starts as \[3, nan\]$")
    expect(text, r"^output state0_out: float32\[\S+\], the new state0$")
    expect(text, r"^test vector: recorded call, expected values from eager execution$")
    expect(text, r"^user info: \{")
    expect(text, r"^  input +x +float32\[2\] +\[1, nan\]$")
    parsed = json.loads(ok("tracec", "inspect", tmp_path / "m.trc", "--json"))
    assert parsed["user_info"] == info and parsed["test_vector_count"] == 1
    vector = parsed["test_vectors"][0]
    assert vector["inputs"][0]["values"] == [1, "nan"] and vector["outputs"][0]["name"] == "twice"
    function.dump(tmp_path / "m.trc", test_vectors=False)
    assert json.loads(ok("tracec", "inspect", tmp_path / "m.trc", "--json"))["test_vectors"] == []
