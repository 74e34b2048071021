/* Convolutions of few taps by Winograd's minimal filtering, with channels last.
 *
 * A tile is a rectangle of neighbouring results, along each axis as nnc_winograd_axis.h has them: with the places d, the
 * taps g and the results y of one channel, and along the second axis matrices from the right
 *
 *     y = A' [ (G g G') * (B' d B) ] A          * element by element, ' transposed
 *
 * The sum over channels goes over the products in brackets: 16 for 2 x 2 results of 3 x 3 taps, where a direct convolution
 * has 36; 36 for 4 x 4 of 3 x 3, which are 144 directly, and for 2 x 2 of 5 x 5, which are 100. The gradient in the taps is
 * the same form backwards: G' [ (B' d B) * (A y A') ] G, summed over all tiles.
 *
 * Taps along a third axis, before the two, are planes of taps: their sums go over the channels of so many slices.
 *
 * Vectors are of channels, whose number is a multiple of 16 and so of all vectors. What belongs to one
 * of the products lies together: [products][tiles][channels]. */
#ifndef NNC_WINOGRAD_H
#define NNC_WINOGRAD_H

#include "nnc_half.h"
#include "nnc_winograd_axis.h"

/* Both axes of a tile, and whether its places, gradients and weights are bf16 in memory, else f32: constants of a kernel. */
typedef struct nnc_winograd_tile {
  nnc_winograd_axis axis[2];
  bool is_half;
} nnc_winograd_tile;

NNC_INLINE const void *nnc_winograd_at(nnc_winograd_tile tile, const void *from, int64_t element) {
  return (const char *)from + element * (int64_t)(tile.is_half ? sizeof(uint16_t) : sizeof(float));
}

NNC_INLINE nnc_vec_f32 nnc_winograd_load(nnc_winograd_tile tile, const void *from) {
  if (!tile.is_half) return nnc_load_f32(from);
  uint16_t bits[NNC_LANES_f32];
  float wide[NNC_LANES_f32];
  memcpy(bits, from, sizeof bits);
  for (int i = 0; i < NNC_LANES_f32; i++) wide[i] = nnc_from_bf16(bits[i]);
  return nnc_load_f32(wide);
}

/* A plane of places of one image, and the tiles of some of its rows. */
typedef struct nnc_winograd_tiles {
  const void *from;  /* place 0, channel 0 */
  int64_t channels;  /* from a place to the next */
  int64_t extent[2]; /* places */
  int64_t
      low[2]; /* zeros before them: tile (r, t) begins at place size r - low[0], size t - low[1] */
  int64_t first, rows;  /* of tiles */
  int64_t columns;      /* tiles of a row */
  int64_t count;        /* channels to do */
  float *to;            /* [products][...][row]: of a product from a tile to the next ... */
  int64_t row, product; /* ... and from a product to the next */
} nnc_winograd_tiles;

static const float nnc_winograd_zeros[NNC_LANES_f32] NNC_ALIGNED = {0};

/* B' of one column of places: `line` are the lines' first elements, NULL outside. */
NNC_INLINE void nnc_winograd_column(nnc_winograd_tile tile, const void *const line[], int64_t at,
                                    bool inside, nnc_vec_f32 to[]) {
  const nnc_winograd_axis down = tile.axis[0];
  nnc_vec_f32 d[NNC_WINOGRAD_PLACES];
  NNC_UNROLL for (int i = 0; i < nnc_winograd_places_of(down); i++) d[i] = nnc_winograd_load(
      tile, inside && line[i] ? nnc_winograd_at(tile, line[i], at) : nnc_winograd_zeros);
  nnc_winograd_places(down, d, to);
}

