/* What the runtime calls, for each instruction set.
 *
 * A program for one has the table of its functions beside them. For several, everything that
 * computes is compiled once for each: what other files see of it gets the level's name (nnc_isa.h),
 * and the other tables, which are compiled once, list the levels. */
#include "backend/common/emitter.h"

int emitter_level_count(const CompileOptions *options) {
  return options->level_count > 0 ? options->level_count : 1;
}

/* The type of most of the arithmetic, for what the machine can do at best. */
static const char *main_float(const Module *module) {
  bool has_f64 = false, has_narrower = false;
  for (int i = 0; i < module->variables.count; i++) {
    DType dtype = module->variables.items[i].type.dtype;
    has_f64 |= dtype == DTYPE_F64;
    has_narrower |= dtype == DTYPE_F32 || dtype == DTYPE_BF16 || dtype == DTYPE_F16;
  }
  return has_f64 && !has_narrower ? "f64" : "f32";
}

NarrowProducts emitter_narrow_products(const Emitter *emitter) {
  const Program *program = emitter->program;
  NarrowProducts found = PRODUCTS_WIDE;
  if (program->target->back_end->guard != NULL) return found;
  for (int i = 0; i < program->kernels.count; i++) {
    if (kernel_multiplies_bf16(program->kernels.items[i])) return PRODUCTS_BF16;
    if (program->kernels.items[i]->is_x3) found = PRODUCTS_X3;
  }
  return found;
}

void emitter_level(Emitter *emitter) {
  static const struct {
    EntryKind entry;
    const char *number;
  } all[] = {{ENTRY_INIT, "NNC_RUN_INIT"},
             {ENTRY_TRAIN, "NNC_RUN_TRAIN"},
             {ENTRY_ACCUMULATE, "NNC_RUN_ACCUMULATE"},
             {ENTRY_EVAL, "NNC_RUN_EVAL"},
             {ENTRY_EVAL_ONE, "NNC_RUN_EVAL_ONE"},
             {ENTRY_PREDICT, "NNC_RUN_PREDICT"},
             {ENTRY_PREDICT_BATCH, "NNC_RUN_PREDICT_BATCH"},
             {ENTRY_GENERATE, "NNC_RUN_GENERATE"}};
  Code *code = &emitter->code;
  const char *number = main_float(emitter->program->module);
  bool is_one = emitter->options->level_count == 0;
  code_blank(code);
  code_line(code, "NNC_DEFINE_LIMITS(%s);", number);
  code_blank(code);
  code_comment(code, "What the runtime calls.");
  code_open(code, is_one ? "static const nnc_level nnc_level_only ="
                         : "const nnc_level NNC_OF_LEVEL(nnc_level) =");
  if (is_one) code_line(code, ".name = %s,", code_string(emitter->arena, emitter->options->arch));
  else code_line(code, ".name = NNC_LEVEL_NAME,");
  bool is_of_device = emitter->program->target->back_end->guard != NULL;
  if (is_of_device) code_line(code, ".isa = \"%s\",", emitter->program->target->name);
  static const char *const units[] = {
      [PRODUCTS_WIDE] = "", [PRODUCTS_BF16] = "_BF16", [PRODUCTS_X3] = "_X3"};
  const char *unit = units[emitter_narrow_products(emitter)];
  if (!is_of_device)
    code_line(code, ".isa = NNC_ISA%s,",
              *unit ? arena_printf(code->arena, " NNC_ISA%s", unit) : "");
  code_line(code, ".extensions = NNC_EXTENSIONS%s,",
            *unit ? arena_printf(code->arena, " NNC_EXTENSIONS%s", unit) : "");
  code_line(code, ".limits = &nnc_limits_%s,", number);
  code_line(code, ".host = host, .finish = finish,");
  const char *runs = "";
  for (size_t i = 0; i < sizeof all / sizeof *all; i++)
    if (emitter->program->entries[all[i].entry].present)
      runs = arena_printf(code->arena, "%s%s[%s] = %s_run", runs, *runs ? ", " : "", all[i].number,
                          entry_name(all[i].entry));
  code_line(code, ".run = {%s},", runs);
  code_close_list(code);
}

void emitter_level_table(Emitter *emitter) {
  Code *code = &emitter->code;
  const CompileOptions *options = emitter->options;
  const char *names = "&nnc_level_only";
  code_blank(code);
  for (int i = 0; i < options->level_count; i++) {
    code_line(code, "extern const nnc_level nnc_level_%s;", options->levels[i]);
    names = arena_printf(emitter->arena, "%s%s&nnc_level_%s", i ? names : "", i ? ", " : "",
                         options->levels[i]);
  }
  code_line(code, "static const nnc_level *const levels[%d] = {%s};", emitter_level_count(options),
            names);
}
