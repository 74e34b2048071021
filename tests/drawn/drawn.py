#!/usr/bin/env python3
"""Looks for what the generators of data say that they have drawn.

    drawn.py sounds FOLDER    WAV files of 4000 samples; pitches, by counting the changes of sign, stay, rise or fall
    drawn.py boxes FOLDER     a plane is fitted to the grey of what no box has: what is far from it is in the boxes, and fills them
"""
import array
import csv
import os
import struct
import sys
import wave


def crossings(sound, low, high):
    return sum((a < 0) != (b < 0) for a, b in zip(sound[low:high], sound[low + 1:high + 1]))


def sounds(folder):
    for name, count in (("train", 40), ("val", 7)):
        numbers = []
        assert sorted(os.listdir(f"{folder}/{name}")) == ["fall", "noise", "pulse", "rise", "tone"]
        for number in range(count):
            kind = ["fall", "noise", "pulse", "rise", "tone"][number % 5]
            with wave.open(f"{folder}/{name}/{kind}/{number:06d}.wav") as file:
                assert (file.getnchannels(), file.getsampwidth(), file.getframerate(), file.getnframes()) == (1, 2, 8000, 4000)
                sound = array.array("h", file.readframes(4000))
            numbers.append(bytes(sound))
            ratio = crossings(sound, 3000, 3990) / crossings(sound, 1000, 2000)
            # Loud and silent in turns: the greatest of every 50 samples.
            loud = [max(map(abs, sound[i:i + 50])) for i in range(1000, 4000, 50)]
            if kind in ("rise", "fall", "tone"):
                low, high = {"rise": (1.15, 3), "fall": (0.3, 0.87), "tone": (0.94, 1.03)}[kind]
                assert low < ratio < high, (kind, number, ratio)
            if kind == "noise":
                assert crossings(sound, 1000, 3990) > 1200, (kind, number)
            assert (min(loud) < 0.2 * max(loud)) == (kind == "pulse"), (kind, number, min(loud), max(loud))
        assert len(set(numbers)) == count


def plane(points):
    """The least squares of grey = a + b x + c y, by elimination."""
    rows = [[0.0] * 4 for _ in range(3)]
    for x, y, grey in points:
        v = (1, x, y, grey)
        for i in range(3):
            for j in range(4):
                rows[i][j] += v[i] * v[j]
    for i in range(3):
        rows[i] = [n / rows[i][i] for n in rows[i]]
        for k in range(3):
            if k != i:
                rows[k] = [n - rows[k][i] * m for n, m in zip(rows[k], rows[i])]
    return [row[3] for row in rows]


def boxes(folder):
    judged = wrong = outside = 0
    for name, count in (("train", 60), ("test", 5)):
        with open(f"{folder}/{name}-images-idx3-ubyte", "rb") as file:
            assert struct.unpack(">4I", file.read(16)) == (0x803, count, 40, 40)
            pixels = file.read()
        with open(f"{folder}/{name}-boxes.csv") as file:
            table = [[float(n) for n in row] for row in csv.reader(file)]
        assert len(table) == count and len(pixels) == count * 1600 and all(len(row) == 15 for row in table)
        for number, row in enumerate(table):
            kinds = [int(k) for k in row[12:]]
            there = [row[4 * i:4 * i + 4] for i in range(3) if kinds[i] >= 0]
            assert there and all(k in range(-1, 6) for k in kinds)
            assert all(row[4 * i:4 * i + 4] == [0] * 4 for i in range(3) if kinds[i] < 0)
            assert all(0 <= b[0] < b[2] <= 40 and 0 <= b[1] < b[3] <= 40 for b in there), there
            grey = [(x, y, pixels[number * 1600 + y * 40 + x]) for y in range(40) for x in range(40)]
            has = lambda x, y, b: b[0] - 1 <= x < b[2] and b[1] - 1 <= y < b[3]
            ground = [p for p in grey if not any(has(p[0], p[1], b) for b in there)]
            a, b, c = plane(ground)
            far = [(x, y) for x, y, g in grey if abs(g - a - b * x - c * y) > 30]
            outside += sum(not any(has(x, y, box) for box in there) for x, y in far)
            for box in there:
                seen = [(x, y) for x, y in far if has(x, y, box)]
                judged += 1
                bounds = [f(p[i] for p in seen) + (f is max) for f in (min, max) for i in (0, 1)] if seen else [99] * 4
                wrong += any(abs(p - q) > 2 for p, q in zip(bounds, box))
    print(f"{judged} boxes, {wrong} not filled, {outside} pixels outside")
    assert judged > 80 and wrong <= judged // 20 and outside <= judged // 5, (judged, wrong, outside)


{"sounds": sounds, "boxes": boxes}[sys.argv[1]](sys.argv[2])