/* B' d B of all tiles. A tile's first columns are the last ones of the tile before. */
NNC_INLINE void nnc_winograd_source(const nnc_winograd_tiles *tiles, nnc_winograd_tile tile) {
  enum { MOST = NNC_WINOGRAD_PLACES };
  const nnc_winograd_axis down = tile.axis[0], across = tile.axis[1];
  const int high = nnc_winograd_places_of(down), wide = nnc_winograd_places_of(across);
  const int again = across.taps - 1; /* columns */
  for (int64_t r = 0; r < tiles->rows; r++)
    for (int64_t c = 0; c < tiles->count; c += NNC_LANES_f32) {
      const void *line[MOST];
      const int64_t x = down.size * (tiles->first + r) - tiles->low[0];
      for (int i = 0; i < high; i++)
        line[i] = nnc_within(x + i, tiles->extent[0])
                      ? nnc_winograd_at(tile, tiles->from,
                                        (x + i) * tiles->extent[1] * tiles->channels + c)
                      : NULL;
      float *to = tiles->to + r * tiles->columns * tiles->row + c;
      nnc_vec_f32 t[MOST][MOST]; /* [column][product] */
      int64_t at = -tiles->low[1];
      NNC_UNROLL for (int j = 0; j < again; j++, at++) nnc_winograd_column(
          tile, line, at * tiles->channels, nnc_within(at, tiles->extent[1]), t[j]);
      for (int64_t k = 0; k < tiles->columns; k++, to += tiles->row) {
        NNC_UNROLL for (int j = again; j < wide; j++, at++) nnc_winograd_column(
            tile, line, at * tiles->channels, nnc_within(at, tiles->extent[1]), t[j]);
        NNC_UNROLL for (int i = 0; i < high; i++) {
          nnc_vec_f32 d[MOST], u[MOST];
          NNC_UNROLL for (int j = 0; j < wide; j++) d[j] = t[j][i];
          nnc_winograd_places(across, d, u);
          NNC_UNROLL for (int j = 0; j < wide; j++)
              nnc_store_f32(to + (wide * i + j) * tiles->product, u[j]);
        }
        NNC_UNROLL for (int j = 0; j < again; j++) NNC_UNROLL for (int i = 0; i < high; i++)
            t[j][i] = t[j + across.size][i];
      }
    }
}

/* Whether all channels of a place are 0. Mostly one of the first few is not. */
NNC_INLINE bool nnc_winograd_is_blank(nnc_winograd_tile tile, const void *place, int64_t channels) {
  enum { WORDS = 4 };
  const uint64_t magnitude = tile.is_half ? UINT64_C(0x7fff7fff7fff7fff) /* without signs */
                                          : UINT64_C(0x7fffffff7fffffff);
  const int64_t own = WORDS * (int64_t)sizeof(uint64_t) / (tile.is_half ? 2 : 4);
  NNC_ROLLED for (int64_t c = 0; c < channels; c += own) {
    uint64_t words[WORDS];
    memcpy(words, nnc_winograd_at(tile, place, c), sizeof words);
    if (((words[0] | words[1] | words[2] | words[3]) & magnitude) != 0) return false;
  }
  return true;
}

/* Adds a line of places to `seen`, as bit `number` of each column: whether the place is no zero. */
NNC_INLINE void nnc_winograd_see(const nnc_winograd_tiles *tiles, nnc_winograd_tile tile,
                                 int64_t line, int number, uint8_t *seen) {
  const int64_t first = line * tiles->extent[1] * tiles->channels;
  NNC_ROLLED for (int64_t at = 0; at < tiles->extent[1]; at++) {
    const void *place = nnc_winograd_at(tile, tiles->from, first + at * tiles->channels);
    seen[at] |= (uint8_t)(!nnc_winograd_is_blank(tile, place, tiles->count) << number);
  }
}

/* Which results of tile k see zeros alone: of result (i, j) the bit i * size + j, with the size across. `seen` has a byte for
 * each column of places: the tile's lines whose place in this column is no zero. */
NNC_INLINE unsigned nnc_winograd_blanks_of(nnc_winograd_axis down, nnc_winograd_axis across,
                                           int64_t first, int64_t extent, const uint8_t *seen) {
  const unsigned window = (1u << down.taps) - 1;
  unsigned blank = 0;
  for (int j = 0; j < across.size; j++) {
    unsigned lines = 0;
    for (int tap = 0; tap < across.taps; tap++)
      if (nnc_within(first + j + tap, extent)) lines |= seen[first + j + tap];
    for (int i = 0; i < down.size; i++)
      if ((lines >> i & window) == 0) blank |= 1u << (i * across.size + j);
  }
  return blank;
}

