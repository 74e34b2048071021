/* The parts of the emitted source as one file, and cut into units that are compiled side by side.
 *
 * A unit holds kernels in their order until it is full, so an edit of the model changes few units
 * and the others are found in the cache; comments do not count. The first unit holds what calls
 * the kernels. */
#include "backend/common/code.h"
#include "backend/common/code_runs.h"
#include "backend/common/units.h"

static void add_text(Text *text, const Text *more) {
  if (more->length > 0) text_add_bytes(text, more->data, more->length);
}

static const char levels_begin[] =
    "\n#ifdef NNC_LEVEL /* what is compiled once for each instruction set, under names of its own "
    "*/\n";
static const char levels_else[] = "\n#else /* and once for all of them */\n";
static const char levels_end[] = "\n#endif\n";

static void add_level_name(Text *text, const KernelPart *part) {
  text_printf(text, "#define %s NNC_OF_LEVEL(%s)\n", part->name, part->name);
}

void units_join(Text *whole, const SourceParts *parts) {
  add_text(whole, &parts->header);
  add_text(whole, &parts->includes);
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
  text_free(&parts->includes);
  text_free(&parts->memory);
  for (int i = 0; i < parts->kernel_count; i++) text_free(&parts->kernels[i].text);
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

typedef struct Cutter {
  Arena *arena;
  const SourceParts *parts;
  CSource *source;
  const char *file; /* whose lines are named, or NULL */
} Cutter;

/* Adds a part that begins at a line of the one file. */
static void add_part(const Cutter *cutter, SourceUnit *unit, const Text *part, int line) {
  if (cutter->file != NULL) {
    text_printf(&unit->text, "#line %d %s\n", line, code_string(cutter->arena, cutter->file));
  }
  add_text(&unit->text, part);
}

/* About the microseconds that the compiler needs for a kernel. */
static int64_t kernel_weight(const Target *target, const KernelPart *part) {
  int factor = target->kernels[part->kernel->kind]->weight;
  int64_t length = (int64_t)code_runs_length(part->text.data, part->text.length);
  return length * (factor > 0 ? factor : target->kernels[KERNEL_LOOP]->weight);
}

/* A unit costs about 40000 microseconds of its own: starting the compiler, reading the headers. */
enum { UNIT_WEIGHT = 40000, FULL_UNIT = 560000, WEIGHT_OF_BYTE = 4 };

static SourceUnit *next_unit(const Cutter *cutter, bool is_of_level) {
  SourceUnit *unit = &cutter->source->units[cutter->source->unit_count++];
  unit->weight = UNIT_WEIGHT;
  unit->is_of_level = is_of_level && cutter->parts->has_levels;
  return unit;
}

/* Includes and memory plan; returns the line after them. */
static int add_common(const Cutter *cutter, SourceUnit *unit) {
  const SourceParts *parts = cutter->parts;
  int line = 1 + count_lines(&parts->header);
  add_part(cutter, unit, &parts->includes, line);
  line += count_lines(&parts->includes);
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

static SourceUnit *next_kernels(const Cutter *cutter) {
  SourceUnit *unit = next_unit(cutter, true);
  text_add(&unit->text, "#include \"nnc_kernel.h\"\n");
  if (unit->is_of_level) text_add(&unit->text, "#include \"nnc_isa.h\"\n");
  if (cutter->parts->target->back_end->header)
    text_printf(&unit->text, "#include \"%s\"\n", cutter->parts->target->back_end->header);
  return unit;
}

void units_cut(Arena *arena, CSource *source, const SourceParts *parts, const char *file) {
  const Cutter cutter = {arena, parts, source, file};
  int line = 1 + count_lines(&parts->header) + count_lines(&parts->includes) +
             count_lines(&parts->memory) + (parts->has_levels ? 2 + parts->kernel_count : 0);
  int calls_line = line;
  for (int i = 0; i < parts->kernel_count; i++) calls_line += count_lines(&parts->kernels[i].text);
  source->units = ARENA_ARRAY(arena, SourceUnit, parts->kernel_count + 2);
  add_calls(&cutter, calls_line);
  SourceUnit *unit = NULL;
  for (int i = 0; i < parts->kernel_count; i++) {
    const KernelPart *part = &parts->kernels[i];
    if (unit == NULL || unit->weight + kernel_weight(parts->target, part) > FULL_UNIT)
      unit = next_kernels(&cutter);
    if (unit->is_of_level) add_level_name(&unit->text, part);
    add_part(&cutter, unit, &part->text, line);
    line += count_lines(&part->text);
    unit->weight += kernel_weight(parts->target, part);
  }
}
