/* The CUDA back end, and what its functions of all kinds share. */
#include "backend/cuda/cuda.h"

#include <string.h>
#include "backend/common/c.h"
#include "backend/cuda/form.h"
#include "backend/cuda/images.h"
#include "backend/cuda/library.h"
#include "backend/cuda/merge.h"
#include "kernel/builder.h"
#include "support/integers.h"

/* ---- grids ---- */

static const CudaKernel *const kinds[KERNEL_KIND_COUNT] = {
#define CUDA_KERNEL(identifier, name) [KERNEL_##identifier] = &cuda_kernel_##name,
#include "backend/cuda/kernels.def"
#undef CUDA_KERNEL
};

CudaGrid cuda_grid(const Kernel *kernel) {
  if (extent_product(kernel->extent, kernel->axis_count) == 0) return (CudaGrid){0, WARP};
  return kinds[kernel->kind]->grid(kernel);
}

bool cuda_find_form(const KernelFunction *function, CudaForm *form) {
  const CudaKernel *kind = kinds[function->kernel->kind];
  return kind->find_form && cuda_grid(function->kernel).blocks > 0 &&
         kind->find_form(function, form);
}

CudaGrid cuda_grid_of_points(int64_t points, int64_t each) {
  return (CudaGrid){divide_up(points, each * USUAL_THREADS), USUAL_THREADS};
}

/* ---- types ---- */

DType cuda_sum_type(DType dtype) {
  if (dtype_is_half(dtype)) return DTYPE_F32;
  return dtype == DTYPE_U8 || dtype == DTYPE_BOOL ? DTYPE_I32 : dtype;
}

/* Whether the index, and all that it is made of, fits 32 bits. */
static bool index_is_narrow(const Index *index, const int64_t *extents, int axis_count) {
  int64_t least, greatest_value;
  if (index == NULL) return true;
  if (!index_range(index, extents, axis_count, &least, &greatest_value)) return false;
  return least >= INT32_MIN && greatest_value <= INT32_MAX &&
         index_is_narrow(index->left, extents, axis_count) &&
         index_is_narrow(index->right, extents, axis_count);
}

static bool stage_is_narrow(Arena *arena, const Kernel *kernel, int number) {
  Stage stage = kernel_stage(kernel, number);
  int64_t extents[2 * KERNEL_MAX_AXES];
  int axis_count = kernel->axis_count + stage.axis_count;
  for (int i = 0; i < axis_count; i++)
    extents[i] = i < kernel->axis_count ? kernel->extent[i] : stage.extent[i - kernel->axis_count];
  if (extent_product(stage.extent, stage.axis_count) > INT32_MAX / 2) return false;
  ExprList list = kernel_expressions(arena, kernel, number);
  for (int i = 0; i < list.count; i++) {
    const Expr *expr = list.items[i];
    if (!index_is_narrow(expr->index, extents, axis_count)) return false;
    for (int k = 0; k < expr->guard_count; k++)
      if (!index_is_narrow(expr->guards[k].index, extents, axis_count)) return false;
  }
  for (int i = 0; i < stage.store_count; i++)
    if (!index_is_narrow(stage.stores[i].index, extents, axis_count)) return false;
  return true;
}

/* A thread after the last point has a number, too. */
const char *cuda_index_type(const Kernel *kernel, int64_t points) {
  bool is_narrow = points <= INT32_MAX - 16 * MOST_THREADS;
  Arena *arena = arena_create();
  for (int i = 0; is_narrow && i < kernel_stage_count(kernel); i++)
    is_narrow = stage_is_narrow(arena, kernel, i);
  for (int i = 0; i < kernel->operand_count; i++)
    is_narrow = is_narrow && kernel->operands[i].elements <= INT32_MAX;
  arena_destroy(arena);
  return is_narrow ? "int32_t" : "int64_t";
}

/* ---- parts of functions ---- */

void cuda_declare_axes(Code *code, const KernelFunction *function, const char *index_type,
                       int first, int end, const char *flat) {
  Arena *arena = code->arena;
  int64_t below = 1;
  for (int i = end - 1; i >= first; i--) {
    int64_t extent = function->kernel->extent[i];
    const char *text = flat;
    if (below > 1)
      text = arena_printf(arena, "%s / %lld", code_atom(arena, flat), (long long)below);
    else if (i > first) text = code_atom(arena, flat);
    if (i > first) text = arena_printf(arena, "%s %% %lld", text, (long long)extent);
    if (expression_uses_axis(arena, function->kernel, i))
      code_line(code, "const %s i%d = %s;", index_type, i, text);
    below *= extent;
  }
}

