/* A Program as C: see emit.h. It is written in parts, which are joined to one file or to units. */
#include "backend/common/emitter.h"
#include "backend/common/externs.h"
#include "backend/common/share.h"
#include "backend/common/units.h"

#include <stdlib.h>
#include <string.h>
#include "support/integers.h"
#include "support/panic.h"

/* Where a command of the shell may end a line: the last blank between words before column `width`, or
 * the first after it, or its end.  Blanks in quotes or after a backslash are parts of words. */
static int find_break(const char *at, int length, int width) {
  int last = 0;
  char quote = 0;
  for (int i = 0; i < length; i++) {
    char c = at[i];
    if (c == '\\' && quote != '\'') i++;
    else if (quote) quote = c == quote ? 0 : quote;
    else if (c == '\'' || c == '"') quote = c;
    else if (c == ' ') {
      if (last > 0 && i > width) return last;
      last = i;
    }
    if (last > width) return last;
  }
  return length > width && last > 0 ? last : length;
}

/* One command of the shell, in lines that a shell joins again. */
static void emit_wrapped(Code *code, const char *at, int length, const char *tail) {
  enum { WIDTH = 88 };
  const char *indent = "";
  for (int cut; (cut = find_break(at, length, WIDTH)) < length; indent = "  ") {
    code_line(code, " *   %s%.*s \\", indent, cut, at);
    at += cut + 1;
    length -= cut + 1;
  }
  code_line(code, " *   %s%.*s%s", indent, length, at, tail);
}

/* The command, which holds no comment's end; its parts on lines of their own. */
static void emit_command(Emitter *emitter) {
  static const char and[] = " && ";
  const char *at = emitter->options->command;
  for (const char *end = strstr(at, and); end; at = end + strlen(and), end = strstr(at, and))
    emit_wrapped(&emitter->code, at, (int)(end - at), " &&");
  emit_wrapped(&emitter->code, at, (int)strlen(at), "");
}

static void emit_header(Emitter *emitter) {
  const Module *module = emitter->program->module;
  Code *code = &emitter->code;
  code_line(code, "/* %s: trains the network of %s.", code_in_comment(code->arena, module->name),
            code_in_comment(code->arena, module->source ? module->source->name : module->name));
  code_line(code, " *");
  code_line(code, " * %s: no licence is attached. Build it with:", output_c_mark);
  code_line(code, " *");
  emit_command(emitter);
  code_line(code, " */");
}

static void emit_includes(Emitter *emitter) {
  static const char *const headers[] = {"nnc_kernel.h", "nnc_model.h", "nnc_data.h", "nnc_limits.h",
                                        "nnc_isa.h"};
  for (size_t i = 0; i < sizeof headers / sizeof *headers; i++)
    code_line(&emitter->code, "#include \"%s\"", headers[i]);
  static const char *const of_products[] = {
      [PRODUCTS_BF16] = "nnc_gemm_bf16.h", [PRODUCTS_X3] = "nnc_gemm_x3.h"};
  NarrowProducts products = emitter_narrow_products(emitter);
  if (products != PRODUCTS_WIDE)
    code_line(&emitter->code, "#include \"%s\"", of_products[products]);
  const BackEnd *back_end = emitter->program->target->back_end;
  const char *more = back_end->guard ? back_end->host_header : back_end->header;
  if (more) code_line(&emitter->code, "#include \"%s\"", more);
}

/* ---- names ---- */

/* The greatest power of two up to 64 that the addresses of an operand's buffers are multiples of. */
static int64_t buffer_alignment(const Program *program, int buffer) {
  int64_t bits = 64;
  for (int id = buffer; id >= 0; id = program->buffers.items[id].view_of) {
    const Buffer *view = &program->buffers.items[id];
    bits |= view->offset > 0 ? view->offset : 0;
    if (view->scan >= 0) bits |= view->round_bytes;
  }
  return bits & -bits;
}

