#!/usr/bin/env python3
"""The main job, end to end, on a photograph.

An ordinary eager function develops a photo: a stencil written with shifted slices, a mask that is read and
written, a tone curve looked up by an integer array, a matmul and reductions. The same function runs eagerly,
traced with checked replay, and dumped to one file which a C program without LLVM and Python runs on its
native and on its portable section. Ends with "demo ok" only if all of them agree bit for bit.
"""

import argparse
import importlib.resources
import os
import re
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
from PIL import Image

import tracec as tc

ROOT = Path(__file__).resolve().parents[2]
OUTPUT_NAMES = ["picture", "channel_mean", "bright_sum", "bright_mean", "brightest"]


def develop(m, photo, curve, colours):
    """photo: uint8 (H, W, 3); curve: float32 (256,); colours: float32 (3, 3). m is tracec or NumPy."""
    x = photo.astype("float32") / 255.0
    luma = x.mean(axis=2)

    # Sharpen: a five-point stencil from shifted slices, added into the inner part by slice assignment.
    centre = x[1:-1, 1:-1]
    around = x[:-2, 1:-1] + x[2:, 1:-1] + x[1:-1, :-2] + x[1:-1, 2:]
    sharp = x * 1.0
    sharp[1:-1, 1:-1] = centre + (centre - around * 0.25) * 0.75

    # Read what a mask selects, then clip with masked assignments.
    bright = luma > 0.75
    selected = luma[bright]
    bright_sum, bright_mean = selected.sum(), selected.mean()
    sharp[sharp > 1.0] = 1.0
    sharp[sharp < 0.0] = 0.0

    # A tone curve is a gather; a change of colours is a matmul.
    toned = curve[(sharp * 255.0).astype("int32")]
    mixed = m.matmul(toned.reshape((-1, 3)), colours).reshape(photo.shape)
    limited = m.minimum(m.maximum(mixed, 0.0), 1.0)
    picture = (limited * 255.0 + 0.5).astype("uint8")
    return picture, mixed.mean(axis=(0, 1)), bright_sum, bright_mean, mixed.max()


def load_inputs():
    with importlib.resources.files("skimage").joinpath("data/coffee.png").open("rb") as file:
        photo = np.ascontiguousarray(np.asarray(Image.open(file).convert("RGB")))
    t = np.linspace(0.0, 1.0, 256, dtype=np.float32)
    curve = (t * t * (3.0 - 2.0 * t) * 0.6 + t * 0.4).astype(np.float32)
    colours = np.float32([[1.05, 0.00, -0.03], [-0.02, 1.02, 0.00], [0.02, -0.05, 1.08]])
    return photo, curve, colours


def traced_model():
    curve, colours = (tc.tensor(a) for a in load_inputs()[1:])

    @tc.trace
    def model(photo):
        return develop(tc, photo, curve, colours)

    return model


def dump_model(folder):
    """The demo's file, as bench/run.py wants it, too."""
    model = traced_model()
    model(tc.tensor(load_inputs()[0]))
    path = Path(folder) / "develop.trc"
    model.dump(path, output_names=OUTPUT_NAMES)
    return path


def timed(function, repeat=5):
    best, result = float("inf"), None
    for _ in range(repeat):
        begin = time.perf_counter()
        result = function()
        best = min(best, time.perf_counter() - begin)
    return result, best * 1e3


def build_c_program(folder, build):
    """Builds examples/c against an installed libtracert: what a deploy engineer would do."""
    prefix, out = folder / "prefix", folder / "c"
    for command in (["cmake", "--install", str(build / "runtime"), "--prefix", str(prefix)],
                    ["cmake", "-G", "Ninja", "-S", str(ROOT / "examples/c"), "-B", str(out),
                     f"-DCMAKE_PREFIX_PATH={prefix}", "-DCMAKE_BUILD_TYPE=Release"],
                    ["cmake", "--build", str(out)]):
        done = subprocess.run(command, capture_output=True, text=True)
        if done.returncode != 0:
            sys.exit(f"demo: {' '.join(command)} failed:\n{done.stdout}{done.stderr}")
    return out / "run-model"