/* The same of all tiles, of planes of so many results: by 6 places these would be rounding errors of what else is in their
 * tiles. `seen` is work space. A tile is done with at once where no place that it sees is blank, and each of its windows
 * sees one. */
NNC_INLINE void nnc_winograd_blanks(const nnc_winograd_tiles *tiles, nnc_winograd_tile tile,
                                    const int64_t results[2], uint8_t *seen, uint16_t *to) {
  const nnc_winograd_axis down = tile.axis[0], across = tile.axis[1];
  const int high = nnc_winograd_places_of(down), wide = nnc_winograd_places_of(across);
  const int64_t extent = tiles->extent[1];
  for (int64_t r = 0; r < tiles->rows; r++) {
    const int64_t y = down.size * (tiles->first + r), x = y - tiles->low[0];
    unsigned inside = 0;
    for (int i = 0; i < high; i++) inside |= (unsigned)nnc_within(x + i, tiles->extent[0]) << i;
    for (int64_t at = 0; at < extent; at++) seen[at] = r > 0 ? (uint8_t)(seen[at] >> down.size) : 0;
    for (int i = r > 0 ? high - down.size : 0; i < high; i++)
      if (inside >> i & 1) nnc_winograd_see(tiles, tile, x + i, i, seen);
    const bool sees_lines =
        x + down.taps > 0 && x + nnc_least(down.size, results[0] - y) <= tiles->extent[0];
    NNC_ROLLED for (int64_t k = 0; k < tiles->columns; k++) {
      const int64_t first = across.size * k - tiles->low[1];
      const int64_t own = nnc_least(across.size, results[1] - across.size * k);
      unsigned common = inside;
      NNC_UNROLL for (int j = 0; j < wide; j++) common &=
          nnc_within(first + j, extent) ? seen[first + j] : inside;
      const bool is_full =
          common == inside && sees_lines && first + across.taps > 0 && first + own <= extent;
      *to++ = is_full ? 0 : (uint16_t)nnc_winograd_blanks_of(down, across, first, extent, seen);
    }
  }
}

/* Tiles that are being multiplied: of `rows` rows of results, which end there, of some images before `end`. What is
 * transformed after them has at most so many lines, and each of `shares` tiles of their products asks for a share of it:
 * what is read in wide steps no processor foresees, and while a tile is summed memory has nothing else to do. */
typedef struct nnc_winograd_block {
  int64_t image, images, end, rows;
  int64_t lines, shares;
} nnc_winograd_block;

/* Places that are transformed next. */
typedef struct nnc_winograd_ahead {
  const char *from;
  int64_t step, bytes; /* from a place to the next; of each */
  int64_t count, shares;
} nnc_winograd_ahead;

/* Planes of images: elements of so many bytes from a place to the next, and those of a place that are read. */
typedef struct nnc_winograd_planes {
  const void *from;
  int64_t size, extent[2], step, channels;
} nnc_winograd_planes;

/* From the line on that the block has not read, `read` after its last row. */
NNC_INLINE nnc_winograd_ahead nnc_winograd_next(const nnc_winograd_block *block,
                                                const nnc_winograd_planes *planes, int64_t read) {
  const int64_t *extent = planes->extent, step = planes->step * planes->size;
  const bool is_within = block->rows + read < extent[0];
  const int64_t line = is_within ? block->image * extent[0] + block->rows + read
                                 : (block->image + block->images) * extent[0];
  return (nnc_winograd_ahead){.from = (const char *)planes->from + line * extent[1] * step,
                              .step = step,
                              .bytes = planes->channels * planes->size,
                              .count = nnc_least(block->lines, block->end * extent[0] - line) *
                                       extent[1],
                              .shares = block->shares};
}

