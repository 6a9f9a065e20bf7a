#!/usr/bin/env python3
"""Makes a shared library of loops over every function of a scalar bitcode module.

    bitcode_loops.py --clang clang++ --llvm-bin DIR --bitcode avx512_v16.bc --output loops.so -- <flags>

Each function tcs_f(...) gives  void loop_tcs_f(in0, in1, in2, out, vectors)  on contiguous data, called as
a code generator would: the module linked, the function inlined.
"""
import argparse
import pathlib
import re
import subprocess
import tempfile


def loop(name: str, result: str, operands: list[str]) -> str:
    loads = []
    for index, type_ in enumerate(operands):
        loads.append(f"  %p{index} = getelementptr {packed(type_)}, ptr %in{index}, i64 %i")
        loads.append(f"  %v{index} = load {type_}, ptr %p{index}, align 1")
    arguments = ", ".join(f"{type_} %v{index}" for index, type_ in enumerate(operands))
    return f"""
define void @loop_{name}(ptr %in0, ptr %in1, ptr %in2, ptr %out, i64 %count) {{
entry:
  %any = icmp sgt i64 %count, 0
  br i1 %any, label %body, label %done
body:
  %i = phi i64 [ 0, %entry ], [ %next, %body ]
{chr(10).join(loads)}
  %r = call {result} @{name}({arguments})
  %pr = getelementptr {packed(result)}, ptr %out, i64 %i
  store {result} %r, ptr %pr, align 1
  %next = add i64 %i, 1
  %more = icmp slt i64 %next, %count
  br i1 %more, label %body, label %done
done:
  ret void
}}"""


def packed(type_: str) -> str:
    vector = re.fullmatch(r"<(\d+) x (\w+)>", type_)
    return f"[{vector[1]} x {vector[2]}]" if vector else type_


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    for option in ("clang", "llvm-bin", "bitcode", "output"):
        parser.add_argument("--" + option, required=True)
    parser.add_argument("flags", nargs="*")
    args = parser.parse_args()
    tool = lambda name: str(pathlib.Path(args.llvm_bin, name))
    text = subprocess.run([tool("llvm-dis"), args.bitcode, "-o", "-"], check=True, capture_output=True,
                          text=True).stdout
    value = r"(?:<\d+ x \w+>|\w+)"
    functions = re.findall(rf"^define ({value}) @(tcs_\w+)\((.*?)\)", text, re.M)
    if not functions:
        raise SystemExit(f"no tcs_ function in {args.bitcode}")
    with tempfile.TemporaryDirectory() as folder:
        loops, linked, thin = (pathlib.Path(folder, name) for name in ("loops.ll", "linked.bc", "thin.bc"))
        lines = re.findall(r"^target .*$", text, re.M)
        for result, name, parameters in functions:
            operands = re.findall(rf"({value}) %", parameters)
            lines.append(f"declare {result} @{name}({', '.join(operands)})")
            lines.append(loop(name, result, operands))
        loops.write_text("\n".join(lines) + "\n")
        subprocess.run([tool("llvm-link"), str(loops), args.bitcode, "-o", str(linked)], check=True)
        subprocess.run([tool("opt"), "-passes=always-inline,function(sroa,early-cse,instcombine)", str(linked),
                        "-o", str(thin)], check=True)
        subprocess.run([args.clang, "-O1", "-shared", "-fPIC", "-Wno-override-module", *args.flags, str(thin),
                        "-o", args.output], check=True)


if __name__ == "__main__":
    main()
