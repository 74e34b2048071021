/* Which functions kernels have in common: see common.h. They are found in the text of a kernel, by names. */
#include "backend/c/common.h"

#include <ctype.h>
#include <stdbool.h>
#include <string.h>

/* Whether a part of a name: "f32" in nnc_pack_block_f32, not "f16" in bf16. */
static bool names(const char *text, const char *part) {
  size_t length = strlen(part);
  for (const char *at = strstr(text, part); at != NULL; at = strstr(at + 1, part))
    if ((at == text || !isalnum((unsigned char)at[-1])) && !isalnum((unsigned char)at[length]))
      return true;
  return false;
}

/* Contractions and convolutions as such, and attention. */
static bool is_product(const char *kernel) {
  static const char *const signs[] = {"nnc_tile_of_", "NNC_TILE(",        "_TILES",
                                      "nnc_pack_",    "nnc_window_rows_", "nnc_attention_product_"};
  for (size_t i = 0; i < sizeof signs / sizeof *signs; i++)
    if (strstr(kernel, signs[i]) != NULL) return true;
  return false;
}

/* The first is of what is multiplied as f32, too. */
static const char *const types[] = {"f32", "bf16", "f16", "f64"};
enum { TYPE_COUNT = sizeof types / sizeof *types };

unsigned common_functions(const char *kernel) {
  unsigned set = 0;
  if (!is_product(kernel)) return 0;
  for (int i = 0; i < TYPE_COUNT; i++)
    if (names(kernel, types[i])) set |= 1u << i;
  if (names(kernel, "bf16") || names(kernel, "f16") || names(kernel, "x3")) set |= 1;
  return set;
}

void common_write(Text *text, unsigned set) {
  for (int i = 0; i < TYPE_COUNT; i++)
    if (set & 1u << i) text_printf(text, "NNC_GIVE_%s\n", types[i]);
}
