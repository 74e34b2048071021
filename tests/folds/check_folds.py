# What five folds of rows.csv validated and learned, beside the rows themselves.
# Usage: check_folds.py CHECKPOINT... ; CHECKPOINT.held has the lines of predict.
import csv, json, math, struct, sys

rows = {int(row["row"]): row for row in csv.DictReader(open("rows.csv"))}


def fitted(path):
    with open(path, "rb") as file:
        header = json.loads(file.read(struct.unpack("<Q", file.read(8))[0]))
    values = json.loads(header["__metadata__"]["fitted"])
    return {value["name"]: value.get("numbers", value.get("strings")) for value in values if not value["name"].endswith(".columns")}


validated = []
for path in sys.argv[1:]:
    held = [json.loads(line)["id"] for line in open(path + ".held")]
    validated += held
    trained = [row for number, row in rows.items() if number not in held]
    assert abs(len(held) - len(rows) / 5) <= 3, held
    known = [float(row["x"]) for row in trained if row["x"]]
    mean = sum(known) / len(known)
    filled = [float(row["x"]) if row["x"] else mean for row in trained]
    deviation = math.sqrt(sum((x - mean) ** 2 for x in filled) / len(filled))
    found = fitted(path)
    numbers = {name: [float(n) for n in value] for name, value in found.items() if "kind" not in name}
    (imputed,) = [value[0] for name, value in numbers.items() if "impute" in name]
    scores = [n for name, value in numbers.items() if "standardize" in name for n in value]
    assert abs(imputed - mean) < 1e-6, (path, imputed, mean)
    for wanted in (mean, deviation):
        assert min(abs(score - wanted) for score in scores) < 1e-6, (path, scores, wanted)
    (kinds,) = [value for name, value in found.items() if "kind" in name]
    assert sorted(kinds) == sorted({"<unk>"} | {row["kind"] for row in trained}), (path, kinds)
assert sorted(validated) == sorted(rows), "each row is validated once"
