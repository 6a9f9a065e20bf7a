"""Installs the runtime to a fresh prefix and builds and runs examples/c against that alone."""

import argparse
import os
import pathlib
import struct
import subprocess
import sys
import tempfile


def run(*arguments, code=0, **options):
    done = subprocess.run([str(a) for a in arguments], capture_output=True, text=True, **options)
    if done.returncode != code:
        sys.exit(f"{arguments}\nexit code {done.returncode}, expected {code}\n"
                 f"{done.stdout}{done.stderr}")
    return done.stdout + done.stderr


def expect(condition, text):
    if not condition:
        sys.exit(text)


def main():
    parser = argparse.ArgumentParser()
    for name in ("cmake", "build", "source", "c-compiler", "write-sample"):
        parser.add_argument(f"--{name}", required=True)
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        prefix = folder / "prefix"
        run(args.cmake, "--install", args.build, "--prefix", prefix)
        # Moved after installation: nothing may point at the build folder.
        moved = folder / "moved"
        prefix.rename(moved)
        run(args.cmake, "-S", args.source, "-B", folder / "example", f"-DCMAKE_PREFIX_PATH={moved}",
            f"-DCMAKE_C_COMPILER={args.c_compiler}")
        text = run(args.cmake, "--build", folder / "example")
        expect("warning" not in text, text)
        program = folder / "example" / "run-model"
        sample = folder / "sample.trc"
        run(args.write_sample, sample)
        environment = {**os.environ, "LD_LIBRARY_PATH": ""}

        text = run(program, sample, env=environment)
        expect("input x: float32[n,4]" in text, text)
        expect("output selected: float32[?]" in text, text)
        expect("section portable" in text, text)

        values = [float(i) for i in range(-3, 17)]
        (folder / "x.bin").write_bytes(struct.pack("<20f", *values))
        text = run(program, sample, "--section=portable", "--input", f"x={folder}/x.bin",
                   "--output", f"total={folder}/total.bin", env=environment)
        scaled = [value * (i % 4 + 1) for i, value in enumerate(values)]
        (total,) = struct.unpack("<f", (folder / "total.bin").read_bytes())
        expect(total == sum(value for value in scaled if value > 2), f"total {total}")

        text = run(program, sample, "--size", "n=1", code=1, env=environment)
        expect("TRT_INDEX_OUT_OF_RANGE: index 1 is out of range for axis 0 of size 1" in text, text)
        text = run(program, sample, "--input", f"y={folder}/x.bin", code=1, env=environment)
        expect("the model has no input named: y" in text, text)
        text = run(program, sample, "--output", f"none={folder}/y.bin", code=1, env=environment)
        expect("the model has no output named: none" in text, text)
        run(program, sample, "--section=native", code=4, env=environment)
        text = run(program, sample, "--size", "m=3", code=1, env=environment)
        expect("the model has no size named: m" in text, text)
        for flag, bounds in (("--runs", "1 to 1000000000"), ("--size=n", "0 to 1099511627776")):
            for number in ("-1", "nan", "", "1x", "1e3", " 1", "99999999999999999999"):
                text = run(program, sample, f"{flag}={number}", code=1, env=environment)
                expect(f"a whole number from {bounds}, got '{number}'" in text, text)
        run(program, sample, "--runs=0", code=1, env=environment)
        text = run(program, sample, "--size=n=1099511627776", code=1, env=environment)
        expect("too large" in text or "out of memory" in text, text)
        text = run(program, sample, "--size=n=2", "--size=n=3", code=1, env=environment)
        expect("given twice: n=3" in text, text)
        text = run(program, sample, "--section=\x1b[31mred", code=1, env=environment)
        expect("\\x1b[31mred" in text and "\x1b" not in text, repr(text))
        with open("/dev/full", "w") as full:
            done = subprocess.run([str(program), str(sample)], stdout=full, env=environment,
                                  stderr=subprocess.PIPE, text=True)
        expect(done.returncode == 1 and "cannot write: standard output" in done.stderr, done.stderr)
        (folder / "bad.trc").write_bytes(sample.read_bytes()[:100])
        run(program, folder / "bad.trc", code=3, env=environment)
        expect((moved / "include/tracert/tracert.hpp").exists(), "tracert.hpp is not installed")


if __name__ == "__main__":
    main()