NNC_INLINE void nnc_winograd_fetch(const nnc_winograd_ahead *next, int64_t share) {
  enum { LINE = 64 /* bytes of a cache line */ };
  const int64_t lines = (next->bytes + LINE - 1) / LINE, all = next->count * lines;
  const int64_t own = (all + next->shares - 1) / next->shares;
  NNC_ROLLED for (int64_t i = share * own; i < nnc_least((share + 1) * own, all); i++)
      __builtin_prefetch(next->from + i / lines * next->step + i % lines * LINE, 0, 2);
}

/* A y A' of all tiles: y are the places where a tile's results lie, zero outside. */
NNC_INLINE void nnc_winograd_gradient(const nnc_winograd_tiles *tiles, nnc_winograd_tile tile) {
  enum { MOST = NNC_WINOGRAD_PLACES, SIZE = NNC_WINOGRAD_SIZE };
  const nnc_winograd_axis down = tile.axis[0], across = tile.axis[1];
  const int high = nnc_winograd_places_of(down), wide = nnc_winograd_places_of(across);
  for (int64_t r = 0; r < tiles->rows; r++)
    for (int64_t k = 0; k < tiles->columns; k++) {
      const int64_t x0 = down.size * (tiles->first + r), x1 = across.size * k;
      const void *from =
          nnc_winograd_at(tile, tiles->from, (x0 * tiles->extent[1] + x1) * tiles->channels);
      float *to = tiles->to + (r * tiles->columns + k) * tiles->row;
      const void *place[SIZE][SIZE]; /* NULL outside */
      for (int i = 0; i < down.size; i++)
        for (int j = 0; j < across.size; j++)
          place[i][j] =
              x0 + i < tiles->extent[0] && x1 + j < tiles->extent[1]
                  ? nnc_winograd_at(tile, from, (i * tiles->extent[1] + j) * tiles->channels)
                  : NULL;
      for (int64_t c = 0; c < tiles->count; c += NNC_LANES_f32) {
        nnc_vec_f32 t[SIZE][MOST]; /* [column][product] */
        NNC_UNROLL for (int j = 0; j < across.size; j++) {
          nnc_vec_f32 y[SIZE];
          NNC_UNROLL for (int i = 0; i < down.size; i++) y[i] = nnc_winograd_load(
              tile, place[i][j] ? nnc_winograd_at(tile, place[i][j], c) : nnc_winograd_zeros);
          nnc_winograd_widen(down, y, t[j]);
        }
        NNC_UNROLL for (int i = 0; i < high; i++) {
          nnc_vec_f32 y[SIZE], u[MOST];
          NNC_UNROLL for (int j = 0; j < across.size; j++) y[j] = t[j][i];
          nnc_winograd_widen(across, y, u);
          NNC_UNROLL for (int j = 0; j < wide; j++)
              nnc_store_f32(to + c + (wide * i + j) * tiles->product, u[j]);
        }
      }
    }
}

/* Sums of the products of tiles: [products][tiles][channels]. */
typedef struct nnc_winograd_sums {
  const float *from;
  int64_t product, row;    /* elements to the next product, and tile or row of weights */
  int64_t count, channels; /* tiles, or rows of weights */
  float *to;
  int64_t line,
      place; /* to the next line and place of a result; of weights, `place` to the next tap */
  const uint16_t
      *blank; /* of each tile, the results that are 0 (nnc_winograd_blanks); NULL: none */
} nnc_winograd_sums;

/* Makes results 0 that see zeros alone, and leaves what is not finite NaN: it comes from a weight. */
NNC_INLINE void nnc_winograd_clear(nnc_winograd_tile tile, unsigned blank, float *to, int64_t line,
                                   int64_t place) {
  const int across = tile.axis[1].size;
  for (int i = 0; i < tile.axis[0].size; i++)
    for (int j = 0; j < across; j++) {
      float *const at = to + i * line + j * place;
      if (blank >> (i * across + j) & 1) nnc_store_f32(at, nnc_load_f32(at) - nnc_load_f32(at));
    }
}

