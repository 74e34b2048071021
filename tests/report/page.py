#!/usr/bin/env python3
"""Checks a page about a run against what it was made of.

    page.py PAGE LOG [EVAL]    LOG: the lines of the run, or "-"; EVAL: what eval --json --confusion --per-class printed

The page must be well-formed, ask for nothing from elsewhere, hold user's texts as text, and tell the log's numbers: in the
table exactly, in the curves to the precision of their picture."""
import base64
import html.parser
import json
import math
import re
import struct
import sys
import zlib

sys.path.insert(0, sys.path[0] + "/../lib")
import event_file

VOID = {"meta", "link", "br", "img"}


class Page(html.parser.HTMLParser):
    """The tree of the page's elements: [tag, attributes, children], texts as strings."""

    def __init__(self, text):
        super().__init__(convert_charrefs=True)
        self.root = ["", {}, []]
        self.open = [self.root]
        self.feed(text)
        self.close()
        assert self.open == [self.root], f"not closed: {[e[0] for e in self.open]}"

    def handle_starttag(self, tag, attributes):
        assert len(dict(attributes)) == len(attributes), f"an attribute twice: {attributes}"
        element = [tag, dict(attributes), []]
        self.open[-1][2].append(element)
        if tag not in VOID:
            self.open.append(element)

    def handle_startendtag(self, tag, attributes):
        assert len(dict(attributes)) == len(attributes)
        self.open[-1][2].append([tag, dict(attributes), []])

    def handle_endtag(self, tag):
        assert self.open[-1][0] == tag, f"</{tag}> ends {self.open[-1][0]} at {self.getpos()}"
        self.open.pop()

    def handle_data(self, data):
        self.open[-1][2].append(data)


def walk(element, tag=None):
    for child in element[2]:
        if isinstance(child, list):
            if tag is None or child[0] == tag:
                yield child
            yield from walk(child, tag)


def text(element):
    return "".join(c if isinstance(c, str) else text(c) for c in element[2])


def rows(table):
    return [[text(cell) for cell in row[2] if isinstance(cell, list)] for row in walk(table, "tr")]


def tables(page):
    """By caption."""
    found = {}
    for table in walk(page.root, "table"):
        caption = next(walk(table, "caption"), None)
        found[text(caption) if caption else ""] = rows(table)
    return found


def check_self_contained(source, page):
    for element in walk(page.root):
        for name, value in element[1].items():
            assert name not in ("srcset", "action", "data", "onload", "onclick"), (element[0], name)
            if name in ("src", "href", "xlink:href"):
                assert value.startswith("data:"), (element[0], value)
        assert element[0] not in ("script", "iframe", "object", "form"), element[0]
        if element[0] == "img":
            assert element[1].get("alt"), "a picture without alt"
        if element[0] == "svg":
            assert "aria-label" in element[1] or element[1].get("aria-hidden") == "true", element
    assert not re.search(r"url\(|@import|https?:", source), "the page refers to something"
    assert 'lang="en"' in source and '<meta charset="utf-8">' in source and "viewport" in source


def check_contrast(source):
    """Texts and lines against what lies behind them, as WCAG 2 counts: at least 4.5 to 1, light and dark."""
    def light(colour):
        colour = "".join(2 * c for c in colour) if len(colour) == 3 else colour
        parts = [int(colour[i:i + 2], 16) / 255 for i in (0, 2, 4)]
        return sum(w * (p / 12.92 if p <= 0.03928 else ((p + 0.055) / 1.055) ** 2.4)
                   for w, p in zip((0.2126, 0.7152, 0.0722), parts))
    palettes = [dict(re.findall(r"--([a-z0-9]+): #([0-9a-f]+)", p)) for p in re.findall(r":root \{(.*?)\}", source)][:2]
    assert len(palettes) == 2 and palettes[0].keys() == palettes[1].keys()
    for palette in palettes:
        for name in ("fg", "soft", "c0", "c1", "c2", "c3", "c4", "bad"):
            for behind in ("bg", "card"):
                low, high = sorted((light(palette[name]), light(palette[behind])))
                assert (high + 0.05) / (low + 0.05) >= 4.5, (name, behind, palette)


