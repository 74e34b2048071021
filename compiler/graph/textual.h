/* The textual form of a module: printed AND read back.  print(parse(print(m))) == print(m), byte
 * for byte. It carries everything: variables, inputs, data sets, run configuration, entries with
 * types, attributes, paths and spans, the source text. */
#ifndef NNC_GRAPH_TEXTUAL_H
#define NNC_GRAPH_TEXTUAL_H

#include "graph/dump_reader.h"

void module_print(Text *text, const Module *module);
/* The same for a text that goes on and has places in it: items[0] of `files`, which are in the arena,
 * is the source (NULL if the module has none), the others have the numbers that the text gives them. */
typedef VEC(const SourceFile *) FileList;
void module_print_files(Text *text, const Module *module, Arena *arena, FileList *files);
void text_add_place(Text *text, Span span, const FileList *files); /* nothing where there is none */
/* One graph alone, for messages and tests. */
void graph_print(Text *text, const Graph *graph);

/* The first thing that is wrong with a module; FindViolation returns false when there is none. */
typedef struct Violation {
  const char *message;
  EntryKind entry;  /* ENTRY_COUNT when it is in the module's tables */
  const Node *node; /* NULL when it is not in a node */
} Violation;
typedef bool FindViolation(Arena *arena, const Module *module, Violation *violation);

/* The module that a reader finds before anything that is no item of one, and whether `find` has no
 * complaint; false after an error. */
bool module_read(Reader *reader, FindViolation *find);
/* NULL after errors, which are reported with their places in `dump`. What is read is handed to
 * `find`: the verifier (ops/verify.h), since a dump may say anything. */
Module *module_parse(Arena *arena, Diagnostics *diagnostics, const SourceFile *dump,
                     FindViolation *find);
/* Graphviz: one cluster an entry. */
void module_print_dot(Text *text, const Module *module);

#endif