/* A' m A of a row of tiles. */
NNC_INLINE void nnc_winograd_results(const nnc_winograd_sums *sums, nnc_winograd_tile tile) {
  enum { MOST = NNC_WINOGRAD_PLACES, SIZE = NNC_WINOGRAD_SIZE };
  const nnc_winograd_axis down = tile.axis[0], across = tile.axis[1];
  const int high = nnc_winograd_places_of(down), wide = nnc_winograd_places_of(across);
  for (int64_t number = 0; number < sums->count; number++)
    for (int64_t c = 0; c < sums->channels; c += NNC_LANES_f32) {
      const float *m = sums->from + number * sums->row + c;
      float *to = sums->to + number * across.size * sums->place + c;
      nnc_vec_f32 t[MOST][SIZE];
      NNC_UNROLL for (int k = 0; k < wide; k++) {
        nnc_vec_f32 own[MOST];
        NNC_UNROLL for (int i = 0; i < high; i++) own[i] =
            nnc_load_f32(m + (wide * i + k) * sums->product);
        nnc_winograd_sums_of(down, own, t[k]);
      }
      NNC_UNROLL for (int i = 0; i < down.size; i++) {
        nnc_vec_f32 row[MOST], y[SIZE];
        NNC_UNROLL for (int k = 0; k < wide; k++) row[k] = t[k][i];
        nnc_winograd_sums_of(across, row, y);
        NNC_UNROLL for (int j = 0; j < across.size; j++)
            nnc_store_f32(to + i * sums->line + j * sums->place, y[j]);
      }
      if (sums->blank && sums->blank[number])
        nnc_winograd_clear(tile, sums->blank[number], to, sums->line, sums->place);
    }
}

/* Where a sum is less than the rounding errors of its terms, it becomes 0: of the vectors of one row at `from` and `to`. */
NNC_SHARED void nnc_winograd_settle(nnc_winograd_tile tile, const float *from, int64_t product,
                                    float *to, int64_t place) {
  enum { MOST = NNC_WINOGRAD_PLACES, TAPS = NNC_WINOGRAD_TAPS };
  const nnc_winograd_axis down = tile.axis[0], across = tile.axis[1];
  const int high = nnc_winograd_places_of(down), wide = nnc_winograd_places_of(across);
  nnc_vec_f32 own[MOST], most[MOST][TAPS], magnitudes[TAPS];
  for (int k = 0; k < wide; k++) {
    for (int i = 0; i < high; i++)
      own[i] = nnc_winograd_magnitude(nnc_load_f32(from + (wide * i + k) * product));
    nnc_winograd_join_magnitudes(down, own, most[k]);
  }
  for (int i = 0; i < down.taps; i++) {
    for (int k = 0; k < wide; k++) own[k] = most[k][i];
    nnc_winograd_join_magnitudes(across, own, magnitudes);
    for (int j = 0; j < across.taps; j++) {
      float *const at = to + (across.taps * i + j) * place;
      nnc_store_f32(at, nnc_winograd_certain(nnc_load_f32(at), magnitudes[j]));
    }
  }
}

NNC_INLINE bool nnc_winograd_has_one(nnc_vec_i32 x) {
  int32_t lanes[NNC_LANES_i32], any = 0;
  nnc_store_i32(lanes, x);
  for (int i = 0; i < NNC_LANES_i32; i++) any |= lanes[i];
  return any != 0;
}

/* G' u G of rows of weights. Under a tap whose places and gradients are never both other than 0 the sum is 0, but its
 * terms are those of the other taps: what is left of these is rounding error, which an optimizer that divides by the
 * gradient's size, as Adam does, would follow as far as any gradient. So what is as small as that error is 0. Few sums
 * are less than it can be of terms with this sum of squares: these are looked at. */
