/* The variants of contractions, among which --tune chooses (contract_wish.h). */
#include "backend/c/contract_wish.h"

/* The wish of a variant beside the model's grid: blocks half or twice as wide or high, the other way to read a side. */
static Wish wish_of(const ContractGrid *model, int64_t number) {
  switch (number) {
  case 1: return (Wish){.most_columns = model->n_block / 2};
  case 2: return (Wish){.most_rows = model->m_block / 2};
  case 3: return (Wish){.least_columns = 3 * model->n_block / 2};
  case 4: return (Wish){.least_rows = 3 * model->m_block / 2};
  case 5: return (Wish){.packs_b = model->pack_b ? -1 : 1};
  case 6: return (Wish){.packs_a = model->pack_a ? -1 : 1};
  default: return (Wish){0};
  }
}

enum { WISHES = 7 };

static bool are_alike(const ContractGrid *a, const ContractGrid *b) {
  return a->way == b->way && a->m_block == b->m_block && a->n_block == b->n_block &&
         a->k_block == b->k_block && a->pack_a == b->pack_a && a->pack_b == b->pack_b;
}

/* The grid of variant `number` of those that differ; how many there are, up to that. */
static int64_t find_variant(const Kernel *kernel, const WindowProduct *window, int64_t number,
                            ContractGrid *found) {
  const Wish none = {0};
  ContractGrid grids[WISHES] = {contract_wished_grid(kernel, window, &none)};
  int64_t count = 1;
  for (int64_t i = 1; i < WISHES && count <= number; i++) {
    const Wish wish = wish_of(&grids[0], i);
    ContractGrid grid = contract_wished_grid(kernel, window, &wish);
    bool is_new = grid.tasks > 0;
    for (int64_t k = 0; k < count; k++) is_new = is_new && !are_alike(&grid, &grids[k]);
    if (is_new) grids[count++] = grid;
  }
  *found = grids[number < count ? number : 0];
  return count;
}

ContractGrid contract_grid(const Kernel *kernel, const WindowProduct *window) {
  ContractGrid grid;
  find_variant(kernel, window, kernel->variant, &grid);
  return grid;
}

int64_t contract_variants(const Kernel *kernel, const WindowProduct *window) {
  ContractGrid grid;
  int64_t count = find_variant(kernel, window, WISHES, &grid);
  return grid.m * grid.n * grid.k > 0 ? count : 1;
}
