/* What was done to meet a memory limit, for --report. */
#include "memory/memory.h"

#include <string.h>

void memory_print(Text *text, const MemoryFit *fit) {
  if (fit->limit == 0) return;
  text_add(text, "\nmemory limit: ");
  if (fit->share > 0) text_printf(text, "%g %% of activations and workspaces, ", 100 * fit->share);
  text_add_grouped(text, fit->limit);
  text_printf(text, " bytes with %d thread%s; planned ", fit->threads,
              fit->threads == 1 ? "" : "s");
  text_add_grouped(text, fit->peak);
  text_add(text, ", without a limit ");
  text_add_grouped(text, fit->default_peak);
  text_add_char(text, '\n');
  if (fit->writes_scans) text_add(text, "  the steps of scans are written out\n");
  if (fit->pieces > 1)
    text_printf(text, "  a step takes its batch in %d micro-batches\n", fit->pieces);
  if (fit->segments == 1) return;
  text_printf(text, "  recomputed: %d %snodes of %d segments, ", fit->recomputed,
              fit->cheap_only ? "cheap " : "", fit->segments - 1);
  text_add_grouped(text, (int64_t)fit->flops);
  text_add(text, " flop a step, starting from\n");
  for (int i = 0, same; i < fit->kept_count; i += same) {
    for (same = 1; i + same < fit->kept_count && fit->kept[i + same] == fit->kept[i];) same++;
    text_printf(text, same > 1 ? "    %s, %d values\n" : "    %s\n", fit->kept[i], same);
  }
}

void memory_add_json(Text *text, const MemoryFit *fit) {
  while (text->length > 0 && strchr("\n}", text->data[text->length - 1])) text->length--;
  text_printf(text, ",\n  \"memory_limit\": {\"limit\": %lld, \"share\": %g, \"threads\": %d, ",
              (long long)fit->limit, fit->share, fit->threads);
  text_printf(text, "\"peak\": %lld, \"default_peak\": %lld, \"scans_written_out\": %s, ",
              (long long)fit->peak, (long long)fit->default_peak,
              fit->writes_scans ? "true" : "false");
  text_printf(text, "\"micro_batches\": %d, \"segments\": %d, \"recomputed_nodes\": %d, ",
              fit->pieces, fit->segments, fit->recomputed);
  text_printf(text, "\"recomputed_flops\": %.0f, \"kept\": [", fit->flops);
  for (int i = 0; i < fit->kept_count; i++) {
    if (i > 0) text_add(text, ", ");
    text_add_quoted(text, fit->kept[i]);
  }
  text_add(text, "]}\n}\n");
}
