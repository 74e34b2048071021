/* A grid of a contraction that differs from what the cost model would choose: variants ask for such (tiles_contract.c,
 * contract_variants.c). */
#ifndef NNC_BACKEND_C_CONTRACT_WISH_H
#define NNC_BACKEND_C_CONTRACT_WISH_H

#include "backend/c/tiles.h"
#include "backend/c/window.h"

/* What a variant asks for that the cost model would not choose. */
typedef struct Wish {
  int64_t most_rows, most_columns, least_rows, least_columns; /* of a block; 0: any */
  int packs_a, packs_b; /* 1: it does, -1: it does not, 0: either */
} Wish;

ContractGrid contract_wished_grid(const Kernel *kernel, const WindowProduct *window,
                                  const Wish *wish);

#endif
