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

static bool has_one(const char *kernel, const char *const *signs) {
  for (; *signs != NULL; signs++)
    if (strstr(kernel, *signs) != NULL) return true;
  return false;
}

/* Contractions and convolutions as such, and attention. */
static const char *const products[] = {"nnc_tile_of_",
                                       "NNC_TILE(",
                                       "_TILES",
                                       "nnc_pack_",
                                       "nnc_window_rows_",
                                       "nnc_window_columns_",
                                       "nnc_attention_product_",
                                       NULL};
static const char *const windows[] = {"nnc_window_rows_", "nnc_window_columns_", NULL};

/* The first is of what is multiplied as f32, too. */
static const char *const types[] = {"f32", "bf16", "f16", "f64"};
enum { TYPE_COUNT = sizeof types / sizeof *types };
enum { WINDOWS = 1u << TYPE_COUNT };
/* Functions of Winograd's filtering that sum, and those that read types of memory. */
static const char *const tiles[] = {"4x4_3x3", "4x4_3x3_f32", "4x4_3x3_bf16",
                                    "2x2_5x5", "2x2_5x5_f32", "2x2_5x5_bf16"};
enum { TILE_COUNT = sizeof tiles / sizeof *tiles };
enum { FIRST_TILE = WINDOWS << 1 };

unsigned common_functions(const char *kernel) {
  unsigned set = 0;
  if (!has_one(kernel, products)) return 0;
  for (int i = 0; i < TYPE_COUNT; i++)
    if (names(kernel, types[i])) set |= 1u << i;
  if (names(kernel, "bf16") || names(kernel, "f16") || names(kernel, "x3")) set |= 1;
  for (int i = 0; i < TILE_COUNT; i++)
    if (strstr(kernel, tiles[i]) != NULL) set |= (unsigned)FIRST_TILE << i;
  return set != 0 && has_one(kernel, windows) ? set | WINDOWS : set;
}

static void write_given(Text *text, const char *header, const char *prefix, unsigned set) {
  text_printf(text, "#include \"%s\"\n", header);
  for (int i = 0; i < TYPE_COUNT; i++)
    if (set & 1u << i) text_printf(text, "%s%s\n", prefix, types[i]);
}

void common_write(Text *text, unsigned set) {
  write_given(text, "nnc_common.h", "NNC_GIVE_", set);
  if (set & WINDOWS) write_given(text, "nnc_common_windows.h", "NNC_GIVE_WINDOWS_", set);
  if (set / FIRST_TILE != 0) text_printf(text, "#include \"nnc_common_winograd.h\"\n");
  for (int i = 0; i < TILE_COUNT; i++)
    if (set & (unsigned)FIRST_TILE << i) text_printf(text, "NNC_GIVE_WINOGRAD_%s\n", tiles[i]);
}
