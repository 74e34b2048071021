/* The page's style sheet. As an argument of a macro it is a string without its comments and line ends; so it may have
 * no single quotation mark, and no line that begins with a number sign. */
#ifndef NNC_REPORT_STYLE_H
#define NNC_REPORT_STYLE_H

/* clang-format off */
#define NNC_STYLE(...) #__VA_ARGS__
static const char nnc_report_style[] = NNC_STYLE(
:root { color-scheme: light dark; --bg: #fff; --fg: #1b1f24; --soft: #57606a; --line: #d5dbe1; --card: #f5f7f9;
  --c0: #0a5fc2; --c1: #b4430a; --c2: #187552; --c3: #7a48d8; --c4: #756000; --bad: #b3261e; --heat: 10 95 194 }
@media screen and (prefers-color-scheme: dark) { :root { --bg: #14171b; --fg: #e7eaed; --soft: #a3adb7; --line: #363d45;
  --card: #1d2126; --c0: #6cb0ff; --c1: #ff9a5a; --c2: #4fd0a0; --c3: #c9a3ff; --c4: #e3c44f; --bad: #ff8a80;
  --heat: 74 144 240 } }
* { box-sizing: border-box }
body { margin: 0 auto; max-width: 78rem; padding: 1.2rem 1rem 3rem; background: var(--bg); color: var(--fg);
  font: 15px/1.5 system-ui, sans-serif; overflow-wrap: anywhere }
h1 { font-size: 1.7rem; line-height: 1.2; margin: 0 }
h2 { font-size: 1.2rem; margin: 2.2rem 0 .6rem; border-bottom: 1px solid var(--line); padding-bottom: .25rem }
h3 { font-size: .95rem; margin: 0 }
p { margin: .4rem 0; max-width: 60rem }
.soft, caption, th, figcaption { color: var(--soft) }
.bad { color: var(--bad) }
.tiles, .charts, .samples { display: grid; gap: .8rem; margin: 1rem 0 }
.tiles { grid-template-columns: repeat(auto-fit, minmax(9.5rem, 1fr)) }
.charts { grid-template-columns: repeat(auto-fit, minmax(min(100%, 21rem), 1fr)) }
.samples { grid-template-columns: repeat(auto-fill, minmax(8.5rem, 1fr)) }
.tiles > div, figure { background: var(--card); border: 1px solid var(--line); border-radius: 8px; padding: .6rem .8rem;
  margin: 0; min-width: 0 }
.tiles b { display: block; font-size: 1.25rem; font-weight: 600; font-variant-numeric: tabular-nums }
.tiles span { font-size: .85rem; color: var(--soft) }
svg { display: block; width: 100%; height: auto }
svg text { font: 11px system-ui, sans-serif; fill: var(--soft) }
.grid { stroke: var(--line); stroke-width: 1 }
.mark { stroke: var(--soft); stroke-dasharray: 2 3 }
polyline { fill: none; stroke-width: 1.8; stroke-linejoin: round }
.s0 { stroke: var(--c0) } .s1 { stroke: var(--c1); stroke-dasharray: 7 2 } .s2 { stroke: var(--c2); stroke-dasharray: 2 2 }
.s3 { stroke: var(--c3); stroke-dasharray: 9 2 2 2 } .s4 { stroke: var(--c4); stroke-dasharray: 4 4 }
.f0 { fill: var(--c0) } .f1 { fill: var(--c1) } .f2 { fill: var(--c2) } .f3 { fill: var(--c3) } .f4 { fill: var(--c4) }
.hover { fill: transparent } .hover:hover { fill: var(--soft); fill-opacity: .18 }
.plan rect { stroke: var(--bg); stroke-width: .5 }
.key { display: inline-block; margin-right: .9rem; font-size: .85rem; white-space: nowrap }
.key svg { display: inline-block; width: 22px; height: 10px; margin-right: .35rem; vertical-align: middle }
.wide { overflow-x: auto; max-width: 100% }
table { border-collapse: collapse; font-size: .87rem; font-variant-numeric: tabular-nums; margin: .4rem 0 .8rem } caption { text-align: left; padding: .3rem 0 }
th, td { padding: .18rem .6rem .18rem 0; text-align: left; vertical-align: top; font-weight: normal; overflow-wrap: normal }
td { border-top: 1px solid var(--line) }
.n { text-align: right; white-space: nowrap }
.charts figure { max-width: 40rem }
.best td { font-weight: 600 }
.heat td { text-align: right; padding: .18rem .5rem; background: rgb(var(--heat) / calc(var(--v, 0) * .55)) }
.heat th { padding: .18rem .5rem; text-align: right }
.bar { background: linear-gradient(rgb(var(--heat) / .3), rgb(var(--heat) / .3)) no-repeat 0 / calc(var(--v) * 100%) }
.samples:not(:has(img)) { grid-template-columns: repeat(auto-fill, minmax(min(100%, 15rem), 1fr)) }
.samples img { width: 100%; image-rendering: pixelated; border-radius: 4px; background: var(--line) }
.text { white-space: pre-wrap }
.samples figcaption { font-size: .85rem }
.samples figcaption b { color: var(--fg) }
pre { background: var(--card); border: 1px solid var(--line); border-radius: 8px; padding: .8rem; overflow-x: auto;
  font: 13px/1.45 ui-monospace, monospace; overflow-wrap: normal }
details { margin: .5rem 0 } summary { cursor: pointer; color: var(--c0) }
@media (max-width: 600px) { body { font-size: 14px; padding: .9rem .7rem 2rem } h1 { font-size: 1.4rem } }
@media print {
  body { font-size: 10pt; max-width: none; padding: 0 } figure, tr, .heat, .tiles > div { break-inside: avoid }
  h2 { break-after: avoid } .charts { grid-template-columns: 1fr 1fr } pre { white-space: pre-wrap }
  * { print-color-adjust: exact } }
);
/* clang-format on */

#endif
