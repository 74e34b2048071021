/* Functions of the user's (extern): the kernels that call them, as C, and the units of their files.
 */
#include "backend/common/compile.h"
#include "backend/c/kernels.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "support/files.h"
#include "support/panic.h"

/* ---- kernels ------------------------------------------------------------------------------- */

static const char *const dtype_enumerators[DTYPE_COUNT] = {
    "NNC_F64", "NNC_F32", "NNC_BF16", "NNC_F16", "NNC_I64", "NNC_I32", "NNC_U8", "NNC_BOOL"};

static const char *tensor_text(Arena *arena, Type type, const char *data) {
  const char *dims = type.shape.rank == 0 ? "0" : "";
  for (int i = 0; i < type.shape.rank; i++)
    dims = arena_printf(arena, "%s%s%lld", dims, i ? ", " : "", (long long)type.shape.dim[i]);
  return arena_printf(arena, "{(void *)%s, %s, %d, %lld, {%s}}", data,
                      dtype_enumerators[type.dtype], type.shape.rank,
                      (long long)shape_elements(type.shape), dims);
}

/* The result is stored as it is: nothing is fused into such a kernel. */
static int result_operand(const Kernel *kernel) {
  CHECK(kernel->epilogue_count == 1 && kernel->epilogue[0].value->kind == EXPR_RESULT);
  return kernel->epilogue[0].operand;
}

void extern_write(Code *code, KernelFunction *function) {
  const Kernel *kernel = function->kernel;
  const ExternSlots *slots = &kernel->external;
  Arena *arena = code->arena;
  code_line(code, "NNC_KERNEL void %s(nnc_worker *worker%s)", function->name,
            function_parameters(arena, function));
  code_block(code);
  code_line(code,
            "extern void %s(int count, const nnc_extern_tensor *inputs, "
            "const nnc_extern_tensor *result);",
            slots->function);
  code_open(code, "NNC_TASKS(worker, 1, task)");
  code_open(code, "const nnc_extern_tensor inputs[%d] =", slots->count);
  for (int i = 0; i < slots->count; i++)
    code_line(code, "%s,", tensor_text(arena, slots->operands[i], function->operands[i]));
  code->indent--;
  code_line(code, "};");
  code_line(code, "const nnc_extern_tensor result = %s;",
            tensor_text(arena, slots->result, function->operands[result_operand(kernel)]));
  code_line(code, "%s(%d, inputs, &result);", slots->function, slots->count);
  code_close(code);
  code_close(code);
}

/* ---- units --------------------------------------------------------------------------------- */

enum { EXTERN_WEIGHT = 100000 };

static bool is_c(const char *file) {
  size_t length = strlen(file);
  return length > 2 && strcmp(file + length - 2, ".c") == 0;
}

const ExternFile *extern_files(Arena *arena, const CompileOptions *options, bool of_c, int *count) {
  VEC(ExternFile) files = {0};
  for (int i = 0; i < options->extern_count; i++) {
    const ExternInfo *external = options->externs[i];
    for (int k = 0; k < external->file_count; k++) {
      ExternFile file = {path_for_program(arena, external->files[k]), external};
      bool is_wanted = is_c(file.name) == of_c;
      for (int f = 0; f < files.count; f++)
        is_wanted = is_wanted && strcmp(files.items[f].name, file.name) != 0;
      if (is_wanted) vec_push(arena, &files, file);
    }
  }
  *count = files.count;
  return files.items;
}

bool source_add_externs(Arena *arena, CSource *source, const CompileOptions *options) {
  int count = source->unit_count, added;
  const ExternFile *files = extern_files(arena, options, true, &added);
  SourceUnit *units = ARENA_ARRAY(arena, SourceUnit, count + added + 1);
  for (int i = 0; i < count; i++) units[i] = source->units[i];
  source->units = units;
  for (int i = 0; i < added; i++) {
    SourceUnit *unit = &units[source->unit_count];
    Text text = {0};
    *unit =
        (SourceUnit){.weight = EXTERN_WEIGHT, .file = files[i].name, .external = files[i].external};
    if (!file_read(unit->file, &text)) {
      fprintf(stderr, "nnc: error: cannot read %s: %s\n", unit->file, strerror(errno));
      return false;
    }
    text_printf(&unit->text, "#line 1 %s\n", c_string(arena, unit->file));
    if (text.length > 0) text_add_bytes(&unit->text, text.data, text.length);
    text_free(&text);
    source->unit_count++;
  }
  return true;
}

bool unit_is_whole(const SourceUnit *unit) {
  if (unit->file == NULL) return true;
  for (const char *at = strstr(unit->text.data, "include"); at; at = strstr(at, "include")) {
    at += strlen("include");
    at += strspn(at, " \t");
    if (*at == '"' && strncmp(at, "\"nnc_extern.h\"", 14) != 0) return false;
  }
  return strstr(unit->text.data, "embed") == NULL;
}
