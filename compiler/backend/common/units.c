/* The parts of the emitted source as one file, and cut into units that are compiled side by side.
 *
 * A unit holds kernels in their order until it is full, so an edit of the model changes few units
 * and the others are found in the cache; comments do not count. The first unit holds what calls
 * the kernels. */
#include "backend/common/code.h"
#include "backend/common/code_runs.h"
#include "backend/common/externs.h"
#include "backend/common/units.h"

#include <ctype.h>
#include <string.h>
#include "support/panic.h"

static void add_text(Text *text, const Text *more) {
  if (more->length > 0) text_add_bytes(text, more->data, more->length);
}

static const char levels_begin[] =
    "\n#ifdef NNC_LEVEL /* what is compiled once for each instruction set, under names of its own "
    "*/\n";
static const char levels_else[] = "\n#else /* and once for all of them */\n";
static const char device_else[] = "\n#else /* what runs on the host, in C */\n";
static const char levels_end[] = "\n#endif\n";

static void add_level_name(Text *text, const KernelPart *part) {
  if (part->text.length == 0) return; /* another's function serves it */
  text_printf(text, "#define %s NNC_OF_LEVEL(%s)\n", part->name, part->name);
}

/* The branch of a device's kernels begins with these lines. */
static void begin_device(Text *text, const BackEnd *back_end) {
  text_printf(text, "\n#ifdef %s /* the kernels, for the device's compiler */\n", back_end->guard);
  text_printf(text, "#include \"%s\"\n", back_end->header);
}

static void join_for_device(Text *whole, const SourceParts *parts) {
  begin_device(whole, parts->target->back_end);
  for (int i = 0; i < parts->kernel_count; i++) add_text(whole, &parts->kernels[i].text);
  for (int i = 0; i < parts->file_count; i++) add_text(whole, &parts->files[i]);
  text_add(whole, device_else);
  add_text(whole, &parts->includes);
  add_text(whole, &parts->kernel_includes);
  add_text(whole, &parts->memory);
  add_text(whole, &parts->declarations);
  add_text(whole, &parts->calls);
  add_text(whole, &parts->tables);
  text_add(whole, levels_end);
}

void units_join(Text *whole, const SourceParts *parts) {
  add_text(whole, &parts->header);
  add_text(whole, &parts->contents);
  if (parts->target->back_end->guard != NULL) {
    join_for_device(whole, parts);
    return;
  }
  add_text(whole, &parts->includes);
  add_text(whole, &parts->kernel_includes);
  add_text(whole, &parts->memory);
  if (parts->has_levels) text_add(whole, levels_begin);
  for (int i = 0; parts->has_levels && i < parts->kernel_count; i++)
    add_level_name(whole, &parts->kernels[i]);
  for (int i = 0; i < parts->kernel_count; i++) add_text(whole, &parts->kernels[i].text);
  add_text(whole, &parts->calls);
  if (parts->has_levels) text_add(whole, levels_else);
  add_text(whole, &parts->tables);
  if (parts->has_levels) text_add(whole, levels_end);
}

void units_free_parts(SourceParts *parts) {
  text_free(&parts->header);
  text_free(&parts->contents);
  text_free(&parts->includes);
  text_free(&parts->kernel_includes);
  text_free(&parts->memory);
  for (int i = 0; i < parts->kernel_count; i++) text_free(&parts->kernels[i].text);
  for (int i = 0; i < parts->file_count; i++) text_free(&parts->files[i]);
  text_free(&parts->declarations);
  text_free(&parts->calls);
  text_free(&parts->tables);
}

void units_free(CSource *source) {
  text_free(&source->whole);
  for (int i = 0; i < source->unit_count; i++) text_free(&source->units[i].text);
}

/* ---- cutting ---- */

static int count_lines(const Text *text) {
  int lines = 0;
  for (size_t i = 0; i < text->length; i++) lines += text->data[i] == '\n';
  return lines;
}

static int count_includes(const SourceParts *parts) {
  return count_lines(&parts->includes) + count_lines(&parts->kernel_includes);
}

