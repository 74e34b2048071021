"""docs/agreement.md: a row for each model and float type. Rows of models that were not compared stay, and so do later
sections of the page."""
import os

HEAD = """# Agreement with PyTorch

This page shows how closely the models of [models/](../models) agree with PyTorch, and
[single operators with ONNX](#operators-of-onnx).

Each model is compared with the same network written in PyTorch (`tests/torch/twins`), on the same weights and inputs:

- loss and every gradient of one step
- losses and all weights after some steps of the model's own optimizer

`python3 tests/torch/compare.py --markdown` makes the table; [testing.md](testing.md#agreement-with-pytorch) says how.

- **Errors** are relative to PyTorch in double. The error of a gradient is divided by its norm, that of a weight by how far
  the weight has moved. The worst tensor counts.
- **Brackets** have the distance of PyTorch's own single floats from its double ones.
- **A star** marks a number of parameters that was published; the model was held to it.
- **Constants** are those that were changed: for a smaller network, without random numbers, or with smaller steps.
- **Draws.** In single floats the input of a rectifier may round to the other side of 0. Then a run goes another way, ours or
  PyTorch's. So up to six draws of inputs are tried. Networks of many batch norms start from shifts that keep rectifiers away
  from 0. f64 needs neither.

| model | floats | parameters | first loss | gradients | losses | weights | steps | constants |
|---|---|---|---|---|---|---|---|---|
"""


def line(row):
    def cell(kind):
        their = f" ({row['theirs'][kind][0]:.0e})" if row["theirs"] else ""
        return f"{row['errors'][kind][0]:.0e}{their}"
    constants = ", ".join(f"`{key} = {value}`" for key, value in row["overrides"].items())
    star = "*" if row["published"] else ""
    steps = f"{row['steps']}{'' if row['agrees'] else ' **differs**'}"
    if row["draws"] > 1:
        steps += f", draw {row['draws']}"
    return (f"| {row['model']} | {row['float']} | {row['parameters']:,}{star} | {cell('loss')} | {cell('gradient')} | "
            f"{cell('losses')} | {cell('weight')} | {steps} | {constants} |")


def update_page(path, rows):
    lines, later = {}, ""
    if os.path.exists(path):
        with open(path) as file:
            models, heading, rest = file.read().partition("\n## ")
            later = heading + rest
            for old in models.split("|---|\n")[-1].splitlines():
                cells = [cell.strip() for cell in old.split("|")]
                if len(cells) > 3:
                    lines[cells[1], cells[2]] = old
    for row in rows:
        lines[row["model"], row["float"]] = line(row)
    with open(path, "w") as file:
        file.write(HEAD + "\n".join(lines[key] for key in sorted(lines)) + "\n" + later)
