"""lit tests: each .mlir file's RUN lines, with tracec-opt, tracec and FileCheck on the PATH.

Run one by hand:  lit-22 -v build/dev/test --filter fuse-elementwise
"""

import os

import lit.formats

config.name = "tracec"
config.test_format = lit.formats.ShTest(execute_external=False)
config.suffixes = [".mlir"]
config.excludes = ["Inputs", "unit", "python", "e2e", "cli", "layering", "symbols", "golden"]
config.test_source_root = os.path.dirname(__file__)
config.test_exec_root = os.path.join(config.tracec_build, "test")

config.environment["PATH"] = os.pathsep.join(
    [os.path.join(config.tracec_build, "bin"), config.llvm_tools, os.environ.get("PATH", "")])
config.environment["FILECHECK_OPTS"] = "--enable-var-scope --dump-input-filter=annotation"

if config.sanitize:
    config.available_features.add("sanitizer")
    # libMLIR is not instrumented: containers that it fills would be reported.
    config.environment["ASAN_OPTIONS"] = "detect_leaks=0:detect_container_overflow=0"