const char *cuda_loaded(Arena *arena, const KernelFunction *function, int operand, const char *at) {
  return c_loaded(arena, function->kernel->operands[operand].dtype,
                  arena_printf(arena, "%s[%s]", function->operands[operand], at));
}

void cuda_write_epilogue(Code *code, KernelFunction *function, const char *result, DType dtype) {
  ExprScope scope = function_scope(code->arena, function);
  scope.result = result;
  scope.result_dtype = dtype;
  expression_write_stores(code, &scope, 0);
}

void cuda_write_values(Code *code, const KernelFunction *function) {
  for (int i = 0; i < function->kernel->scalar_count; i++)
    code_line(code, "const double %s = *nnc_at_%s;", function->scalars[i], function->scalars[i]);
  for (int i = 0; i < function->kernel->key_count; i++)
    code_line(code, "%s = nnc_philox_key(state->seed, %s);", function->keys[i], function->keys[i]);
}

/* ---- the function ---- */

typedef VEC(const char *) Items;

/* One for each operand, scalar and key: of the kernel, or of the host's function that launches it. */
static Items list_parameters(Arena *arena, const KernelFunction *function, bool is_host) {
  const Kernel *kernel = function->kernel;
  const char *restrict_word = is_host ? "" : "NNC_RESTRICT ";
  Items items = {0};
  for (int i = 0; i < kernel->operand_count; i++)
    vec_push(arena, &items,
             arena_printf(arena, "%s%s *%s%s", kernel->operands[i].is_output ? "" : "const ",
                          c_storage_type(kernel->operands[i].dtype), restrict_word,
                          function->operands[i]));
  for (int i = 0; i < kernel->scalar_count; i++)
    vec_push(arena, &items,
             arena_printf(arena, "const double *%s%s%s", restrict_word, is_host ? "" : "nnc_at_",
                          function->scalars[i]));
  for (int i = 0; i < kernel->key_count; i++)
    vec_push(arena, &items, arena_printf(arena, "uint64_t %s", function->keys[i]));
  return items;
}

/* Pointers say how many bytes they are multiples of, so that neighbours are loaded together. */
static void write_alignments(Code *code, const KernelFunction *function) {
  const Kernel *kernel = function->kernel;
  for (int i = 0; i < kernel->operand_count; i++)
    if (function->alignments[i] >= 16)
      code_line(code, "NNC_IS_ALIGNED(%s, 16);", function->operands[i]);
}

/* In the usual form where `form` is NULL. A part of a merged kernel is told its block. */
static void write_function(Code *code, KernelFunction *function, const CudaForm *form,
                           bool is_part) {
  const CudaKernel *kind = kinds[function->kernel->kind];
  Items items = {0}, own = list_parameters(code->arena, function, false);
  if (is_part) vec_push(code->arena, &items, "int64_t block");
  for (int i = 0; i < own.count; i++) vec_push(code->arena, &items, own.items[i]);
  vec_push(code->arena, &items, "nnc_state *state");
  if (form) {
    vec_push(code->arena, &items, "NNC_MAP left_map");
    vec_push(code->arena, &items, "NNC_MAP right_map");
  }
  int threads = form ? form->threads : cuda_grid(function->kernel).threads;
  const char *bounds =
      arena_printf(code->arena, "%s(%d)", form ? "NNC_KERNEL_ALONE" : "NNC_KERNEL", threads);
  code_list(
      code,
      arena_printf(code->arena, "%s %s(", is_part ? "NNC_DEVICE void" : bounds, function->name),
      items.count, items.items, ")");
  code_block(code);
  if (cuda_grid(function->kernel).blocks > 0) {
    write_alignments(code, function);
    cuda_write_values(code, function);
    (form ? kind->write_form : kind->write)(code, function);
  }
  code_close(code);
}

static void write_kernel(Code *code, KernelFunction *function) {
  const CudaKernel *kind = kinds[function->kernel->kind];
  CudaForm form;
  bool has_form = cuda_find_form(function, &form);
  if (kind->write_before && cuda_grid(function->kernel).blocks > 0)
    kind->write_before(code, function);
  if (has_form) {
    code_line(code, "#ifdef NNC_WGMMA /* sm_90a */");
    write_function(code, function, &form, false);
    code_line(code, "#else");
  }
  write_function(code, function, NULL, false);
  if (has_form) code_line(code, "#endif");
}