NNC_INLINE void nnc_winograd_taps(const nnc_winograd_sums *sums, nnc_winograd_tile tile) {
  enum { MOST = NNC_WINOGRAD_PLACES, TAPS = NNC_WINOGRAD_TAPS };
  const nnc_winograd_axis down = tile.axis[0], across = tile.axis[1];
  const int high = nnc_winograd_places_of(down), wide = nnc_winograd_places_of(across);
  const float most = NNC_WINOGRAD_ERROR * NNC_WINOGRAD_ERROR * nnc_winograd_join_square(down) *
                     nnc_winograd_join_square(across);
  for (int64_t number = 0; number < sums->count; number++)
    for (int64_t c = 0; c < sums->channels; c += NNC_LANES_f32) {
      const int64_t at = number * sums->row + c;
      nnc_vec_f32 t[MOST][TAPS];
      nnc_vec_f32 squares = {0};
      nnc_vec_i32 small = {0};
      NNC_UNROLL for (int k = 0; k < wide; k++) {
        nnc_vec_f32 own[MOST];
        NNC_UNROLL for (int i = 0; i < high; i++) {
          own[i] = nnc_load_f32(sums->from + (wide * i + k) * sums->product + at);
          squares += own[i] * own[i];
        }
        nnc_winograd_join(down, own, t[k]);
      }
      const nnc_vec_f32 error = nnc_splat_f32(most) * squares;
      NNC_UNROLL for (int i = 0; i < down.taps; i++) {
        nnc_vec_f32 row[MOST], g[TAPS];
        NNC_UNROLL for (int k = 0; k < wide; k++) row[k] = t[k][i];
        nnc_winograd_join(across, row, g);
        NNC_UNROLL for (int j = 0; j < across.taps; j++) {
          nnc_store_f32(sums->to + (across.taps * i + j) * sums->place + at, g[j]);
          small |= (nnc_vec_i32)(g[j] * g[j] < error);
        }
      }
      if (nnc_winograd_has_one(small))
        nnc_winograd_settle(tile, sums->from + at, sums->product, sums->to + at, sums->place);
    }
}

/* Weights for the register tile: columns in panels as wide as it. */
typedef struct nnc_winograd_weights {
  const void *from;
  int64_t column, depth, tap; /* elements to the next column, channel of the sum, tap */
  bool is_turned;             /* the taps from the last to the first */
  int64_t planes;             /* of taps */
  int64_t columns, channels;  /* of the result; of the sum, for a plane of taps */
  int64_t width;              /* of a panel */
  float *to; /* [panel][products][planes][channels][width], zeros after the last column */
} nnc_winograd_weights;

NNC_INLINE float nnc_winograd_number(nnc_winograd_tile tile, const void *from, int64_t element) {
  return tile.is_half ? nnc_from_bf16(((const uint16_t *)from)[element])
                      : ((const float *)from)[element];
}

/* Columns [n, n + width) of one channel and plane of taps as [taps][width], zeros after the last one. */
NNC_INLINE void nnc_winograd_gather(const nnc_winograd_weights *weights, nnc_winograd_tile tile,
                                    int64_t plane, int64_t n, int64_t c, float *to) {
  const int64_t width = weights->width, own = nnc_least(width, weights->columns - n);
  const int64_t taps = tile.axis[0].taps * tile.axis[1].taps, all = weights->planes * taps;
  for (int tap = 0; tap < taps; tap++) {
    const int64_t number = plane * taps + tap;
    const void *of =
        nnc_winograd_at(tile, weights->from,
                        n * weights->column + c * weights->depth +
                            (weights->is_turned ? all - 1 - number : number) * weights->tap);
    if (weights->column == 1)
      for (int64_t k = 0; k < own; k++) to[tap * width + k] = nnc_winograd_number(tile, of, k);
    else
      for (int64_t k = 0; k < own; k++)
        to[tap * width + k] = nnc_winograd_number(tile, of, k * weights->column);
    for (int64_t k = own; k < width; k++) to[tap * width + k] = 0;
  }
}

