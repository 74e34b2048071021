#!/usr/bin/env python3
"""Opens a page about a run in Chromium, 1280 and 390 pixels wide and on paper.

    browser.py BROWSER PAGE

Nothing may stick out at the side (what is wide scrolls by itself), every figure and table has a size, and the print has
pages. The network is cut off: names of hosts have no address."""
import html
import json
import os
import re
import subprocess
import sys
import tempfile

MEASURE = """<!DOCTYPE html><title>measure</title><iframe id="f" style="width:%dpx;height:2000px;border:0" srcdoc="%s"></iframe>
<pre id="result"></pre><script>
document.getElementById("f").onload = e => {
  const d = e.target.contentDocument, root = d.documentElement;
  const small = [...d.querySelectorAll("figure, svg[role=img], table, img, .tiles > div")]
    .filter(x => !x.closest("details") && (x.getBoundingClientRect().width < 40 || x.getBoundingClientRect().height < 15));
  const outside = [...d.querySelectorAll("body *")].filter(x => !x.closest(".wide, pre, svg, details") &&
    x.getBoundingClientRect().right > root.clientWidth + 1).map(x => x.outerHTML.slice(0, 80));
  document.getElementById("result").textContent = JSON.stringify(
    {page: root.scrollWidth, window: root.clientWidth, small: small.map(x => x.outerHTML.slice(0, 80)), outside});
};</script>"""


def browse(browser, work, *arguments):
    return subprocess.run([browser, "--headless=new", "--no-sandbox", "--disable-gpu", f"--user-data-dir={work}/user",
                           "--host-resolver-rules=MAP * ~NOTFOUND", *arguments],
                          capture_output=True, text=True, timeout=120, check=True).stdout


def main():
    browser, page = sys.argv[1], os.path.abspath(sys.argv[2])
    with tempfile.TemporaryDirectory() as work, open(page, encoding="utf-8") as file:
        source = file.read()
        for width in (1280, 390):
            with open(f"{work}/measure.html", "w", encoding="utf-8") as measure:
                measure.write(MEASURE % (width, html.escape(source)))
            dumped = browse(browser, work, "--virtual-time-budget=5000", "--dump-dom", f"file://{work}/measure.html")
            found = json.loads(html.unescape(re.search(r'<pre id="result">(.+?)</pre>', dumped, re.S)[1]))
            assert found["page"] <= found["window"], (width, found)
            assert not found["small"] and not found["outside"], (width, found)
        browse(browser, work, f"--print-to-pdf={work}/page.pdf", "--no-pdf-header-footer", f"file://{page}")
        with open(f"{work}/page.pdf", "rb") as pdf:
            pages = len(re.findall(rb"/Type\s*/Page\b", pdf.read()))
        assert 1 <= pages < 40, pages
        print(f"{pages} pages on paper")


if __name__ == "__main__":
    main()
