"""Plots of ratios: horizontal bars on a logarithmic axis with a line at 1, by matplotlib, or else as SVG by the few
lines below. A bar is (label, value) or (label, value, wanted): green where the value is at least what is wanted,
which is 1 unless it is said."""
import html
import math
import os

GREEN, RED = "#2a7", "#c54"


def colour(row):
    return GREEN if row[1] >= (row[2] if len(row) > 2 else 1) else RED


def svg(rows, title):
    row, left, width = 22, 260, 420
    low, high = (limit(rows, key=lambda each: each[1])[1] for limit in (min, max))
    low, high = math.log(min(low, 0.5)), math.log(max(high, 2.0))
    at = lambda value: left + width * (math.log(value) - low) / (high - low)
    height = row * len(rows) + 40
    text = '<text x="%.1f" y="%.1f" font-family="sans-serif" font-size="12" text-anchor="%s">%s</text>'
    lines = [f'<svg xmlns="http://www.w3.org/2000/svg" width="{left + width + 70}" height="{height}">',
             '<rect width="100%" height="100%" fill="white"/>', text % (left, 16, "start", html.escape(title))]
    for i, each in enumerate(rows):
        y, start, end = 26 + row * i, *sorted((at(1.0), at(each[1])))
        lines += [text % (left - 8, y + 13, "end", html.escape(each[0])),
                  text % (end + 5, y + 13, "start", f"{each[1]:.2f}"),
                  f'<rect x="{start:.1f}" y="{y}" width="{max(end - start, 1):.1f}" height="{row - 6}" '
                  f'fill="{colour(each)}"/>']
    lines += [f'<line x1="{at(1.0):.1f}" x2="{at(1.0):.1f}" y1="22" y2="{height - 10}" stroke="black"/>', "</svg>"]
    return "\n".join(lines) + "\n"


def draw(rows, title, path):
    import matplotlib
    matplotlib.use("Agg")
    from matplotlib import pyplot
    figure, axes = pyplot.subplots(figsize=(9, 1 + min(0.3 * len(rows), 400)))
    places, rows = range(len(rows)), rows[::-1]
    axes.barh(places, [row[1] - 1 for row in rows], left=1, color=[colour(row) for row in rows],
              tick_label=[row[0] for row in rows])
    axes.axvline(1, color="black", linewidth=1)
    axes.set_xscale("log")
    axes.set_xlim(min(0.5, 0.9 * min(row[1] for row in rows)), max(2, 1.2 * max(row[1] for row in rows)))
    ticks = [tick for tick in (0.1, 0.25, 0.5, 0.7, 1, 1.5, 2, 4, 10, 30, 100) if axes.get_xlim()[0] <= tick]
    ticks = [tick for tick in ticks if tick <= axes.get_xlim()[1]]
    axes.set_xticks(ticks, labels=["%g" % tick for tick in ticks])
    axes.set_xticks([], minor=True)
    axes.set_xlabel(title)
    axes.margins(y=0.5 / len(rows))
    for place, row in zip(places, rows):
        axes.text(row[1], place, f" {row[1]:.2f}", va="center")
    figure.tight_layout()
    figure.savefig(path, dpi=110)
    pyplot.close(figure)


def plot(rows, title, path, plain=False):
    """Writes PATH.png, or PATH.svg where matplotlib is missing or with `plain`; returns which."""
    try:
        if plain:
            raise ImportError
        draw(rows, title, path + ".png")
        return path + ".png"
    except ImportError:
        with open(path + ".svg", "w") as file:
            file.write(svg(rows, title))
        return path + ".svg"