/* G g G' of all weights. */
NNC_INLINE void nnc_winograd_pack(const nnc_winograd_weights *weights, nnc_winograd_tile tile) {
  enum {
    MOST = NNC_WINOGRAD_PLACES,
    TAPS = NNC_WINOGRAD_TAPS,
    WIDTH = NNC_TILE_VECTORS * NNC_LANES_f32
  };
  const nnc_winograd_axis down = tile.axis[0], across = tile.axis[1];
  const int high = nnc_winograd_places_of(down), wide = nnc_winograd_places_of(across);
  const int64_t width = weights->width, sum = weights->planes * weights->channels;
  float taps[TAPS * TAPS * WIDTH] NNC_ALIGNED;
  for (int64_t n = 0; n < weights->columns; n += width)
    for (int64_t c = 0; c < sum; c++) {
      float *to = weights->to + n * sum * (high * wide) + c * width;
      nnc_winograd_gather(weights, tile, c / weights->channels, n, c % weights->channels, taps);
      for (int64_t k = 0; k < width; k += NNC_LANES_f32) {
        nnc_vec_f32 g[TAPS], t[TAPS][MOST], u[MOST];
        NNC_UNROLL for (int i = 0; i < across.taps; i++) {
          NNC_UNROLL for (int r = 0; r < down.taps; r++) g[r] =
              nnc_load_f32(taps + (across.taps * r + i) * width + k);
          nnc_winograd_spread(down, g, t[i]);
        }
        NNC_UNROLL for (int r = 0; r < high; r++) {
          NNC_UNROLL for (int i = 0; i < across.taps; i++) g[i] = t[i][r];
          nnc_winograd_spread(across, g, u);
          NNC_UNROLL for (int i = 0; i < wide; i++)
              nnc_store_f32(to + (wide * r + i) * sum * width + k, u[i]);
        }
      }
    }
}

/* ---- tiles of 6 x 6 places ----
 *
 * Their functions are large and shared by all kernels: of 4 x 4 results of 3 x 3 taps nnc_winograd_source_4x4_3x3_f32 and
 * _bf16, nnc_winograd_results_4x4_3x3 and so on. Those of 2 x 2 results, which do little for a call, would take 3 to 5 %
 * longer so. */
#define NNC_WINOGRAD_SQUARE(taps, size, is_half)                                                   \
  ((nnc_winograd_tile){{{taps, size}, {taps, size}}, is_half})
/* What reads memory. */
#define NNC_WINOGRAD_READERS(make, name, taps, size, is_half)                                      \
  make(nnc_winograd_source_##name, (const nnc_winograd_tiles *tiles),                              \
       nnc_winograd_source(tiles, NNC_WINOGRAD_SQUARE(taps, size, is_half));)                      \
      make(nnc_winograd_gradient_##name, (const nnc_winograd_tiles *tiles),                        \
           nnc_winograd_gradient(tiles, NNC_WINOGRAD_SQUARE(taps, size, is_half));)                \
          make(nnc_winograd_blanks_##name,                                                         \
               (const nnc_winograd_tiles *tiles, const int64_t results[2], uint8_t *seen,          \
                uint16_t *to),                                                                     \
               nnc_winograd_blanks(tiles, NNC_WINOGRAD_SQUARE(taps, size, is_half), results, seen, \
                                   to);)                                                           \
              make(nnc_winograd_pack_##name, (const nnc_winograd_weights *weights),                \
                   nnc_winograd_pack(weights, NNC_WINOGRAD_SQUARE(taps, size, is_half));)
/* What sums. */
#define NNC_WINOGRAD_SUMS(make, name, taps, size)                                                  \
  make(nnc_winograd_results_##name, (const nnc_winograd_sums *sums),                               \
       nnc_winograd_results(sums, NNC_WINOGRAD_SQUARE(taps, size, false));)                        \
      make(nnc_winograd_taps_##name, (const nnc_winograd_sums *sums),                              \
           nnc_winograd_taps(sums, NNC_WINOGRAD_SQUARE(taps, size, false));)

NNC_WINOGRAD_SUMS(NNC_COMMON, 4x4_3x3, 3, 4)
NNC_WINOGRAD_READERS(NNC_COMMON, 4x4_3x3_f32, 3, 4, false)
NNC_WINOGRAD_READERS(NNC_COMMON, 4x4_3x3_bf16, 3, 4, true)
NNC_WINOGRAD_SUMS(NNC_COMMON, 2x2_5x5, 5, 2)
NNC_WINOGRAD_READERS(NNC_COMMON, 2x2_5x5_f32, 5, 2, false)
NNC_WINOGRAD_READERS(NNC_COMMON, 2x2_5x5_bf16, 5, 2, true)

#endif
