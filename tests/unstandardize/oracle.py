"""The oracle of tests/unstandardize: tables with known means and deviations, and what programs must make of them, in plain
Python.

    oracle.py make                              writes train.csv, test.csv and series.csv
    oracle.py predictions FILE TOLERANCE        lines of ./table predict test.csv
    oracle.py metrics PREDICTIONS FILE          what ./table eval --json prints
    oracle.py windows FILE                      lines of ./series predict
    oracle.py no_tensor CHECKPOINT              means and deviations are in its metadata alone
    oracle.py unfinished CHECKPOINT STEPS       it is of a run that has steps left
    oracle.py nested FILE                       lines of ./nested predict train.csv
"""
import json
import math
import random
import struct
import sys

COLUMNS = ["rooms", "age", "price", "rent", "tax"]  # a row's y: price, rent, tax


def make():
    draw = random.Random(7)
    for name, count, shift in (("train.csv", 50, 0), ("test.csv", 21, 3)):
        with open(name, "w") as file:
            print(",".join(COLUMNS), file=file)
            for _ in range(count):
                rooms, age = draw.randint(1, 9) + shift, draw.uniform(0, 60)
                price = 1e5 + 2e4 * rooms - 500 * age + draw.gauss(0, 3000)
                print(f"{rooms},{age:.3f},{price:.2f},{price / 3e8 - .001 * rooms:.9f},{7 if shift == 0 else 12}", file=file)
    with open("series.csv", "w") as file:
        for i in range(60):
            print(f"{300 + 40 * math.sin(i / 3) + i:.4f},{.02 * math.cos(i / 5):.6f}", file=file)


def table(name, first=0, last=None):
    lines = [line.split(",") for line in open(name) if not line.startswith("rooms")]
    return [[float(cell) for cell in line] for line in lines[first:last]]


def moments(rows):
    """Means, deviations of the population; a constant column's deviation is 0."""
    columns = list(zip(*rows))
    means = [math.fsum(column) / len(column) for column in columns]
    deviations = [math.sqrt(math.fsum((x - mean) ** 2 for x in column) / len(column))
                  for column, mean in zip(columns, means)]
    return means, [0.0 if min(column) == max(column) else deviation for column, deviation in zip(columns, deviations)]


def lines(name):
    return [json.loads(line) for line in open(name)]


def near(found, wanted, tolerance, scale, what):
    assert abs(found - wanted) <= tolerance * scale, f"{what}: {found!r} instead of {wanted!r}"


def units():
    return moments([row[2:] for row in table("train.csv")])


def predictions(name, tolerance):
    means, deviations = units()
    found = lines(name)
    assert len(found) == len(table("test.csv")), len(found)
    for line in found:
        for k, (mean, deviation) in enumerate(zip(means, deviations)):
            near(line["y"][k], line["z"][k] * deviation + mean, float(tolerance), abs(mean) + deviation, line)
            near(line["coarse"][k], line["rounded"][k] * deviation + mean, max(float(tolerance), 3e-7), abs(mean) + deviation, line)
            near(line["middle"][k], mean, float(tolerance), abs(mean), line)
        assert line["y"][2] == 7, line  # the constant column
    assert len({line["y"][0] for line in found}) == len(found) and max(line["y"][0] for line in found) > 1e5, found


def metrics(predicted, name):
    """Mean absolute errors in units: of the rows, and of each column; of tax, whose scores are 0, none."""
    rows, found, truth = lines(predicted), lines(name)[-1], [row[2:] for row in table("test.csv")]
    errors = [[abs(row["y"][k] - y[k]) for k in range(2)] + [0.0] for row, y in zip(rows, truth)]
    means = [math.fsum(column) / len(errors) for column in zip(*errors)]
    near(found["off"], math.fsum(means) / 3, 1e-5, means[0], found)
    for name, mean in zip(COLUMNS[2:], means):
        near(found[name], mean, 1e-5, mean, found)


def windows(name):
    means, deviations = moments(table("series.csv", 0, 48))  # to = 0.8
    found = lines(name)
    assert len(found) > 3, found
    for line in found:
        for row, scores in zip(line["y"], line["z"]):
            for k in range(2):
                near(row[k], scores[k] * deviations[k] + means[k], 1e-6, abs(means[k]) + deviations[k], line)
        # the past in its units is the file's
        for row, known in zip(line["past"], line["raw"]):
            for k in range(2):
                near(row[k], known[k], 1e-6, abs(means[k]) + deviations[k], line)


def header_of(checkpoint):
    with open(checkpoint, "rb") as file:
        return json.loads(file.read(struct.unpack("<Q", file.read(8))[0]))


def no_tensor(checkpoint):
    names = [name for name in header_of(checkpoint) if name != "__metadata__"]
    assert names and not any("standardize" in name for name in names), names


def unfinished(checkpoint, steps):
    step = int(header_of(checkpoint)["__metadata__"]["step"])
    assert 0 < step < int(steps), step


def nested(name):
    rows = table("train.csv")
    (mean,), (deviation,) = moments([[row[2]] for row in rows])
    total, squares = 0, 0
    for line, row in zip(lines(name), rows):
        rooms, age = line["x"]
        wanted = (rooms * deviation + mean) + (age * deviation + mean)
        near(line["sum"], wanted, 1e-6, abs(wanted), line)
        near(line["steps"][0], rooms * deviation + mean, 1e-6, mean, line)


if __name__ == "__main__":
    globals()[sys.argv[1]](*sys.argv[2:])
