"""docs/agreement.md: a row for each model and float type. Rows of models that were not compared stay, and so do later
sections of the page."""
import os

HEAD = """# Agreement with PyTorch

Models of [models/](../models) beside the same networks written in PyTorch (`tests/torch/twins`), on the same weights
and inputs: loss and every gradient of one step, then losses and all weights after some steps of the model's own
optimizer. This table is made by `python3 tests/torch/compare.py --markdown`; [testing.md](testing.md#agreement-with-pytorch)
says how. [Operators of ONNX](#operators-of-onnx) follow.

Errors are relative, to PyTorch in double: of a gradient to its norm, of a weight to how far it has moved; the worst tensor
counts. In brackets is how far PyTorch's own single floats are from its double ones. A star marks a published number of
parameters that the model was held to. What was made smaller stands in the last column. In single floats a rectifier whose
input rounds to the other side of 0 sends a run another way, ours or PyTorch's: up to three draws of inputs are tried then,
and networks of many batch norms start from shifts that keep rectifiers away from there (f64 does without).

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