void cuda_write_part(Code *code, KernelFunction *function) {
  write_function(code, function, NULL, true);
}

/* What the entries call: it launches. */
static void write_declaration(Code *code, const KernelFunction *function) {
  const Kernel *kernel = function->kernel;
  Arena *arena = code->arena;
  Items items = {0}, more = list_parameters(arena, function, true), addresses = {0};
  vec_push(arena, &items, "nnc_worker *nnc_the_worker");
  for (int i = 0; i < more.count; i++) vec_push(arena, &items, more.items[i]);
  const char **const names[] = {function->operands, function->scalars, function->keys};
  const int counts[] = {kernel->operand_count, kernel->scalar_count, kernel->key_count};
  for (int kind = 0; kind < 3; kind++)
    for (int i = 0; i < counts[kind]; i++)
      vec_push(arena, &addresses, arena_printf(arena, "&%s", names[kind][i]));
  vec_push(arena, &addresses, "&nnc_state");
  CudaForm form;
  for (int i = 0; i < 2 && cuda_find_form(function, &form); i++)
    vec_push(arena, &addresses, "NULL");
  code_blank(code);
  code_list(code, arena_printf(arena, "static void %s(", function->name), items.count, items.items,
            ")");
  code_block(code);
  code_line(code, "nnc_cuda_state *nnc_state = nnc_cuda_state_of(nnc_the_worker);");
  code_list(code, "void *nnc_arguments[] = {", addresses.count, addresses.items, "};");
  code_line(code, "nnc_cuda_launch(nnc_the_worker, %d, nnc_arguments);", function->number);
  code_close(code);
}

enum { GATHER_THREADS = 256 }; /* NNC_GATHER_THREADS of nnc_cuda_program.h */

/* The kernels, which nnc_cuda_launch takes by number; with a library, which product of its table each
 * is. */
static void write_kernels(Code *code, const KernelFunction *functions, int count,
                          const MergePlan *merges, bool has_library, int own_unit) {
  int products = 0, all = count + merges->kernels.count + (own_unit >= 0);
  const char **forms = ARENA_ARRAY(code->arena, const char *, count + 1);
  for (int i = 0; i < count; i++) forms[i] = form_write(code, &functions[i]);
  code_open(code, "static const nnc_cuda_kernel nnc_kernels[%d] =", all + (all == 0));
  for (int i = 0; i < count; i++) {
    CudaGrid grid = cuda_grid(functions[i].kernel);
    bool is_product = has_library && library_takes(functions[i].kernel);
    const char *name =
        merges->is_inside[i] ? "NULL" : arena_printf(code->arena, "\"%s\"", functions[i].name);
    code_line(code, "{%s, NNC_UNIT(%d), %lld, %d, 0, %s, %s},", name, functions[i].unit,
              (long long)grid.blocks, grid.threads,
              is_product ? arena_printf(code->arena, "&nnc_products[%d]", products) : "NULL",
              forms[i]);
    products += is_product;
  }
  for (int i = 0; i < merges->kernels.count; i++) {
    const MergedKernel *merged = &merges->kernels.items[i];
    CudaGrid grid = cuda_grid(functions[merged->parts.items[0].kernel].kernel);
    code_line(code, "{\"%s\", NNC_UNIT(%d), %lld, %d, 0, NULL, NULL},", merged->name, merged->unit,
              (long long)cuda_merged_blocks(merged, functions), grid.threads);
  }
  if (own_unit >= 0)
    code_line(code, "{\"nnc_gather\", NNC_UNIT(%d), 1, %d, 0, NULL, NULL},", own_unit,
              GATHER_THREADS);
  if (all == 0) code_line(code, "{0},");
  code_close_list(code);
  code_blank(code);
}

static bool any_is_product(const KernelFunction *functions, int count) {
  bool any = false;
  for (int i = 0; i < count; i++) any = any || library_takes(functions[i].kernel);
  return any;
}