static int64_t *find_alignments(const Emitter *emitter, int number) {
  const Program *program = emitter->program;
  int count = program->kernels.items[number]->operand_count;
  int64_t *alignments = ARENA_ARRAY(emitter->arena, int64_t, count + 1);
  for (int i = 0; i < count; i++) alignments[i] = 64;
  for (int e = 0; e < ENTRY_COUNT; e++)
    for (int s = 0; s < program->entries[e].steps.count; s++) {
      const Step *step = &program->entries[e].steps.items[s];
      if (step->kind != STEP_LAUNCH || step->kernel != number) continue;
      for (int i = 0; i < step->operand_count; i++)
        alignments[i] = least(alignments[i], buffer_alignment(program, step->operands[i]));
    }
  return alignments;
}

static void name_kernel(Emitter *emitter, int number) {
  const Kernel *kernel = emitter->program->kernels.items[number];
  KernelFunction *function = &emitter->functions[number];
  Arena *arena = emitter->arena;
  function->kernel = kernel;
  function->number = number;
  function->options = emitter->options;
  function->alignments = find_alignments(emitter, number);
  function->dialect = emitter->program->target->back_end->dialect;
  function->name = naming_function(&emitter->names, kernel->name);
  NameScope inside = {.arena = arena, .outer = &emitter->names};
  function->operands = ARENA_ARRAY(arena, const char *, kernel->operand_count + 1);
  for (int i = 0; i < kernel->operand_count; i++)
    function->operands[i] = naming_make(&inside, kernel->operands[i].name);
  function->scalars = ARENA_ARRAY(arena, const char *, kernel->scalar_count + 1);
  function->keys = ARENA_ARRAY(arena, const char *, kernel->key_count + 1);
  for (int i = 0; i < kernel->key_count; i++) function->keys[i] = arena_printf(arena, "key_%d", i);
}

typedef struct Use {
  const char *entry;
  const Step *step;
} Use;

typedef VEC(Use) UseList;

/* Whether launches of the kernel call the function of kernel `number`. */
static bool calls_function(const Emitter *emitter, int kernel, int number) {
  return function_launched(&emitter->functions[kernel])->number == number;
}

static UseList kernel_uses(const Emitter *emitter, int kernel) {
  UseList uses = {0};
  for (int e = 0; e < ENTRY_COUNT; e++) {
    const ProgramEntry *entry = &emitter->program->entries[e];
    for (int i = 0; i < entry->steps.count; i++) {
      const Step *step = &entry->steps.items[i];
      Use use = {entry_name((EntryKind)e), step};
      if (step->kind == STEP_LAUNCH && calls_function(emitter, step->kernel, kernel))
        vec_push(emitter->arena, &uses, use);
    }
  }
  return uses;
}

static const char *first_use(const Emitter *emitter, int kernel) {
  UseList uses = kernel_uses(emitter, kernel);
  if (uses.count == 0) return "";
  return arena_printf(emitter->arena, "%s of %s",
                      code_in_comment(emitter->arena, uses.items[0].step->path),
                      uses.items[0].entry);
}

/* Scalars are called what the first use calls them. */
static void name_scalars(Emitter *emitter, int number, const UseList *uses) {
  KernelFunction *function = &emitter->functions[number];
  NameScope inside = {.arena = emitter->arena, .outer = &emitter->names};
  for (int i = 0; i < function->kernel->operand_count; i++)
    naming_take(&inside, function->operands[i]);
  for (int i = 0; i < function->kernel->scalar_count; i++) {
    const char *wish = "scalar";
    if (uses->count > 0)
      wish = emitter->program->scalar_names.items[uses->items[0].step->scalars[i]];
    function->scalars[i] = naming_make(&inside, wish);
  }
}

/* ---- kernels ---- */

