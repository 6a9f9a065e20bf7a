"""What somebody who builds or links only the runtime meets: messages of a build that lacks something, and pkg-config.

The C program is linked by gcc against an installed tree with nothing but what pkg-config prints, dynamically and statically.
"""

import argparse
import os
import pathlib
import subprocess
import sys
import tempfile


def run(*arguments, code=0, **options):
    done = subprocess.run([str(a) for a in arguments], capture_output=True, text=True, **options)
    if (done.returncode == 0) != (code == 0):
        sys.exit(f"{arguments}\nexit code {done.returncode}\n{done.stdout}{done.stderr}")
    return done.stdout + done.stderr


def expect(condition, text):
    if not condition:
        sys.exit(text)


def check_missing_parts(args, folder):
    """One message names everything that is missing, before anything is compiled."""
    text = run(args.cmake, "-S", args.source, "-B", folder / "missing", "-DCMAKE_IGNORE_PATH=/usr/include;/usr/bin/flatc",
               "-DTRACERT_FLATC=", code=1)
    for part in ("libtracert cannot be built without", "flatbuffers/flatbuffers.h", "xxhash.h", "libflatbuffers-dev",
                 "libxxhash-dev", "apt install"):
        expect(part in text, f"the message does not say {part!r}:\n{text}")


def pkg_config(prefix, *flags):
    found = list(prefix.rglob("tracert.pc"))
    expect(len(found) == 1, f"tracert.pc: {found}")
    environment = {**os.environ, "PKG_CONFIG_PATH": str(found[0].parent)}
    return run("pkg-config", *flags, "tracert", env=environment).split()


def check_linkage(args, prefix, sample, linkage, folder):
    static = linkage == "static"
    program = folder / f"program-{linkage}"
    libraries = pkg_config(prefix, "--cflags", "--libs", *(["--static"] if static else []))
    text = run("gcc", "-std=c99", "-Wall", "-Werror", args.program, *(["-static"] if static else []), *libraries, "-o", program)
    expect("warning" not in text or static, text)
    environment = {**os.environ, "LD_LIBRARY_PATH": ""}
    if not static:
        environment["LD_LIBRARY_PATH"] = str(next(prefix.rglob("libtracert.so")).parent)
    expect(run(program, sample, env=environment) == "total 35\n", f"{linkage}: the program's output")
    dynamic = run("readelf", "-d", program)
    expect(("libtracert" in dynamic) != static, f"{linkage}:\n{dynamic}")


def main():
    parser = argparse.ArgumentParser()
    for name in ("cmake", "build", "source", "program", "write-sample", "linkages"):
        parser.add_argument(f"--{name}", required=True)
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        check_missing_parts(args, folder)
        run(args.cmake, "--install", args.build, "--prefix", folder / "prefix")
        # Moved after installation: nothing may point at where it was.
        prefix = folder / "moved"
        (folder / "prefix").rename(prefix)
        sample = folder / "sample.trc"
        run(args.write_sample, sample)
        for linkage in args.linkages.split("+"):
            if linkage != "none":
                check_linkage(args, prefix, sample, linkage, folder)


if __name__ == "__main__":
    main()
