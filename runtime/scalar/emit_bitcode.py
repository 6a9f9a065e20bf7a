#!/usr/bin/env python3
"""Turns Bitcode.cpp into one bitcode module of functions that take and return vectors by value.

    emit_bitcode.py --clang clang++ --llvm-bin DIR --lanes 16 --output avx512_v16.bc SOURCE -- <compiler flags>

Reads each symbol "name:operand dtypes:result dtype" that the compiler emitted, adds a wrapper `name` by value,
inlines, and drops the original. Target attributes are removed, so the code takes those of the function it is
inlined into.
"""
import argparse
import pathlib
import re
import subprocess
import tempfile

DTYPES_INC = pathlib.Path(__file__).resolve().parent.parent / "include/tracert/DTypes.inc"
STORED = {"uint8_t": "i8", "int8_t": "i8", "uint16_t": "i16", "int16_t": "i16", "char16_t": "i16", "uint32_t": "i32",
          "int32_t": "i32", "uint64_t": "i64", "int64_t": "i64", "float": "float", "double": "double"}


def stored_types():
    """The IR type of a stored element, by the dtype's tag."""
    rows = re.findall(r"^TRACERT_DTYPE\((.*)\)$", DTYPES_INC.read_text(), re.M)
    columns = [[column.strip() for column in row.split(",")] for row in rows]
    return {row[3]: STORED[row[5]] for row in columns}


ELEMENT = stored_types()


def wrapper(symbol: str, lanes: int) -> str:
    name, operands, result = symbol.split(":")
    ir = lambda dtype: ELEMENT[dtype] if lanes == 1 else f"<{lanes} x {ELEMENT[dtype]}>"
    types = [ir(dtype) for dtype in operands.split(",")]
    body = []
    for index, type_ in enumerate(types):
        body.append(f"  %p{index} = alloca {type_}, align 128")
        body.append(f"  store {type_} %a{index}, ptr %p{index}, align 128")
    pointers = ", ".join(f"ptr %p{index}" for index in range(len(types)))
    parameters = ", ".join(f"{type_} %a{index}" for index, type_ in enumerate(types))
    return "\n".join([
        f"define {ir(result)} @{name}({parameters}) alwaysinline nounwind willreturn memory(none) {{",
        *body,
        f"  %r = alloca {ir(result)}, align 128",
        f"  call void @\"{symbol}\"({pointers}, ptr %r)",
        f"  %v = load {ir(result)}, ptr %r, align 128",
        f"  ret {ir(result)} %v",
        "}",
    ])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("source")
    parser.add_argument("--clang", required=True)
    parser.add_argument("--llvm-bin", required=True)
    parser.add_argument("--lanes", type=int, required=True)
    parser.add_argument("--output", required=True)
    parser.add_argument("--depfile")
    parser.add_argument("flags", nargs="*")
    args = parser.parse_args()
    tool = lambda name: str(pathlib.Path(args.llvm_bin, name))

    with tempfile.TemporaryDirectory() as folder:
        raw, wrapped = pathlib.Path(folder, "raw.ll"), pathlib.Path(folder, "wrapped.ll")
        depend = ["-MD", "-MF", args.depfile, "-MT", args.output] if args.depfile else []
        subprocess.run([args.clang, "-std=c++20", "-O2", "-S", "-emit-llvm", "-fno-ident",
                        f"-DTRACERT_BITCODE_LANES={args.lanes}", *depend, *args.flags,
                        args.source, "-o", str(raw)], check=True)
        text = raw.read_text()
        symbols = re.findall(r'^define [^\n]*@"([^"]+:[^"]+:[^"]+)"\(', text, re.M)
        # Inlined into the wrappers, then dropped as an unused internal function.
        text = re.sub(r'^define (?:dso_local )?void @"', 'define internal void @"', text, flags=re.M)
        text = re.sub(r' "(?:target-cpu|target-features|tune-cpu|min-legal-vector-width|prefer-vector-width|'
                      r'stack-protector-buffer-size|no-trapping-math)"(?:="[^"]*")?', "", text)
        text = re.sub(r'^source_filename = .*$', 'source_filename = "Bitcode.cpp"', text, flags=re.M)
        text = text.replace(" noinline", "").replace(" uwtable", "")
        wrapped.write_text(text + "\n" + "\n".join(wrapper(symbol, args.lanes) for symbol in symbols) + "\n")
        subprocess.run([tool("opt"), "-passes=always-inline,globaldce,function(sroa,instcombine,simplifycfg,early-cse),"
                        "strip-dead-prototypes", str(wrapped), "-o", args.output], check=True)


if __name__ == "__main__":
    main()
