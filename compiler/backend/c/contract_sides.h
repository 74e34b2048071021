/* How the sides of a contraction are read, and what that costs: what the cost model of tiles_contract.c adds up. */
#ifndef NNC_BACKEND_C_CONTRACT_SIDES_H
#define NNC_BACKEND_C_CONTRACT_SIDES_H

#include "kernel/kernel.h"

enum { VECTOR = 16 /* elements that a clock multiplies and adds */ };

typedef struct Side { /* of a contraction, seen as a matrix [outer, k] */
  const AxisGroup *outer;
  int slot;
  DType dtype;
} Side;

Side contract_left(const Kernel *kernel);
Side contract_right(const Kernel *kernel);

/* Clocks to copy an element beside its neighbours, and how many times as many from memory or the last cache. */
static const double COPY_CLOCKS = .7, FAR_TIMES = 2;

/* Whether the loop of a tile can read the elements of a side where they lie, one by one;
 * and whether it can load vectors of them along `outer`. */
bool side_is_in_place(const Kernel *kernel, Side side);
bool side_has_vectors(const Kernel *kernel, Side side);
/* Each row of a side in place is a line of memory along k. */
bool side_has_lines(const Kernel *kernel, Side side);
/* How many times as long as from a near cache its rows take. */
double side_distance(const Kernel *kernel, Side side);
/* The step in memory of the last axis of a group; 1: it has none. */
int64_t side_inner_stride(const AxisGroup *group, int slot);
/* Whether it costs less to have the kernel's n along the rows of a tile, and m along its vectors. */
bool contract_swaps(const Kernel *kernel);

/* Clocks of an element that is packed, and shares of a clock of each multiply-add, of sides as they are. */
typedef struct SideCosts {
  double pack_a, pack_b, a_share, b_share;
  bool must_pack_a, must_pack_b;
} SideCosts;
SideCosts contract_side_costs(const Kernel *kernel, Side a, Side b);

#endif