/* Before the function: what it computes, and for whom. */
static void emit_comment(Emitter *emitter, int number, Text *function_text) {
  enum { MOST_USES = 12 };
  Text before = {0}, comment = {0};
  Code code = {.arena = emitter->arena, .out = &before};
  const KernelFunction *function = &emitter->functions[number];
  UseList uses = kernel_uses(emitter, number);
  if (function->kernel->comment) text_add(&comment, function->kernel->comment);
  text_printf(&comment, "%sUsed by", comment.length ? "\n" : "");
  for (int i = 0; i < uses.count && i < MOST_USES; i++)
    text_printf(&comment, "%s %s of %s", i ? "," : "", uses.items[i].step->path,
                uses.items[i].entry);
  if (uses.count > MOST_USES) text_printf(&comment, " and %d more", uses.count - MOST_USES);
  if (uses.count == 0) text_add(&comment, " nothing");
  text_add(&comment, ".");
  for (int i = 0; i < function->number_count; i++)
    text_printf(&comment, "%s %s",
                i ? "," : " What differs between these:", function->number_names[i]);
  if (function->number_count > 0) text_add(&comment, ".");
  code_blank(&code);
  code_comment(&code, "%s", comment.data);
  text_insert(function_text, 0, before.data);
  text_free(&comment);
  text_free(&before);
}

static void emit_kernel(Emitter *emitter, int number) {
  UseList uses = kernel_uses(emitter, number);
  name_scalars(emitter, number, &uses);
  emitter->program->target->back_end->write_kernel(&emitter->code, &emitter->functions[number]);
}

/* Kernels that nothing launches by themselves are only in the merged ones. */
static void emit_kernels(Emitter *emitter, SourceParts *parts, int count) {
  const MergePlan *merges = emitter->merges;
  for (int i = 0; i < count; i++) {
    parts->kernels[i].kernel = emitter->program->kernels.items[i];
    parts->kernels[i].name = emitter->functions[i].name;
    parts->kernels[i].use = first_use(emitter, i);
    Text unused = {0};
    bool is_inside = merges && merges->is_inside[i];
    emitter->code.out = is_inside ? &unused : &parts->kernels[i].text;
    emit_kernel(emitter, i);
    code_tidy(&parts->kernels[i].text);
    text_free(&unused);
  }
  if (emitter->program->target->back_end->shares_functions && !emitter->options->debug)
    share_functions(emitter->arena, emitter->functions, parts->kernels, count);
  for (int i = 0; i < count; i++)
    if (parts->kernels[i].text.length > 0) emit_comment(emitter, i, &parts->kernels[i].text);
  for (int i = 0; merges && i < merges->kernels.count; i++) {
    MergedKernel *merged = &merges->kernels.items[i];
    KernelPart *part = &parts->kernels[count + i];
    merged->name = naming_function(&emitter->names, "merged");
    *part = (KernelPart){.kernel = emitter->functions[merged->parts.items[0].kernel].kernel,
                         .name = merged->name,
                         .use = ""};
    emitter->code.out = &part->text;
    emitter->program->target->back_end->write_merged(&emitter->code, merged, emitter->functions);
  }
}

static bool has_own_kernel(const Program *program) {
  return program->target->back_end->write_own && program->entries[ENTRY_TRAIN].present;
}

/* It is the last of all. */
static void emit_own_kernel(Emitter *emitter, SourceParts *parts) {
  if (!has_own_kernel(emitter->program)) return;
  KernelPart *part = &parts->kernels[parts->kernel_count - 1];
  part->name = part->use = "";
  emitter->code.out = &part->text;
  emitter->program->target->back_end->write_own(&emitter->code);
}

/* The user's files, of which a device's kernels call functions. */
static void emit_externs(Emitter *emitter, SourceParts *parts) {
  const CompileOptions *options = emitter->options;
  Code *code = &emitter->code;
  parts->file_count = options->device_file_count;
  parts->files = ARENA_ARRAY(emitter->arena, Text, parts->file_count + 1);
  parts->device_files = options->device_files;
  for (int i = 0; i < parts->file_count; i++) {
    code->out = &parts->files[i];
    emitter->program->target->back_end->write_extern(code, &options->device_files[i], i, options);
  }
  for (int i = 0; i < parts->kernel_count; i++) {
    const Kernel *kernel = parts->kernels[i].kernel;
    bool calls = kernel && kernel->kind == KERNEL_EXTERN && parts->file_count > 0;
    parts->kernels[i].file = calls ? externs_device_file(options, kernel->external.function) : -1;
  }
}