/* What the kernels of a unit include, or those of all units (-1), besides what all do. */
static void add_includes(Text *text, const SourceParts *parts, int unit) {
  enum { MOST = 8 };
  const char *known[MOST];
  int count = 0;
  for (int i = 0; i < parts->kernel_count; i++) {
    const KernelPart *part = &parts->kernels[i];
    bool is_of_unit = part->text.length > 0 && (unit < 0 || part->unit == unit);
    const TargetKernel *kernel =
        is_of_unit && part->kernel ? parts->target->kernels[part->kernel->kind] : NULL;
    const char *header = kernel ? kernel->header : NULL;
    for (int j = 0; header && j < count; j++)
      if (strcmp(known[j], header) == 0) header = NULL;
    if (header == NULL) continue;
    if (count == MOST) panic("a target's kernels include more than %d headers", MOST);
    known[count++] = header;
    text_printf(text, "#include \"%s\"\n", header);
  }
}

void units_add_includes(SourceParts *parts) {
  if (parts->target->back_end->guard == NULL) add_includes(&parts->kernel_includes, parts, -1);
}

typedef struct Cutter {
  Arena *arena;
  const SourceParts *parts;
  CSource *source;
  const char *file; /* whose lines are named, or NULL */
  int common_line;  /* of that file, where the includes begin */
  unsigned common;  /* functions that a unit of their own has for all */
} Cutter;

/* ---- what units have in common ---- */

/* Microseconds for the functions of a type, more than for those of windows. */
enum { COMMON_WEIGHT = 350000 };

/* The functions that several units of kernels call, which are compiled once then; 0: there are none. */
static unsigned common_functions(const SourceParts *parts) {
  const BackEnd *back_end = parts->target->back_end;
  unsigned types = 0;
  int units = 0, last = -1;
  for (int i = 0; back_end->common_functions && i < parts->kernel_count; i++) {
    const KernelPart *part = &parts->kernels[i];
    unsigned own = part->text.length > 0 ? back_end->common_functions(part->text.data) : 0;
    types |= own;
    units += own && part->unit != last;
    if (own) last = part->unit;
  }
  return units > 1 ? types : 0;
}

/* Adds a part that begins at a line of the one file. */
static void add_part(const Cutter *cutter, SourceUnit *unit, const Text *part, int line) {
  if (cutter->file != NULL) {
    text_printf(&unit->text, "#line %d %s\n", line, code_string(cutter->arena, cutter->file));
  }
  add_text(&unit->text, part);
}

/* About the microseconds that the compiler needs for a kernel. */
static int64_t kernel_weight(const Target *target, const KernelPart *part) {
  int factor = part->kernel ? target->kernels[part->kernel->kind]->weight : 0;
  int64_t length = (int64_t)code_runs_length(part->text.data, part->text.length);
  return length * (factor > 0 ? factor : target->kernels[KERNEL_LOOP]->weight);
}

/* A unit costs about 40000 microseconds of its own: starting the compiler, reading the headers. */
enum { UNIT_WEIGHT = 40000, FULL_UNIT = 560000, LEAST_FULL = 240000, WEIGHT_OF_BYTE = 4 };

/* By what part the flags of the user's make the compiler quicker: with -O0 it needs a sixth of the time. A device's
 * kernels are another compiler's. */
static int quickness(const SourceParts *parts, const char *cflags) {
  if (parts->target->back_end->guard != NULL) return 1;
  const char *level = "";
  for (const char *at = cflags ? cflags : ""; (at = strstr(at, "-O")) != NULL; at += 2)
    level = at + 2;
  return *level == '0' ? 6 : *level == '1' ? 2 : 1;
}

/* A small program has two units, unless it is very small: one would be compiled while other cores wait. */
static int64_t full_unit(const SourceParts *parts, int quick) {
  int64_t all = 0, full = FULL_UNIT;
  for (int i = 0; i < parts->kernel_count; i++)
    all += kernel_weight(parts->target, &parts->kernels[i]) / quick;
  if (parts->target->back_end->guard == NULL && all / 2 + UNIT_WEIGHT < full)
    full = all / 2 + UNIT_WEIGHT;
  return full > LEAST_FULL ? full : LEAST_FULL;
}