def check_pictures(page):
    count = 0
    for image in walk(page.root, "img"):
        data = base64.b64decode(image[1]["src"].split(",")[1], validate=True)
        assert data[:8] == b"\x89PNG\r\n\x1a\n"
        at, chunks = 8, {}
        while at < len(data):
            length, kind = struct.unpack_from(">I4s", data, at)
            body = data[at + 8:at + 8 + length]
            assert struct.unpack_from(">I", data, at + 8 + length)[0] == zlib.crc32(kind + body)
            chunks[kind] = body
            at += 12 + length
        width, height, depth, colour = struct.unpack_from(">IIBB", chunks[b"IHDR"])
        pixels = zlib.decompress(chunks[b"IDAT"])
        stride = width * (3 if colour == 2 else 1) + 1
        assert depth == 8 and len(pixels) == height * stride
        image.append([pixels[y * stride + 1:(y + 1) * stride] for y in range(height)])
        count += 1
    return count


def by_class(line):
    """The numbers of the tables by class that are drawn: "recall/CLASS in SET"."""
    return {f"{key}/{one['class']} in {name}": one[key] for name, table in line.get("tables", {}).items()
            for one in table.get("per_class", []) for key in ("recall", "precision")}


def check_values_by_class(page, lines):
    """The classes with the least recall at the end, at most 12, are those of the table and have a curve each."""
    wanted = [by_class(line) for line in lines]
    recalls = sorted((value, name) for name, value in wanted[-1].items() if name.startswith("recall/"))
    table = next((t for caption, t in tables(page).items() if "reports, by class" in caption or "last, by class" in caption), None)
    if not any(wanted):
        assert table is None
        return 0
    drawn = {name.split("/", 1)[1] for name in table[0] if "/" in name}
    assert len(drawn) == min(12, len(recalls)), drawn
    assert max(v for v, n in recalls if n[7:] in drawn) <= min([v for v, n in recalls if n[7:] not in drawn] + [1]), drawn
    assert ("The 12 of" in text(page.root)) == (len(recalls) > 12)
    at = table[0].index("step")
    by_step = {f"{line['step']:.9g}": numbers for line, numbers in zip(lines, wanted)}
    assert len(table) - 1 == len(lines) or 60 <= len(table) - 1 <= 130
    for row in table[1:]:
        for name, cell in zip(table[0], row):
            number = by_step[row[at]].get(name)
            assert "/" not in name or (cell == "") == (number is None) and (cell == "" or float(cell) == float(f"{number:.9g}"))
    titles = [text(next(walk(f, "h3"))) for f in walk(page.root, "figure") if next(walk(f, "h3"), None)]
    assert drawn <= set(titles), (drawn, titles)
    for figure in walk(page.root, "figure"):
        picture = next((s for s in walk(figure, "svg") if "data-y" in s[1]), None)
        if picture and text(next(walk(figure, "h3"))) in drawn:
            assert picture[1]["data-y"].startswith("0 1 ") and picture[1]["data-log"] == "0", "charts of classes have one scale"
    return len(drawn)


def check_values(page, lines):
    table = next(t for caption, t in tables(page).items() if "reports" in caption and "by class" not in caption)
    names, shown = table[0], table[1:]
    wanted = [{name: number for name, number in event_file.numbers(line) if not name.startswith("tables/")} for line in lines]
    assert set(names) == {name for line in wanted for name in line}, names
    by_step = {f"{line['step']:.9g}": line for line in wanted}
    assert len(shown) == len(wanted) or 60 <= len(shown) <= 130, len(shown)
    for row in shown:
        line = by_step[row[names.index("step")]]
        for name, cell in zip(names, row):
            assert (cell == "") == (name not in line), (name, cell)
            number = float(cell) if cell else 0
            assert cell == "" or number == float(f"{line[name]:.9g}") or math.isnan(number) and math.isnan(line[name])