static void write_all_tables(Code *code, const TableSource *source, bool has_library) {
  const MergePlan *merges = source->merges;
  bool has_merges = merges->launches.count > 0;
  code_blank(code);
  cuda_write_images(code->out, source->options, source->units);
  code_blank(code);
  if (has_library) library_write_products(code, source->functions, source->count);
  int all = source->count + merges->kernels.count;
  write_kernels(code, source->functions, source->count, merges, has_library, source->own_unit);
  if (has_merges) cuda_write_merges(code, merges, source->functions, source->count);
  code_line(code,
            "const nnc_cuda_program nnc_the_cuda_program = {NNC_UNIT(%d) + 1, IMAGE_COUNT, "
            "images, %d, nnc_kernels, %s, %s, %s, %lldLL};",
            source->units > 0 ? source->units - 1 : 0, all + (source->own_unit >= 0),
            has_library ? "&nnc_cublaslt" : "NULL", has_merges ? "nnc_merges" : "NULL",
            source->own_unit >= 0 ? arena_printf(code->arena, "&nnc_kernels[%d]", all) : "NULL",
            (long long)source->options->memory_limit);
}

static void write_tables(Code *code, const TableSource *source) {
  write_all_tables(code, source, false);
}

static void write_library_tables(Code *code, const TableSource *source) {
  write_all_tables(code, source, any_is_product(source->functions, source->count));
}

/* The body is in nnc_cuda_gather.h. */
static void write_own(Code *code) {
  code_blank(code);
  code_comment(code,
               "Tells a run what it is told, and fetches the rows of its inputs (--resident).");
  code_line(code, "NNC_KERNEL(%d) nnc_gather(const nnc_gather_table *table, const uint64_t *told,",
            GATHER_THREADS);
  code_line(code, "                           uint64_t *state, int64_t words)");
  code_block(code);
  code_line(code, "nnc_gather_rows(table, told, state, words);");
  code_close(code);
}

static void write_part(Code *code, int launch, int place) {
  code_line(code, "nnc_cuda_part(worker, %d, %d);", launch, place);
}

/* Variables of the templates and loops; axes, temporaries and such have names like i0 (naming.c). And what
 * is a word of C++, as which kernels are compiled, but none of C. */
static const char *const words[] = {
    "point",      "part",        "column",       "is_inside",    "state",     "row",
    "cols",       "depth",       "batch",        "sums",         "slot",      "tap",
    "place",      "image",       "tile",         "where",        "channel",   "best",
    "better",     "seen",        "value",        "given",        "window",    "left",
    "right",      "first",       "count",        "plane",        "lane",      "warp",
    "sum",        "own",         "other",        "before",       "number",    "owners",
    "counts",     "memory",      "outer",        "totals",       "items",     "places",
    "size",       "step",        "down",         "across",       "inputs",    "result",
    "next",       "left_words",  "right_words",  "line",         "at",        "bytes",
    "rows",       "columns",     "page",         "from",         "nth",       "head",
    "query",      "key",         "score",        "scores",       "lse",       "delta",
    "weight",     "weights",     "greatest",     "factor",       "base",      "top",
    "total",      "mask",        "is_seen",      "received",     "row_part",  "first_row",
    "value_part", "column_part", "value_sums",   "adjoint_part", "pages",     "slice",
    "stage",      "stages",      "full",         "empty",        "arrived",   "tiles",
    "group",      "left_map",    "right_map",    "turn",         "turns",     "piece",
    "d",          "own_row",     "first_part",   "parts",        "chunk",     "row_kept",
    "other_kept", "own_lse",     "own_delta",    "last",         "by",        "and",
    "bitand",     "bitor",       "catch",        "class",        "compl",     "concept",
    "constexpr",  "decltype",    "delete",       "explicit",     "export",    "false",
    "friend",     "mutable",     "namespace",    "new",          "noexcept",  "not",
    "nullptr",    "operator",    "or",           "private",      "protected", "public",
    "requires",   "template",    "this",         "throw",        "true",      "try",
    "typeid",     "typename",    "using",        "virtual",      "xor",       "block",
    "e",          "each",        "first_column", "is_own",       "u0",        "u1",
    "u2",         NULL};

#define BACK_END                                                                                   \
  .dialect = &dialect_cuda, .words = words, .prepare = cuda_prepare_images,                        \
  .header = "nnc_cuda.h", .guard = "NNC_KERNELS", .host_header = "nnc_cuda_program.h",             \
  .has_matrix_units = true, .write_extern = cuda_write_extern, .write_kernel = write_kernel,       \
  .write_declaration = write_declaration, .launch_text = function_call_text,                       \
  .copy_function = "nnc_cuda_copy", .plan_merges = cuda_plan_merges,                               \
  .write_merged = cuda_write_merged, .write_part = write_part, .write_own = write_own

const BackEnd back_end_cuda = {BACK_END, .write_tables = write_tables};
const BackEnd back_end_cuda_cublaslt = {BACK_END, .write_tables = write_library_tables};
