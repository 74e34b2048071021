/* Lines that a product makes when a depthwise convolution reads them: fills codegen_templates/feed_lines.c.
 *
 * A worker holds as many lines as a position sees, in a ring: line x1 of the image has place x1 modulo their number. From
 * one line of results to the next it makes those that are new. Where its next task does not follow the one before, it
 * begins again. Each line is computed in the same way whoever does it, so the bits do not depend on who does which task. */
#include "backend/c/feed.h"

#include "backend/c/contract.h"
#include "backend/common/c.h"
#include "kernel/feed.h"
#include "support/integers.h"

enum {
  LEAST_LINE = 28,             /* positions: a line has some tiles, which read each panel */
  MOST_WEIGHT_BYTES = 64 << 10 /* they are read anew for each line */
};

/* The feeder as a product whose blocks are lines: each has all columns, and reads its rows where they are. */
static ContractWriter line_writer(Arena *arena, KernelFunction *function,
                                  const WindowProduct *product, int64_t positions) {
  ContractWriter writer = {
      .arena = arena, .function = function, .kernel = product->kernel, .window = product};
  contract_prepare(&writer);
  writer.grid.m_block = positions;
  writer.grid.m_blocks = writer.grid.n_blocks = 1;
  writer.grid.n_block = writer.grid.n;
  writer.grid.height = even_tile_height(positions);
  writer.grid.stores_tiles = writer.grid.pack_a = writer.grid.pack_b = false;
  return writer;
}

/* Whether the product's result is [rows][columns] as it lies in memory. */
static bool is_plain_result(const Kernel *product, int64_t columns) {
  int64_t base, coefficient[KERNEL_MAX_AXES];
  return product->axis_count == 2 &&
         index_is_affine(product->epilogue[0].index, 2, &base, coefficient) && base == 0 &&
         coefficient[0] == columns && coefficient[1] == 1;
}

static int64_t line_positions(const Kernel *kernel) {
  return kernel->conv.in[kernel->conv.spatial - 1];
}

bool feed_makes_lines(const Kernel *kernel, const Kernel *feeder, int64_t block) {
  const ConvSlots *conv = &kernel->conv;
  DType sum = kernel_sum_type(feeder);
  if (feeder->kind != KERNEL_CONV || !conv_is_product(feeder) || feeder->is_x3 ||
      feeder->conv.groups != 1 || !conv_has_last(feeder, 0) ||
      (sum != DTYPE_F32 && sum != DTYPE_F64) || feeder->operands[0].dtype != sum ||
      feeder->operands[1].dtype != sum || feeder->operands[feeder_result(feeder)].dtype != sum)
    return false;
  if (conv->spatial > 2 || block < conv->c || line_positions(kernel) < LEAST_LINE ||
      feeder->conv.c * feeder->conv.k * dtype_size(sum) > MOST_WEIGHT_BYTES)
    return false;
  Arena *arena = arena_create();
  WindowProduct product = window_product(arena, feeder);
  KernelFunction function = {.kernel = product.kernel,
                             .operands = ARENA_ARRAY(arena, const char *, feeder->operand_count)};
  for (int i = 0; i < feeder->operand_count; i++) function.operands[i] = "x";
  ContractWriter writer = line_writer(arena, &function, &product, line_positions(kernel));
  bool makes = product.side == WINDOW_NONE && !product.swap && writer.grid.batch == 1 &&
               product.kernel->contract.batch.count == 0 && writer.is_one_piece &&
               !writer.rows_inner && is_plain_result(product.kernel, writer.grid.n);
  arena_destroy(arena);
  return makes;
}

int64_t feed_kept_bytes(const Kernel *feeder) {
  Arena *arena = arena_create();
  WindowProduct product = window_product(arena, feeder);
  int64_t bytes = contract_grid(product.kernel, &product).kept_bytes;
  arena_destroy(arena);
  return bytes;
}

int64_t feed_sums_elements(void) { return TILE_MAX_ROWS * TILE_MAX_COLUMNS; }

