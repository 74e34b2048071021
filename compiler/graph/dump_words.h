/* The words of the textual form, shared by its printer (print.c) and its reader (dump_reader.c
 * and parse_*.c).
 *
 * A dump is a list of items, one a line, each begun by a keyword; entries have braces around their
 * nodes and outputs:
 *
 *     nnc_dump 1
 *     module "mnist"
 *     run {batch = 100, batch_name = "batch", epochs = 5, ..., precision = f32}
 *     source "mnist.net" {
 *       "const batch = 100\n"
 *     }
 *     file 1 "<prelude>/layers.net" prelude
 *     input "x" : u8[100, 784] batched @3:1-3:30
 *     param "h1.w" : f32[784, 1000] @1/12:3-12:20
 *     metric "loss" @20:3-20:30
 *     data "train" wrap_tail @4:1-9:2 {
 *       "x", "y" = idx(images = "a", n = 5.0) @5:3-5:20 | shuffle() @5:23-5:30 ; @5:1-5:30
 *     }
 *     entry train {
 *       %0 : u8[100, 784] = input() {name = "x"} "x" @3:1-3:30
 *       %1 : f32[100, 784] = cast(%0) {dtype = f32} "h1" @14:10-14:30
 *       accumulator mean "loss" = %9 @20:3-20:30
 *     }
 *
 * The body of a scan stands in braces after its node, nodes and results as in an entry.
 *
 * A place `@line:column-line:column` lies in the source, `@k/...` in file k; a node or output
 * without one has none.  '#' begins a comment.  Integers are decimal, floats the shortest decimal
 * that reads back exactly. */
#ifndef NNC_GRAPH_DUMP_WORDS_H
#define NNC_GRAPH_DUMP_WORDS_H

#include "graph/record.h"

#define DUMP_MAGIC "nnc_dump"
enum { DUMP_VERSION = 1 };
/* The name of a data argument that has none: one of a variadic formal. */
#define DUMP_NO_NAME "_"

extern const char *const dump_order_words[DATA_ORDER_COUNT]; /* NULL for the first */
extern const char *const dump_variable_words[VARIABLE_KIND_COUNT];
extern const char *const dump_output_words[OUTPUT_KIND_COUNT];
extern const char *const dump_unit_words[UNIT_COUNT];
extern const char *const dump_scan_words[SCAN_CHOICE_COUNT];
extern const char *const dump_combine_words[COMBINE_COUNT];

/* The integers of the run configuration, in the order they are printed. */
typedef struct DumpRunField {
  const char *name;
  size_t offset;    /* of an int64_t in RunConfig */
  bool is_optional; /* 0 is left out */
} DumpRunField;
extern const DumpRunField dump_run_fields[];
extern const int dump_run_field_count;

/* The arrays of a module whose elements are a line each, in the order they are printed. */
typedef struct DumpList {
  const char *keyword; /* before the fields; NULL: the first field tells */
  const Field *fields;
  int field_count;
  size_t list, size; /* where the array is in Module; bytes of an element */
} DumpList;
enum { DUMP_LIST_COUNT = 7 };
extern const DumpList dump_lists[DUMP_LIST_COUNT];

/* Any of these arrays. */
typedef VEC(char) DumpItems;
static inline DumpItems *dump_items(const DumpList *list, const Module *module) {
  return (DumpItems *)((char *)module + list->list);
}

#endif
