/* What writes contractions (contract.c), and convolutions as products (window.h): the parts of it that are
 * in files of their own. */
#ifndef NNC_BACKEND_C_CONTRACT_H
#define NNC_BACKEND_C_CONTRACT_H

#include "backend/c/kernels.h"
#include "backend/c/tiles.h"
#include "backend/c/window.h"

typedef struct ContractWriter {
  Arena *arena;
  KernelFunction *function;
  const Kernel *kernel;
  const WindowProduct *window; /* of a convolution; NULL: both sides are matrices */
  ContractGrid grid;
  DType sum;
  const AxisGroup *a, *b;   /* outer groups of the broadcast side and of the vector side */
  int m_axis, n_axis;       /* the kernel's first axes of m and n */
  int a_slot, b_slot;       /* operand numbers */
  bool rows_inner;          /* the epilogue's inner loop is over the tile's rows */
  bool whole_block;         /* sums of the whole task are kept: k is cut */
  bool is_one_piece;        /* of the depth: there is no loop over k */
  const char *left, *right; /* where the sides of the task's batch element begin */
  const char *packed;   /* what packed elements and their tiles are called: the sum's type, bf16 */
  const char *unit;     /* the suffix of what a matrix unit may do: "bf16", "x3", or NULL */
  const char *epilogue; /* its text; "" without one */
} ContractWriter;

/* Writes the function of a contraction, which stands for a convolution where `window` is there: its kernel
 * is the function's then. */
void contract_write_product(Code *code, KernelFunction *function, const WindowProduct *window);

/* Bytes of the panels of b in their whole depth, where it gains to keep them; else 0. */
int64_t contract_kept_bytes(const Kernel *kernel, const WindowProduct *window);
bool contract_packs_weights(const Kernel *kernel, const WindowProduct *window);

/* What both are made of. Fills in what follows from the function, the kernel and the window. */
void contract_prepare(ContractWriter *writer);
/* "NNC_FIXED_TILES(f32, NNC_TILE_ROWS, NNC_EVEN_PANELS, ", without the extents; what is done for a piece of the depth. */
const char *contract_tiles(const ContractWriter *writer);
const char *contract_piece(const ContractWriter *writer);

/* Where the tile's sums lie. */
const char *contract_tile_place(const ContractWriter *writer);
/* Where the tile's rows of a lie if they are not copied. */
const char *contract_rows_in_place(const ContractWriter *writer);

/* ---- contract_epilogue.c ---- */

/* The epilogue of a tile, its function, and a call of it for so many rows and columns from m and n on. */
const char *contract_epilogue(ContractWriter *writer);
void contract_write_epilogue(Code *code, const ContractWriter *writer);
const char *contract_epilogue_call(const ContractWriter *writer, const char *tile, const char *m,
                                   const char *rows, const char *cols);
/* How far rows of a tile's sums are apart, as C. */
const char *contract_tile_row(const ContractWriter *writer);
/* Its accesses that are contiguous along an axis of the kernel. */
int contract_smooth_accesses(const ContractWriter *writer, int axis);
/* What ends a task where the epilogue stores past the caches, else "". */
const char *contract_stream_end(const ContractWriter *writer);

/* ---- contract_thin.c ---- */

/* What a task does whose product has no tiles (CONTRACT_DOTS, CONTRACT_AXPY, CONTRACT_LINES). */
const char *contract_thin(const ContractWriter *writer);

/* ---- contract_ahead.c ---- */

/* Declares `ahead`, what is fetched while a tile is summed (nnc_ahead of nnc_gemm.h); "" for nothing. */
const char *contract_ahead(const ContractWriter *writer);
/* How the tile is told of what contract_ahead declares. */
const char *contract_ahead_pointer(const ContractWriter *writer, const char *ahead);

/* ---- contract_pack.c ---- */

/* The offset that element `flat` of a group has in an operand. */
const char *contract_offset(Arena *arena, const AxisGroup *group, int slot, const char *flat);
/* Lines inside of a block. */
const char *contract_indented(Arena *arena, const char *lines);
/* "m * 784", "m". */
const char *contract_place(Arena *arena, const char *index, long long stride);
/* The whole depth of the task's batch, as an expression: phases of a convolution differ. */
const char *contract_whole_depth(const ContractWriter *writer);
/* The depth of a piece, as an expression. */
const char *contract_depth(const ContractWriter *writer);
/* "x + m * 784 + k": `place` in a matrix, and where the piece of the depth begins there, `depth_stride` from one k to
 * the next. */
const char *contract_from(const ContractWriter *writer, const char *matrix, const char *place,
                          long long depth_stride);
/* The stride of a group of one axis, or of a linear one (axis_group_is_linear). */
long long contract_stride(const AxisGroup *group, int slot);
const char *contract_packed_type(const ContractWriter *writer);
/* What the functions are called that pack elements of this type: nnc_pack_block_NAME, nnc_window_rows_NAME. */
const char *contract_pack_name(const ContractWriter *writer, DType from);
/* The call that ends the packing of a for a matrix unit; `row`: packed elements from a row to the next. */
const char *contract_left_end(const ContractWriter *writer, const char *row);
/* Statements that pack what a task reads of a and of b. */
const char *contract_pack_a(const ContractWriter *writer);
const char *contract_pack_b(const ContractWriter *writer);
/* Fills the panels with the columns [n_first, n_end) at the depth of [k, k + depth). */
const char *contract_pack_columns(const ContractWriter *writer);
/* What fills the panels of b that are kept, and returns, where the worker is told to; else nothing. */
const char *contract_fill(const ContractWriter *writer);
/* Declares the panel that a tile reads; how far its rows are apart. */
const char *contract_panel(const ContractWriter *writer);
const char *contract_panel_row(const ContractWriter *writer);

/* ---- contract_window.c: of convolutions ---- */

/* Tables of the windows and their taps, and how deep each batch is. */
const char *window_tables(const ContractWriter *writer);
const char *window_depth(const ContractWriter *writer);
/* Declares the batch of a task, where there are phases: in the order in which tasks take them. */
const char *window_batch(const ContractWriter *writer);
/* Whether tiles read what windows see from lines, without a copy for the taps (nnc_seen_tile_f32); what a task does then,
 * and after each tile. */
bool window_reads_runs(const ContractWriter *writer);
const char *window_lines_piece(const ContractWriter *writer, const char *tile_done);
/* Statements that pack what is read through the windows, as rows or as columns; and the weights. */
const char *window_pack_rows(const ContractWriter *writer);
const char *window_pack_columns(const ContractWriter *writer);
const char *window_pack_weights(const ContractWriter *writer);
/* The statement by which a tile asks for a share of what the block packs next of what is read through the windows. */
const char *window_fetch(const ContractWriter *writer);
/* Leaves out positions beyond the result, which phases may have. */
void window_write_guard(const ContractWriter *writer, Code *code);

#endif