/* Numbers the units of the kernels, of which each weighs at most `full` or has one kernel; returns how many there are.
 *
 * A file of the user's shares no unit with others, and no unit with kernels that do not call it: what
 * it means by its names and macros is its own affair. */
static int fill_units(SourceParts *parts, int64_t full, int quick) {
  int count = 0;
  int64_t weight = 0;
  for (int i = 0; i < parts->kernel_count; i++) {
    int64_t own = kernel_weight(parts->target, &parts->kernels[i]) / quick;
    bool is_next =
        count == 0 || weight + own > full || parts->kernels[i].file != parts->kernels[i - 1].file;
    weight = is_next ? UNIT_WEIGHT + own : weight + own;
    count += is_next;
    parts->kernels[i].unit = count - 1;
  }
  return count;
}

int units_plan(SourceParts *parts, const char *cflags) {
  int quick = quickness(parts, cflags);
  int64_t full = full_unit(parts, quick);
  int least = fill_units(parts, INT64_MAX, quick); /* files need so many */
  int most = parts->most_units > least ? parts->most_units : least;
  int count = fill_units(parts, full, quick);
  while (parts->most_units > 0 && count > most) count = fill_units(parts, full += full / 8, quick);
  return count;
}

/* Whether kernels and what calls them are a single unit: no part is compiled otherwise than another. */
static bool is_single(const SourceParts *parts) {
  return parts->most_units == 1 && parts->target->back_end->guard == NULL && !parts->has_levels;
}

static SourceUnit *next_unit(const Cutter *cutter, bool is_of_level) {
  SourceUnit *unit = &cutter->source->units[cutter->source->unit_count++];
  unit->weight = UNIT_WEIGHT;
  unit->is_of_level = is_of_level && cutter->parts->has_levels;
  return unit;
}

/* Includes and memory plan; returns the line after them. */
static int add_common(const Cutter *cutter, SourceUnit *unit) {
  const SourceParts *parts = cutter->parts;
  int line = cutter->common_line;
  add_part(cutter, unit, &parts->includes, line);
  line += count_includes(parts);
  add_part(cutter, unit, &parts->memory, line);
  return line + count_lines(&parts->memory);
}

/* What calls the kernels and the tables: one unit, or two when there are levels. */
static void add_calls(const Cutter *cutter, int calls_line) {
  const SourceParts *parts = cutter->parts;
  SourceUnit *unit = next_unit(cutter, false), *tables = unit;
  add_common(cutter, unit);
  if (parts->has_levels) {
    unit = next_unit(cutter, true);
    add_common(cutter, unit);
    for (int i = 0; i < parts->kernel_count; i++) add_level_name(&unit->text, &parts->kernels[i]);
  }
  add_text(&unit->text, &parts->declarations);
  add_part(cutter, unit, &parts->calls, calls_line);
  int tables_line = calls_line + count_lines(&parts->calls) + (parts->has_levels ? 2 : 0);
  add_part(cutter, tables, &parts->tables, tables_line);
  for (int i = 0; i < cutter->source->unit_count; i++)
    cutter->source->units[i].weight += (int64_t)unit->text.length * WEIGHT_OF_BYTE;
}

/* For the kernels of a unit, by the number that units_plan gave it; -1: for functions that units have in common. */
static SourceUnit *next_kernels(const Cutter *cutter, int number) {
  const BackEnd *back_end = cutter->parts->target->back_end;
  SourceUnit *unit = next_unit(cutter, back_end->guard == NULL);
  unit->is_of_device = back_end->guard != NULL;
  if (cutter->common) text_add(&unit->text, "#define NNC_UNITS\n");
  if (!unit->is_of_device) {
    text_add(&unit->text, "#include \"nnc_kernel.h\"\n");
    if (number >= 0) add_includes(&unit->text, cutter->parts, number);
  }
  if (unit->is_of_level) text_add(&unit->text, "#include \"nnc_isa.h\"\n");
  if (back_end->header) text_printf(&unit->text, "#include \"%s\"\n", back_end->header);
  return unit;
}

