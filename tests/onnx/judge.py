"""Compiles and runs translated cases, many in one program, and compares what they compute with what ONNX expects:
by the interpreter and by an executable. Verdicts are kept by content: of the case, the programs and nnc."""
import concurrent.futures
import hashlib
import json
import os
import re
import subprocess
import sys

import numpy as np

from node import program

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
import tensor_file  # noqa: E402 (beside this folder, not installed)

# The greatest error, relative to the tensor's greatest element, that counts as right; of f32 and f64 ONNX's own
# bounds hold besides, element by element, and a hundredth of ours. Integers and floats of fewer bits are exact.
TOLERANCE = {"float64": 1e-7, "float32": 1e-5, "float16": 2.0 ** -10, "bfloat16": 2.0 ** -7}
# Cases whose expected values ONNX has written by hand to few digits: ONNX's own bounds alone.
FEW_DIGITS = {"averagepool_2d_ceil_last_window_starts_on_pad", "roialign_aligned_false", "roialign_aligned_true"}
# Cases with a tie in f32 that is none in the interpreter's doubles: the executable alone.
TIES = {"dynamicquantizelinear"}
CASES_OF_A_PROGRAM = 40


def difference(found, expected, case):
    """None, or what is wrong with it."""
    if list(found.shape) != list(expected.shape):
        return f"shape {list(found.shape)} for {list(expected.shape)}"
    exact = "float" not in expected.dtype.name
    kind = np.int64 if exact else np.float64
    with np.errstate(all="ignore"):
        a, b = found.astype(kind), expected.astype(kind)
    if exact:
        wrong = a != b
    else:
        finite = np.isfinite(b)
        greatest = np.max(np.abs(b[finite]), initial=0.0)
        with np.errstate(all="ignore"):
            error = np.abs(a - b)
            if case.name in FEW_DIGITS:
                return None if np.allclose(a, b, case.rtol, case.atol) else "beyond ONNX's own bounds"
            bound = TOLERANCE.get(expected.dtype.name, 0.0) * (greatest or 1.0)
            near = error <= bound
            if expected.dtype.name in ("float32", "float64"):
                near &= error <= case.atol + case.rtol * np.abs(b) + bound * 1e-2
            wrong = ~np.where(finite, near, (a == b) | (np.isnan(a) & np.isnan(b)))
    if not wrong.any():
        return None
    at = tuple(int(i) for i in np.argwhere(wrong)[0])
    return f"{int(wrong.sum())} of {b.size} differ: {list(at)} is {a[at]}, expected {b[at]}"


class Judge:
    def __init__(self, build, folder, library, jobs):
        import ml_dtypes
        tensor_file.TYPES.update(F16=np.float16, BF16=ml_dtypes.bfloat16)
        self.nnc, self.interpret = f"{build}/bin/nnc", f"{build}/tests/onnx_interpret"
        self.work, self.cache, self.library, self.jobs = f"{folder}/work", f"{folder}/verdicts", library, jobs
        os.makedirs(self.work, exist_ok=True)
        os.makedirs(self.cache, exist_ok=True)
        with open(f"{self.work}/unused.csv", "w") as file:
            file.write("0\n")
        parts = [library.encode(), open(__file__, "rb").read()]
        parts += [open(path, "rb").read() for path in (self.nnc, self.interpret)]
        self.tools = hashlib.sha256(b"".join(hashlib.sha256(part).digest() for part in parts)).hexdigest()

    # ---- verdicts that are known ----

    def path_of(self, case):
        key = hashlib.sha256((self.tools + case.case.digest() + case.text).encode()).hexdigest()
        return f"{self.cache}/{key[:32]}"

    def known(self, case):
        try:
            with open(self.path_of(case)) as file:
                return tuple(json.load(file))
        except FileNotFoundError:
            return None

    def keep(self, case, verdict):
        with open(self.path_of(case), "w") as file:
            json.dump(verdict, file)
        return verdict

    # ---- programs ----

    def run(self, name, command):
        done = subprocess.run(command, cwd=self.work, capture_output=True, text=True, timeout=900, check=False)
        return None if done.returncode == 0 else f"{name}: exit status {done.returncode}: {done.stderr.strip()[:2000]}"

    def refusal(self, case):
        """The first message of `nnc check`, or None."""
        path = f"{self.work}/{case.case.name}.net"
        with open(path, "w") as file:
            file.write(program(self.library, [case]))
        message = self.run("nnc check", [self.nnc, "check", path])
        if message is None:
            os.remove(path)
            return None
        found = re.search(r"(?m)error: (.*)", message)
        return found.group(1) if found else message

    def results(self, name, cases):
        """A map of states by each of the two ways, or a message."""
        path = f"{self.work}/{name}"
        with open(path + ".net", "w") as file:
            file.write(program(self.library, cases))
        start = {"scale": np.zeros((), np.float32)}  # of every program: there must be one
        start |= {key: value for case in cases for key, value in case.start.items()}
        tensor_file.write_safetensors(path + ".start", start)
        tensor_file.write_safetensors(path + ".inputs", {"0/unused": np.zeros(1, np.float32)})
        steps = [("interpreter", [self.interpret, path + ".net", path + ".start", path + ".interpreted"]),
                 ("nnc", [self.nnc, path + ".net", "-o", path + ".program"]),
                 ("executable", [path + ".program", "step", "--inputs", path + ".inputs", "--init", path + ".start",
                                 "--steps", "1", "--quiet", path + ".computed"])]
        for step, command in steps:
            message = self.run(step, command)
            if message:
                return message
        found = {by: tensor_file.read_safetensors(f"{path}.{by}") for by in ("interpreted", "computed")}
        for suffix in (".net", ".start", ".inputs", ".interpreted", ".computed", ".program"):
            os.remove(path + suffix)
        return found

    def judge_group(self, name, cases):
        """Verdicts of cases that nnc accepts one by one; of a program that fails the halves are tried."""
        found = self.results(name, cases)
        if isinstance(found, str):
            if len(cases) == 1:
                return [self.keep(cases[0], ("wrong", found))]
            half = len(cases) // 2
            return self.judge_group(name + "a", cases[:half]) + self.judge_group(name + "b", cases[half:])
        return [self.keep(case, self.compare(case, found)) for case in cases]

    @staticmethod
    def compare(case, found):
        for by, tensors in found.items():
            if by == "interpreted" and case.case.name in TIES:
                continue
            for name, expected in case.expected.items():
                message = difference(tensors[name], expected, case.case)
                if message:
                    return ("wrong", f"{by}: {name[name.rindex('_') + 1:]}: {message}")
        return ("right", "")

    def verdicts(self, cases):
        """("right" | "wrong" | "refused", why) of every case, by name."""
        verdicts = {case.case.name: self.known(case) for case in cases}
        missing = [case for case in cases if verdicts[case.case.name] is None]
        with concurrent.futures.ThreadPoolExecutor(self.jobs) as pool:
            accepted = []
            for case, message in zip(missing, pool.map(self.refusal, missing)):
                if message is None:
                    accepted.append(case)
                else:
                    verdicts[case.case.name] = self.keep(case, ("refused", message))
            size = CASES_OF_A_PROGRAM
            groups = [accepted[i:i + size] for i in range(0, len(accepted), size)]
            names = [f"group{i}" for i in range(len(groups))]
            for group, found in zip(groups, pool.map(self.judge_group, names, groups)):
                verdicts.update((case.case.name, verdict) for case, verdict in zip(group, found))
        return verdicts