/* Not the user's files, and not the header, whose command is one line. */
static void wrap_parts(SourceParts *parts) {
  Text *const texts[] = {&parts->memory, &parts->declarations, &parts->calls, &parts->tables};
  for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) code_wrap(texts[i]);
  for (int i = 0; i < parts->kernel_count; i++) code_wrap(&parts->kernels[i].text);
}

static void emit_parts(Emitter *emitter, SourceParts *parts) {
  Code *code = &emitter->code;
  code->out = &parts->header;
  emit_header(emitter);
  code->out = &parts->includes;
  emit_includes(emitter);
  code->out = &parts->memory;
  emitter_memory(emitter);
  for (int i = 0; i < emitter->options->extern_count; i++)
    naming_take(&emitter->names, emitter->options->externs[i]->function);
  int count = emitter->program->kernels.count;
  for (int i = 0; i < count; i++) name_kernel(emitter, i);
  emit_kernels(emitter, parts, count);
  emit_own_kernel(emitter, parts);
  emit_externs(emitter, parts);
  units_add_includes(parts);
  const BackEnd *back_end = emitter->program->target->back_end;
  int units = units_plan(parts, emitter->options->cflags);
  for (int i = 0; i < count; i++) emitter->functions[i].unit = parts->kernels[i].unit;
  for (int i = 0; emitter->merges && i < emitter->merges->kernels.count; i++)
    emitter->merges->kernels.items[i].unit = parts->kernels[count + i].unit;
  const KernelPart *last =
      has_own_kernel(emitter->program) ? &parts->kernels[parts->kernel_count - 1] : NULL;
  code->out = &parts->declarations;
  code_blank(code);
  for (int i = 0; i < count; i++)
    if (!emitter->functions[i].shared) back_end->write_declaration(code, &emitter->functions[i]);
  code->out = &parts->calls;
  emitter_entries(emitter);
  emitter_host(emitter);
  emitter_level(emitter);
  code->out = &parts->tables;
  if (back_end->write_tables)
    back_end->write_tables(code, &(TableSource){emitter->functions, count, units, emitter->options,
                                                emitter->merges, last ? last->unit : -1});
  emitter_tables(emitter);
  wrap_parts(parts);
  units_write_contents(parts);
}

void emit_source(Arena *arena, CSource *source, const Program *program,
                 const CompileOptions *options) {
  const BackEnd *back_end = program->target->back_end;
  Arena *work = arena_create();
  MergePlan *merges = back_end->plan_merges ? back_end->plan_merges(work, program) : NULL;
  const int own = program->kernels.count;
  const int count = own + (merges ? merges->kernels.count : 0) + has_own_kernel(program);
  Emitter emitter = {.code = {.arena = work},
                     .arena = work,
                     .program = program,
                     .options = options,
                     .names = {.arena = work, .words = program->target->back_end->words},
                     .functions = ARENA_ARRAY(work, KernelFunction, own + 1),
                     .merges = merges};
  SourceParts parts = {.target = program->target,
                       .has_levels = options->level_count > 0,
                       .most_units = options->units,
                       .kernel_count = count,
                       .kernels = ARENA_ARRAY(work, KernelPart, count + 1)};
  emit_parts(&emitter, &parts);
  units_join(&source->whole, &parts);
  units_cut(arena, source, &parts, options->debug ? options->source : NULL);
  units_free_parts(&parts);
  arena_destroy(work);
}

void emit_c(Text *text, const Program *program, const CompileOptions *options) {
  Arena *arena = arena_create();
  CSource source = {0};
  emit_source(arena, &source, program, options);
  if (source.whole.length > 0) text_add_bytes(text, source.whole.data, source.whole.length);
  units_free(&source);
  arena_destroy(arena);
}