static void add_common_functions(const Cutter *cutter) {
  if (cutter->common == 0) return;
  SourceUnit *unit = next_kernels(cutter, -1);
  cutter->parts->target->back_end->write_common(&unit->text, cutter->common);
  for (unsigned types = cutter->common; types != 0; types &= types - 1)
    unit->weight += COMMON_WEIGHT;
}

/* In the one file: where the kernels begin, and what else is not before them. */
typedef struct Lines {
  int common, kernels, calls; /* of includes and memory plan; of the first kernel; of the calls */
} Lines;

static Lines find_lines(const SourceParts *parts) {
  const BackEnd *back_end = parts->target->back_end;
  Lines lines = {.common = 1 + count_lines(&parts->header) + count_lines(&parts->contents)};
  int common = count_includes(parts) + count_lines(&parts->memory), kernels = 0, files = 0;
  int names = 0;
  for (int i = 0; i < parts->kernel_count; i++) {
    kernels += count_lines(&parts->kernels[i].text);
    names += parts->kernels[i].text.length > 0;
  }
  for (int i = 0; i < parts->file_count; i++) files += count_lines(&parts->files[i]);
  if (back_end->guard != NULL) {
    lines.kernels = lines.common + 3;
    lines.common = lines.kernels + kernels + files + 2;
    lines.calls = lines.common + common + count_lines(&parts->declarations);
    return lines;
  }
  lines.kernels = lines.common + common + (parts->has_levels ? 2 + names : 0);
  lines.calls = lines.kernels + kernels;
  return lines;
}

/* ---- contents ---- */

static void add_row(Text *text, int line, const char *name, const char *use) {
  enum { ROOM = 80 };
  bool is_told = *use && strlen(name) + strlen(use) < ROOM;
  text_printf(text, " *  %6d  %s%s%s\n", line, name, is_told ? ": " : "", is_told ? use : "");
}

/* What is not a kernel and has a row of its own; other functions have a name alone. */
static const struct {
  const char *name, *use;
} own_rows[] = {{"init_run", "the first values"},
                {"train_run", "a training step"},
                {"accumulate_run", "a minibatch before the last of a step"},
                {"eval_run", "an evaluation of a batch"},
                {"eval_one_run", "an evaluation of one example"},
                {"predict_run", "a prediction of one example"},
                {"predict_batch_run", "predictions of a batch"},
                {"generate_run", "what the next token is drawn by"},
                {"host", "numbers of a step that depend on its number alone, such as rates"},
                {"finish", "metrics of a data set"},
                {"nnc_level_only", "the functions above, for the runtime"},
                {"source", "the text of the program"},
                {"nnc_the_model", "all tables, for the runtime"}};

static const char *use_of(const char *name) {
  for (size_t i = 0; i < sizeof own_rows / sizeof *own_rows; i++)
    if (strcmp(own_rows[i].name, name) == 0) return own_rows[i].use;
  return NULL;
}

/* The name that a line declares at the top level: the word before its first bracket or '='; "". */
static void find_declared(char name[64], const char *line, size_t length) {
  bool is_top = strncmp(line, "static ", 7) == 0 || strncmp(line, "nnc_model ", 10) == 0;
  size_t end = 0, begin;
  while (is_top && end < length && !strchr("([=", line[end])) end++;
  bool is_function = end < length && line[end] == '(' && line[length - 1] == ')';
  while (end > 0 && line[end - 1] == ' ') end--;
  for (begin = end;
       begin > 0 && (isalnum((unsigned char)line[begin - 1]) || line[begin - 1] == '_');)
    begin--;
  snprintf(name, 64, "%.*s", is_top ? (int)(end - begin) : 0, line + begin);
  if (!is_function && !use_of(name)) name[0] = '\0';
}