def check_curves(page, lines):
    """Each point of a curve is a report, and each report with a number lies on the curve: through a point, or on the line
    between two where the page leaves points out."""
    charts = 0
    for figure in walk(page.root, "figure"):
        picture = next((s for s in walk(figure, "svg") if "data-x" in s[1]), None)
        if not picture:
            continue
        charts += 1
        title = text(next(walk(figure, "h3")))
        keys = [re.sub(r" [^ ]*$", "", text(k)) for k in walk(figure, "span")]
        x, y = ([float(n) for n in picture[1][f"data-{axis}"].split()] for axis in "xy")
        across = re.search(r"(epoch|step)", text(picture)).group(1)
        def pixel(axis, value):
            return axis[2] + (value - axis[0]) / (axis[1] - axis[0]) * (axis[3] - axis[2])
        for number, key in enumerate(keys):
            name = {"stall: part of the time that training waited for data": "data_wait",
                    "reports in a row without an improvement": "bad_reports"}.get(title, f"{key}/{title}")
            places = []
            for line in lines:
                numbers = {**by_class(line), **dict(event_file.numbers(line))}
                value = numbers.get(name, numbers.get(key, math.nan))
                if math.isfinite(value):
                    height = math.log10(value) if picture[1]["data-log"] == "1" else value
                    places.append((pixel(x, line[across]), pixel(y, height)))
            points = [tuple(map(float, p)) for line in walk(picture, "polyline") if line[1]["class"] == f"s{number}"
                      for p in zip(*[iter(line[1]["points"].split())] * 2)]
            near = lambda a, b: abs(a[0] - b[0]) < 0.06 and abs(a[1] - b[1]) < 0.06
            for point in points:
                assert any(near(point, place) for place in places), (title, key, point)
            if len(lines) <= 400:
                assert len(points) == len(places), (title, key, len(points), len(places))
                assert all(near(a, b) for a, b in zip(points, places)), (title, key)
            elif places:
                for extreme in (min, max):
                    wanted = extreme(p[1] for p in places)
                    assert any(abs(p[1] - wanted) < 0.06 for p in points), (title, key, "an extreme is missing")
    return charts


def check_plan(page):
    """No two buffers share memory in the same step, and what is told of the largest is what is drawn."""
    plan = next(s for s in walk(page.root, "svg") if s[1].get("class") == "plan")
    rects = []
    for rect in walk(plan, "rect"):
        left, top, width, height = (float(rect[1][n]) for n in ("x", "y", "width", "height"))
        steps = re.search(r", steps (\d+) to (\d+)$", text(rect))
        rects.append((int(steps[1]), int(steps[2]), top, top + height))
        assert 0 <= top and top + height <= 300.1 and 0 <= left and left + width <= 800.2
    for i, a in enumerate(rects):
        for b in rects[:i]:
            shares = min(a[3], b[3]) - max(a[2], b[2]) > 0.03 and a[0] <= b[1] and b[0] <= a[1]
            assert not shares, (a, b)
    return len(rects)


def check_classes(page, evaluated):
    matrix = next(t for caption, t in tables(page).items() if caption.startswith("Rows"))
    names = [str(c) for c in evaluated["classes"]]
    assert matrix[0] == [""] + names, matrix[0]
    assert [row[0] for row in matrix[1:]] == names
    assert [[int(c) for c in row[1:]] for row in matrix[1:]] == evaluated["confusion"]
    assert f"{100 * evaluated['right']:.6g} % of {evaluated['counted']} examples" in text(page.root), evaluated["right"]
    scores = tables(page)["Each class"]
    for row, wanted in zip(scores[1:], evaluated["per_class"]):
        assert row[0] == str(wanted["class"])
        keys = ("precision", "recall", "f1", "auc", "average_precision", "support")
        assert all(abs(float(c) - wanted[k]) < 6e-5 for c, k in zip(row[1:], keys)), (row, wanted)


def main():
    with open(sys.argv[1], encoding="utf-8") as file:
        source = file.read()
    page = Page(source)
    lines = [] if sys.argv[2] == "-" else [json.loads(line) for line in open(sys.argv[2])]
    check_self_contained(source, page)
    check_contrast(source)
    words = [text(e) for tag in ("td", "span", "b", "title") for e in walk(page.root, tag)]
    assert not any(re.search(r"(^| )-?(nan|inf)$", word) for word in words), "a number that is none is not called as in the log"
    pictures = check_pictures(page)
    charts = classes = 0
    if lines:
        check_values(page, lines)
        charts = check_curves(page, lines)
        classes = check_values_by_class(page, lines)
    buffers = check_plan(page)
    if len(sys.argv) > 3:
        with open(sys.argv[3]) as file:
            check_classes(page, json.load(file))
    print(f"{len(source)} bytes, {charts} charts, {classes} by class, {buffers} buffers, {pictures} pictures")


if __name__ == "__main__":
    main()
