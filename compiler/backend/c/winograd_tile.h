/* Tiles of Winograd's minimal filtering (runtime/abi/nnc_winograd.h). A convolution has two axes that tiles lie along, and
 * before them one of slices if it has three. */
#ifndef NNC_BACKEND_C_WINOGRAD_TILE_H
#define NNC_BACKEND_C_WINOGRAD_TILE_H

#include "backend/c/kernels.h"

enum { WINOGRAD_VECTOR = 16 /* channels come in whole vectors of any instruction set */ };

/* Along both axes the taps and the results of a tile; the places that these see, each of which is a product. */
typedef struct WinogradTile {
  int64_t taps[2], size[2], products;
} WinogradTile;

/* The last two of a convolution's extents. A convolution along one axis has no second one: its places follow each other
 * as lines. */
void winograd_axes(const ConvSlots *slots, const int64_t *extents, int64_t absent, int64_t to[2]);
/* The extent before them. */
int64_t winograd_slices(const ConvSlots *slots, const int64_t *extents, int64_t absent);
/* Planes of results of all images. */
int64_t winograd_planes(const ConvSlots *slots);

/* The tiles of a plane. */
int64_t winograd_tiles(const WinogradTile *tile, const int64_t results[2]);
/* The tile for sums whose weights are not transformed. Of 3 x 3 taps those of 4 x 4 results have 2.25 products a result,
 * those of 2 x 2 have 4, but more of a large tile lies outside of a small plane, and it takes longer to transform. */
WinogradTile winograd_tile(const ConvSlots *slots, const int64_t results[2]);
/* That of a kernel: the same whether it keeps its weights or not, so that bits do not depend on it. Those of one picture
 * may be kept, and few are worth large tiles then. */
WinogradTile winograd_tile_of(const Kernel *kernel, const int64_t results[2]);

#endif