def run_c(program, path, photo, folder, section, expected):
    """Outputs and best milliseconds of the C program; shapes and dtypes are those of `expected`."""
    photo_file = folder / "photo.raw"
    photo.tofile(photo_file)
    command = [str(program), str(path), f"--section={section}", "--runs=5",
               f"--input=photo={photo_file}"]
    command += [f"--size=photo_dim{axis}={size}" for axis, size in enumerate(photo.shape)]
    command += [f"--output={name}={folder / name}.raw" for name in OUTPUT_NAMES]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"demo: the C program failed: {done.stderr}")
    used, milliseconds = re.search(r"section (\S+), ([0-9.]+) ms", done.stdout).groups()
    results = [np.fromfile(folder / f"{name}.raw", array.dtype).reshape(array.shape)
               for name, array in zip(OUTPUT_NAMES, expected, strict=True)]
    return results, float(milliseconds), used


def max_difference(results, reference):
    return max(float(np.max(np.abs(a.astype(np.float64) - b.astype(np.float64)), initial=0.0))
               for a, b in zip(results, reference, strict=True))


def same_bits(results, reference):
    return all(a.dtype == b.dtype and a.shape == b.shape and a.tobytes() == b.tobytes()
               for a, b in zip(results, reference, strict=True))


def close_to(results, reference):
    """NumPy sums in another order, so a pixel may round the other way."""
    picture, numpy_picture = results[0].astype(int), reference[0].astype(int)
    return (np.abs(picture - numpy_picture).max() <= 1 and
            np.mean(picture != numpy_picture) < 1e-3 and
            all(np.allclose(a, b, rtol=1e-4, atol=1e-6)
                for a, b in zip(results[1:], reference[1:], strict=True)))


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", default=str(ROOT / "build/demo.png"), help="where the picture goes")
    options = parser.parse_args()

    photo, curve, colours = load_inputs()
    print(f"photo {photo.shape[1]} x {photo.shape[0]}, tracec {tc.__version__}, NumPy {np.__version__}")
    rows = []

    numpy_results, milliseconds = timed(lambda: develop(np, photo, curve, colours))
    numpy_results = [np.asarray(r) for r in numpy_results]

    x, c, k = tc.tensor(photo), tc.tensor(curve), tc.tensor(colours)
    eager_tensors, eager_ms = timed(lambda: develop(tc, x, c, k))
    eager = [t.numpy() for t in eager_tensors]
    rows.append(("NumPy (reference)", milliseconds, numpy_results, close_to(numpy_results, eager)))
    rows.append(("eager", eager_ms, eager, True))

    model = traced_model()
    begin = time.perf_counter()
    recorded = [t.numpy() for t in model(x)]
    rows.append(("traced, recording call", (time.perf_counter() - begin) * 1e3, recorded,
                 same_bits(recorded, eager)))
    begin = time.perf_counter()
    first = [t.numpy() for t in model(x)]
    rows.append(("traced, first replay (compiles)", (time.perf_counter() - begin) * 1e3, first,
                 same_bits(first, eager)))
    replayed_tensors, milliseconds = timed(lambda: model(x))
    replayed = [t.numpy() for t in replayed_tensors]
    rows.append(("traced, checked replay", milliseconds, replayed, same_bits(replayed, eager)))

    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        path = folder / "develop.trc"
        begin = time.perf_counter()
        model.dump(path, output_names=OUTPUT_NAMES)
        print(f"dumped and verified {path.stat().st_size / 1e3:.0f} kB in "
              f"{time.perf_counter() - begin:.2f} s")
        build = Path(os.environ.get("TRACEC_BUILD", Path(tc.__file__).absolute().parents[2]))
        program = build_c_program(folder, build)
        for section in ("native", "portable"):
            results, milliseconds, used = run_c(program, path, photo, folder, section, eager)
            rows.append((f"C program, {section} section ({used})", milliseconds, results,
                         same_bits(results, eager)))

    print(f"\n{'path':40} {'ms':>9}  {'max difference from eager':>26}  agrees")
    for label, milliseconds, results, agrees in rows:
        kind = "within tolerance" if label.startswith("NumPy") else "bit for bit"
        print(f"{label:40} {milliseconds:9.2f}  {max_difference(results, eager):26.3g}  "
              f"{kind if agrees else 'NO'}")

    Path(options.out).parent.mkdir(parents=True, exist_ok=True)
    Image.fromarray(np.concatenate([photo, eager[0]], axis=1)).save(options.out)
    print(f"\ninput and output side by side: {options.out}")
    if not all(row[3] for row in rows):
        print("demo failed: a path does not agree with eager", file=sys.stderr)
        return 1
    print("demo ok")
    return 0


if __name__ == "__main__":
    sys.exit(main())
