"""tracert-run from the outside: verbs, exit codes, JSON, .npy files.

    tracert_run_test.py path/to/tracert-run path/to/write-sample
"""

import json
import pathlib
import struct
import subprocess
import sys
import tempfile
import unittest

TOOL = WRITE_SAMPLE = None


def npy(shape, values, order="C"):
    """A .npy file of float32 in the given memory order (`values` lie in memory as given)."""
    text = f"{{'descr': '<f4', 'fortran_order': {order == 'F'}, 'shape': {tuple(shape)}, }}"
    text += " " * (-(10 + len(text) + 1) % 64) + "\n"
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(text)) + text.encode() + struct.pack(
        f"<{len(values)}f", *values)


class TracertRun(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.sample = self.folder / "sample.trc"
        self.wrong = self.folder / "wrong.trc"
        subprocess.run([WRITE_SAMPLE, self.sample], check=True)
        subprocess.run([WRITE_SAMPLE, "--wrong", self.wrong], check=True)

    def run_tool(self, *arguments, code=0):
        done = subprocess.run([TOOL, *map(str, arguments)], capture_output=True, text=True)
        self.assertEqual(done.returncode, code, done.stdout + done.stderr)
        if code not in (0, 2):
            # One line, with a code.
            self.assertEqual(len(done.stderr.splitlines()), 1, done.stderr)
            self.assertTrue(done.stderr.startswith("tracert-run: error "), done.stderr)
        return done.stdout + done.stderr

    def test_runs_the_test_vector_without_inputs(self):
        text = self.run_tool("run", self.sample)
        self.assertIn("written: float32[3,4] = -3,7,7,0,", text)
        self.assertIn("total: float32[] = ", text)

    def test_takes_values_names_and_files(self):
        one = self.run_tool("run", self.sample, "--input", "x=2x4xf32=1,2,3,4,5,6,7,8")
        self.assertEqual(one, self.run_tool("run", self.sample, "--input",
                                            "2x4xf32=1,2,3,4,5,6,7,8"))
        (self.folder / "c.npy").write_bytes(npy((2, 4), [1, 2, 3, 4, 5, 6, 7, 8]))
        (self.folder / "f.npy").write_bytes(npy((2, 4), [1, 5, 2, 6, 3, 7, 4, 8], "F"))
        for name in "cf":
            file = f"x=@{self.folder / name}.npy"
            self.assertEqual(one, self.run_tool("run", self.sample, "--input", file))

    def test_writes_npy(self):
        out = self.folder / "out.npy"
        self.run_tool("run", self.sample, "--input", "x=2x4xf32=1", "--output", f"written=@{out}")
        data = out.read_bytes()
        self.assertEqual(data[:8], b"\x93NUMPY\x01\x00")
        self.assertEqual((10 + struct.unpack("<H", data[8:10])[0]) % 64, 0)
        self.assertIn(b"'shape': (3, 4)", data)
        self.assertEqual(struct.unpack("<12f", data[-48:]), (1, 7, 7, 4, 1, 2, 3, 4, 1, 2, 3, 4))
        self.run_tool("run", self.sample, "--input", "x=2x4xf32=1", "--expected-output",
                      f"written=@{out}")

    def test_expected_output_and_tolerances(self):
        arguments = ["run", self.sample, "--input", "x=2x4xf32=1", "--expected-output"]
        # Selected are 3, 4, 3, 4.
        self.run_tool(*arguments, "total=f32=14")
        self.assertIn("1 of 1 differ", self.run_tool(*arguments, "total=f32=14.5", code=2))
        self.run_tool(*arguments, "total=f32=14.5", "--atol", "0.5")
        self.run_tool(*arguments, "total=f32=14.5", "--rtol", "0.1")
        self.run_tool(*arguments, "total=f32=14.000001", "--ulp", "1")
        self.assertIn("dtype or shape differ", self.run_tool(*arguments, "total=f64=14", code=2))

    def test_verify(self):
        self.assertEqual(self.run_tool("verify", self.sample).count(": ok:"), 3)
        rows = json.loads(self.run_tool("verify", self.sample, self.wrong, "--json", code=2))
        self.assertEqual([row["mismatches"] for row in rows], [0, 0, 0, 1, 0, 0])
        self.assertEqual(rows[3]["first_bad"], 0)
        self.assertEqual(rows[3]["max_abs"], 1)

    def test_bench(self):
        result = json.loads(self.run_tool("bench", self.sample, "--iterations", 20, "--json"))
        self.assertEqual(result["iterations"], 20)
        self.assertLessEqual(result["percentiles_us"]["50"], result["percentiles_us"]["99"])

    def test_json_and_fill_mode(self):
        result = json.loads(self.run_tool("run", self.sample, "--fill_mode=ones", "--size", "n=3",
                                          "--json"))
        self.assertEqual(result["outputs"][0]["shape"], [3, 4])
        self.assertEqual(result["section"], "portable")
        self.assertEqual(result["statistics"]["launches_run"], 0)
        self.assertGreater(result["statistics"]["library_kernels_run"], 0)
        # Rows of 1, 2, 3, 4; above 2 are 3 and 4.
        self.assertEqual(result["outputs"][1]["values"], 21)

    def test_exit_codes(self):
        cut = self.folder / "cut.trc"
        cut.write_bytes(self.sample.read_bytes()[:5000])
        newer = bytearray(self.sample.read_bytes())
        newer[8] = 9
        (self.folder / "newer.trc").write_bytes(newer)
        self.assertIn("it is cut off", self.run_tool("run", cut, code=3))
        self.run_tool("run", self.folder / "newer.trc", code=4)
        self.assertIn("no native section", self.run_tool("run", self.sample, "--section", "native",
                                                         code=4))
        self.run_tool("run", self.folder / "none.trc", code=1)
        self.run_tool("run", self.sample, "--input", "z=f32=1", code=1)
        self.run_tool("run", self.sample, "--input", "x=2x4xf32=1,2", code=1)
        self.run_tool("run", self.sample, "--input", "x=2x4xi32=1", code=1)
        self.run_tool("run", self.sample, "--input", "x=2x4xf32=a", code=1)
        self.run_tool("run", self.sample, "--input", "@/no/such.npy", code=1)
        self.run_tool("run", self.sample, "--section", "gpu", code=1)
        self.run_tool("run", self.sample, "--bogus", code=1)
        self.run_tool("walk", self.sample, code=1)
        text = self.run_tool("run", self.sample, "--input", "x=1x4xf32=1", code=1)
        self.assertIn("TRT_INDEX_OUT_OF_RANGE: index 1 is out of range for axis 0 of size 1", text)
        self.assertIn("at model.py:11", text)
        self.run_tool("--version")
        self.run_tool("run", "--help")


if __name__ == "__main__":
    TOOL, WRITE_SAMPLE = sys.argv[1:3]
    unittest.main(argv=sys.argv[:1])
