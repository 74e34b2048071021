/* The parts of the emitted source as one file, and cut into units that are compiled side by side.
 *
 * A unit holds kernels in their order until it is full, so an edit of the model changes few units and
 * the others are found in the cache. The first unit holds what calls the kernels. */
#include "backend/c/parts.h"

static void add_text(Text *text, const Text *more) {
  if (more->length > 0) text_add_bytes(text, more->data, more->length);
}

void source_join(Text *whole, const SourceParts *parts) {
  add_text(whole, &parts->header);
  add_text(whole, &parts->includes);
  add_text(whole, &parts->memory);
  for (int i = 0; i < parts->kernel_count; i++) add_text(whole, &parts->kernels[i].text);
  add_text(whole, &parts->calls);
}

void parts_free(SourceParts *parts) {
  text_free(&parts->header);
  text_free(&parts->includes);
  text_free(&parts->memory);
  for (int i = 0; i < parts->kernel_count; i++) text_free(&parts->kernels[i].text);
  text_free(&parts->declarations);
  text_free(&parts->calls);
}

void source_free(CSource *source) {
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
  const char *file;  /* whose lines are named, or NULL */
  int line;          /* of the one file, where the next part begins */
} Cutter;

static void add_part(Cutter *cutter, SourceUnit *unit, const Text *part) {
  if (cutter->file != NULL) {
    text_printf(&unit->text, "#line %d ", cutter->line);
    text_add_quoted(&unit->text, cutter->file);
    text_add_char(&unit->text, '\n');
  }
  add_text(&unit->text, part);
}

/* About the microseconds that the C compiler needs for a kernel at -O3. */
static int64_t kernel_weight(const KernelPart *part) {
  static const int by_byte[KERNEL_KIND_COUNT] = {
    [KERNEL_LOOP] = 30,
    [KERNEL_CONTRACT] = 45,
    [KERNEL_CONV] = 45,
    [KERNEL_CONV_INPUT] = 45,
    [KERNEL_CONV_WEIGHT] = 45,
  };
  int factor = by_byte[part->kernel->kind];
  return (int64_t)part->text.length * (factor > 0 ? factor : by_byte[KERNEL_LOOP]);
}

/* A unit costs about 40000 microseconds of its own: starting the compiler, reading the headers. */
enum { UNIT_WEIGHT = 40000, FULL_UNIT = 500000 };

static SourceUnit *next_unit(CSource *source) {
  SourceUnit *unit = &source->units[source->unit_count++];
  unit->weight = UNIT_WEIGHT;
  return unit;
}

static void add_calls(Cutter *cutter, CSource *source, const SourceParts *parts, int calls_line) {
  enum { WEIGHT_OF_BYTE = 4 };
  SourceUnit *unit = next_unit(source);
  add_part(cutter, unit, &parts->includes);
  cutter->line += count_lines(&parts->includes);
  add_part(cutter, unit, &parts->memory);
  cutter->line += count_lines(&parts->memory);
  add_text(&unit->text, &parts->declarations);
  Cutter behind = {cutter->file, calls_line};
  add_part(&behind, unit, &parts->calls);
  unit->weight += (int64_t)unit->text.length * WEIGHT_OF_BYTE;
}

void source_cut(Arena *arena, CSource *source, const SourceParts *parts, const char *file) {
  Cutter cutter = {file, 1 + count_lines(&parts->header)};
  int calls_line = cutter.line + count_lines(&parts->includes) + count_lines(&parts->memory);
  for (int i = 0; i < parts->kernel_count; i++) calls_line += count_lines(&parts->kernels[i].text);
  source->units = ARENA_ARRAY(arena, SourceUnit, parts->kernel_count + 2);
  add_calls(&cutter, source, parts, calls_line);
  SourceUnit *unit = NULL;
  for (int i = 0; i < parts->kernel_count; i++) {
    if (unit == NULL || unit->weight + kernel_weight(&parts->kernels[i]) > FULL_UNIT) {
      unit = next_unit(source);
      text_add(&unit->text, "#include \"nnc_kernel.h\"\n");
    }
    add_part(&cutter, unit, &parts->kernels[i].text);
    cutter.line += count_lines(&parts->kernels[i].text);
    unit->weight += kernel_weight(&parts->kernels[i]);
  }
}
