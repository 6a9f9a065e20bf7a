"""Every dtype on the command line of tracert-run: values in and out, .npy files, fills, ranges."""

import json

import ml_dtypes
import numpy as np
import pytest
import tool

import tracec as tc

SHORT = {"bool": "b1"} | {name: name[0] + name.lstrip("uint") if name.startswith("u") else "i" + name[3:]
                          for name in ("uint8", "uint16", "uint32", "uint64", "int8", "int16", "int32", "int64")}
SHORT |= {"float16": "f16", "bfloat16": "bf16", "float32": "f32", "float64": "f64"}
ENDS = {name: (np.iinfo(name).min, np.iinfo(name).max) for name in SHORT if "int" in name}


@pytest.fixture(scope="module", params=SHORT)
def model(request, tmp_path_factory):
    """dtype and a file that gives x[::-1]."""
    dtype = request.param
    path = tmp_path_factory.mktemp("dtypes") / f"{dtype}.trc"
    function = tc.trace(lambda x: x[::-1])
    function(tc.tensor(np.zeros(3, dtype)))
    function.dump(path, output_names=["y"])
    return dtype, path


def test_values_go_through(model, tmp_path):
    dtype, path = model
    values = [0, 1, 1] if dtype == "bool" else [*ENDS[dtype], 7] if dtype in ENDS else [0.5, -2, 100]
    text = ",".join(map(str, values))
    for name in (dtype, SHORT[dtype]):
        (out,) = json.loads(tool.ok("tracert-run", "run", path, "--json", "--input", f"3x{name}={text}"))["outputs"]
        assert out["dtype"] == dtype and out["shape"] == [3] and out["values"] == values[::-1]
    expected = np.array(values, dtype)[::-1]
    file = tmp_path / "y.npy"
    np.save(tmp_path / "x.npy", np.array(values, dtype))
    for source in (f"3x{dtype}={text}", f"@{tmp_path / 'x.npy'}"):
        tool.ok("tracert-run", "run", path, "--input", source, "--output", f"y=@{file}")
        got = np.load(file)
        got = got.view(ml_dtypes.bfloat16) if dtype == "bfloat16" else got
        assert got.dtype == np.dtype(dtype) and got.tobytes() == expected.tobytes()
    for fill in ("ones", "zeros", "random"):
        tool.ok("tracert-run", "run", path, f"--fill-mode={fill}", "--size", "x_dim0=3")


def test_what_does_not_fit_is_refused(model):
    dtype, path = model
    if dtype == "bool":
        outside = ["2"]
    elif dtype in ENDS:
        outside = [str(ENDS[dtype][0] - 1), str(ENDS[dtype][1] + 1), "1.5"]
    else:
        outside = ["1e9999"] + (["65520"] if dtype == "float16" else ["3.4e38"] if dtype == "bfloat16" else [])
    for value in outside:
        tool.fails(1, "tracert-run", "run", path, "--input", f"3x{dtype}={value}")