/* Rows of what a text declares that begins in line `first`: each begins with its comment. */
static void add_declared(Text *text, const Text *part, int first) {
  int number = first - 1, begin = 0;
  for (const char *line = part->data, *end = line + part->length; line < end;) {
    const char *stop = memchr(line, '\n', (size_t)(end - line));
    size_t length = (size_t)((stop ? stop : end) - line);
    char name[64];
    number++;
    if (length == 0) begin = 0;
    else if (begin == 0) begin = number;
    find_declared(name, line, length);
    if (*name) add_row(text, begin, name, use_of(name) ? use_of(name) : "");
    line += length + 1;
  }
}

/* With the numbers that the lines have when the contents, whose length does not depend on them, are there. */
static void write_rows(Text *text, const SourceParts *parts, const Lines *lines) {
  text_add(text, "\n/* What begins in which line:\n *\n");
  add_row(text, lines->common + count_includes(parts) + 1, "the memory plan", "");
  int line = lines->kernels;
  for (int i = 0; i < parts->kernel_count; i++) {
    const KernelPart *part = &parts->kernels[i];
    if (part->text.length > 0) add_row(text, line + 1, part->name, part->use);
    line += count_lines(&part->text);
  }
  int tables = lines->calls + count_lines(&parts->calls);
  add_declared(text, &parts->calls, lines->calls);
  add_row(text, tables + 1, "tables for the runtime", "");
  add_declared(text, &parts->tables, tables);
  text_add(text, " */\n");
}

void units_write_contents(SourceParts *parts) {
  if (parts->target->back_end->guard != NULL || parts->has_levels) return;
  write_rows(&parts->contents, parts, &(Lines){0});
  Lines lines = find_lines(parts);
  text_free(&parts->contents);
  write_rows(&parts->contents, parts, &lines);
}

/* The user's file that its kernels call is the end of a unit. */
static void end_kernels(const Cutter *cutter, SourceUnit *unit, int file) {
  if (file < 0) return;
  const DeviceFile *of_user = &cutter->parts->device_files[file];
  add_text(&unit->text, &cutter->parts->files[file]);
  unit->file = of_user->name;
  unit->external = of_user->external;
  unit->weight += (int64_t)of_user->text.length * WEIGHT_OF_BYTE;
}

/* All as a single unit, as it is in the one file. */
static void add_all(const Cutter *cutter, int line) {
  const SourceParts *parts = cutter->parts;
  SourceUnit *unit = next_unit(cutter, false);
  add_part(cutter, unit, &parts->includes, line);
  add_text(&unit->text, &parts->kernel_includes);
  add_text(&unit->text, &parts->memory);
  for (int i = 0; i < parts->kernel_count; i++) add_text(&unit->text, &parts->kernels[i].text);
  add_text(&unit->text, &parts->calls);
  add_text(&unit->text, &parts->tables);
}

void units_cut(Arena *arena, CSource *source, const SourceParts *parts, const char *file) {
  Lines lines = find_lines(parts);
  const Cutter cutter = {arena, parts, source, file, lines.common, common_functions(parts)};
  source->units = ARENA_ARRAY(arena, SourceUnit, parts->kernel_count + 3);
  if (is_single(parts)) {
    add_all(&cutter, lines.common);
    return;
  }
  add_calls(&cutter, lines.calls);
  SourceUnit *unit = NULL;
  int line = lines.kernels;
  for (int i = 0; i < parts->kernel_count; i++) {
    const KernelPart *part = &parts->kernels[i];
    if (i == 0 || part->unit != parts->kernels[i - 1].unit)
      unit = next_kernels(&cutter, part->unit);
    if (unit->is_of_level) add_level_name(&unit->text, part);
    if (part->text.length > 0) add_part(&cutter, unit, &part->text, line);
    line += count_lines(&part->text);
    unit->weight += kernel_weight(parts->target, part);
    bool is_last = i + 1 == parts->kernel_count || parts->kernels[i + 1].unit != part->unit;
    if (is_last) end_kernels(&cutter, unit, part->file);
  }
  add_common_functions(&cutter);
}