/* The feeder as a function whose operands are the kernel's. */
static KernelFunction feeder_function(Arena *arena, const KernelFunction *function,
                                      const Kernel *product) {
  const Kernel *kernel = function->kernel;
  KernelFunction own = *function;
  own.kernel = product;
  own.name = arena_printf(arena, "%s_feed", function->name);
  own.operands = ARENA_ARRAY(arena, const char *, product->operand_count);
  own.alignments = ARENA_ARRAY(arena, int64_t, product->operand_count);
  for (int i = 0; i < product->operand_count; i++) {
    int place = kernel->feed[i];
    own.operands[i] = place < 0 ? "fed" : function->operands[place];
    own.alignments[i] = place < 0 || !function->alignments ? dtype_size(product->operands[i].dtype)
                                                           : function->alignments[place];
  }
  return own;
}

static FeedText feed_text(Arena *arena, const KernelFunction *own, const FeedRing *ring,
                          const char *piece, const char *type) {
  long long kept = (long long)ring->kept;
  const char *begin = arena_printf(
      arena,
      "NNC_EXTENTS(RING = %lld, EDGE = %lld); /* lines that are held; the first that line 0 sees "
      "*/\n"
      "%s *const feed_sums = (%s *)worker->scratch + %lld, *const ring = feed_sums + %lld;\n"
      "/* Of image `held` the ring has the last of the lines [begun, made). */\n"
      "int64_t held = -1, begun = 0, made = 0;\n",
      (long long)ring->lines, (long long)ring->first, type, type, (long long)ring->at,
      (long long)feed_sums_elements());
  const char *lines = arena_printf(
      arena,
      "const int64_t from_line = nnc_greatest(p1 * S1 + EDGE, 0);\n"
      "const int64_t to_line = nnc_least(p1 * S1 + EDGE + RING, X1);\n"
      "if (held != image || from_line < nnc_greatest(begun, made - RING) || from_line > made) {\n"
      "  held = image;\n"
      "  begun = made = from_line;\n"
      "}\n"
      "for (; made < to_line; made++) {\n"
      "  const int64_t row = (image * X1 + made) * X2;\n"
      "  %s *const fed = NNC_BEFORE(ring + made %% RING * (X2 * CHANNELS), row * CHANNELS);\n"
      "  %s_line(row, kept + %lld, feed_sums%s);\n"
      "}\n",
      type, own->name, kept, function_epilogue_arguments(arena, own, piece));
  return (FeedText){
      .fill =
          arena_printf(arena, "    %s_fill(%s, kept + %lld);\n", own->name, own->operands[1], kept),
      .begin = begin,
      .lines = lines,
      .line = arena_printf(arena,
                           "const %s *const line_of_x = ring + x1 %% RING * (X2 * CHANNELS) + "
                           "channel;",
                           type)};
}

FeedText feed_write(Code *code, const KernelFunction *function, const FeedRing *ring) {
  Arena *arena = code->arena;
  WindowProduct product = window_product(arena, function->kernel->feeder);
  KernelFunction own = feeder_function(arena, function, product.kernel);
  ContractWriter writer = line_writer(arena, &own, &product, line_positions(function->kernel));
  writer.epilogue = contract_epilogue(&writer);
  const char *piece = contract_piece(&writer), *type = c_value_type(writer.sum);
  contract_write_epilogue(code, &writer);
  TemplateHoles lines = {.arena = arena};
  template_add(&lines, "NAME", own.name);
  template_add(&lines, "TYPE", type);
  template_add(&lines, "WEIGHTS", own.operands[1]);
  template_add_integer(&lines, "M", writer.grid.m_block);
  template_add_integer(&lines, "N", writer.grid.n);
  template_add_integer(&lines, "K", writer.grid.k);
  template_add(&lines, "TILES", contract_tiles(&writer));
  template_add(&lines, "GROUPS", "NNC_EXTENTS(B_GROUP = K * NR + 16); /* no power of 2 apart */");
  template_add(&lines, "PACK", contract_pack_columns(&writer));
  function_add_epilogue(&lines, &own, piece); /* with the parameters that the piece mentions */
  template_render(code->out, "codegen_templates/feed_lines.c", &lines);
  text_add_char(code->out, '\n');
  return feed_text(arena, &own, ring, piece, type);
}
