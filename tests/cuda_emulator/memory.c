/* Pieces in the order of their addresses. A piece is [guard][edge, bytes, edge][guard]: the bytes
 * begin at a multiple of 256, as the driver's do, so up to 255 bytes lie between their end and the
 * guard; these and those of the first page before the bytes keep 0xff. */
#include "memory.h"

#include "fault.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum { PAGE = 4096, ALIGNMENT = 256 };
/* More device memory than this stays open to the host: closing takes time by the page. */
static const size_t most_closed = (size_t)16 << 20;

typedef struct Piece {
  char *map;       /* with both guards */
  size_t map_size; /* a multiple of the page */
  char *begin;
  size_t size;
  MemoryKind kind;
  bool is_free;
} Piece;

static Piece *pieces;
static int piece_count, piece_room;
static size_t used;
static int open_count;

size_t memory_used(void) { return used; }

size_t memory_total(void) {
  static size_t total;
  if (!total) {
    const char *text = getenv("NNC_EMULATOR_MEMORY");
    double value = text ? strtod(text, NULL) : 0;
    total = value > 0 ? (size_t)value : (size_t)4 << 30;
  }
  return total;
}

static bool is_closing(void) { return used <= most_closed; }

static void protect(const Piece *piece, int protection) {
  mprotect(piece->map + PAGE, piece->map_size - 2 * PAGE, protection);
}

void memory_open(void) {
  if (open_count++) return;
  for (int i = 0; i < piece_count; i++) {
    const Piece *piece = &pieces[i];
    if (piece->kind == MEMORY_DEVICE && !piece->is_free) protect(piece, PROT_READ | PROT_WRITE);
  }
}

void memory_close(void) {
  if (--open_count || !is_closing()) return;
  for (int i = 0; i < piece_count; i++) {
    const Piece *piece = &pieces[i];
    if (piece->kind == MEMORY_DEVICE && !piece->is_free) protect(piece, PROT_NONE);
  }
}

/* The number of pieces whose maps begin at or before the address. */
static int place_of(const void *at) {
  int low = 0, high = piece_count;
  while (low < high) {
    int middle = (low + high) / 2;
    if ((uintptr_t)pieces[middle].map <= (uintptr_t)at) low = middle + 1;
    else high = middle;
  }
  return low;
}

/* The piece whose map has the address, or NULL. */
static Piece *find(const void *at) {
  int place = place_of(at);
  if (!place) return NULL;
  Piece *piece = &pieces[place - 1];
  return (uintptr_t)at - (uintptr_t)piece->map < piece->map_size ? piece : NULL;
}

static void insert(Piece piece) {
  if (piece_count == piece_room) {
    piece_room = piece_room ? 2 * piece_room : 64;
    pieces = realloc(pieces, (size_t)piece_room * sizeof *pieces);
    if (!pieces) abort();
  }
  int place = place_of(piece.map);
  memmove(pieces + place + 1, pieces + place, (size_t)(piece_count - place) * sizeof *pieces);
  pieces[place] = piece;
  piece_count++;
}

void *memory_allocate(size_t bytes, MemoryKind kind) {
  if (kind == MEMORY_DEVICE && (bytes > memory_total() || used > memory_total() - bytes))
    return NULL;
  size_t rounded = (bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
  size_t inner = (rounded + PAGE - 1) / PAGE * PAGE;
  char *map =
      mmap(NULL, inner + 2 * PAGE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (map == MAP_FAILED) return NULL;
  mprotect(map + PAGE, inner, PROT_READ | PROT_WRITE);
  memset(map + PAGE, 0xff, inner);
  Piece piece = {.map = map, .map_size = inner + 2 * PAGE, .size = bytes, .kind = kind};
  piece.begin = map + PAGE + inner - rounded;
  insert(piece);
  if (kind == MEMORY_DEVICE) {
    used += bytes;
    if (is_closing() && !open_count) protect(&piece, PROT_NONE);
  }
  return piece.begin;
}

bool memory_free(void *at, MemoryKind kind) {
  Piece *piece = find(at);
  if (!piece || piece->begin != at || piece->is_free || piece->kind != kind) return false;
  protect(piece, PROT_NONE);
  madvise(piece->map + PAGE, piece->map_size - 2 * PAGE, MADV_DONTNEED);
  piece->is_free = true;
  if (kind == MEMORY_DEVICE) used -= piece->size;
  return true;
}

bool memory_has(const void *at, size_t bytes, MemoryKind kind) {
  const Piece *piece = find(at);
  if (!piece || piece->is_free || piece->kind != kind) return false;
  return (uintptr_t)at >= (uintptr_t)piece->begin && bytes <= piece->size &&
         (uintptr_t)at - (uintptr_t)piece->begin <= piece->size - bytes;
}

bool memory_is_device(const void *at) {
  const Piece *piece = find(at);
  return piece && piece->kind == MEMORY_DEVICE;
}

void memory_describe(char *to, size_t size, const void *at) {
  const Piece *piece = find(at);
  if (!piece) {
    snprintf(to, size, "it is in no memory of the device");
    return;
  }
  intptr_t offset = (const char *)at - piece->begin, past = offset - (intptr_t)piece->size;
  const char *name = piece->is_free                 ? "freed memory"
                     : piece->kind == MEMORY_PINNED ? "pinned memory"
                                                    : "device memory";
  if (offset < 0) {
    snprintf(to, size, "%td bytes before %s of %zu bytes", -offset, name, piece->size);
  } else if (past >= 0) {
    snprintf(to, size, "%td bytes past the end of %s of %zu bytes", past, name, piece->size);
  } else {
    snprintf(to, size, "byte %td of %s of %zu bytes", offset, name, piece->size);
  }
}

static bool is_filled(const char *begin, const char *end) {
  for (; begin < end; begin++) {
    if (*begin != (char)0xff) return false;
  }
  return true;
}

void memory_check_edges(const char *kernel) {
  for (int i = 0; i < piece_count; i++) {
    const Piece *piece = &pieces[i];
    if (piece->is_free) continue;
    const char *end = piece->map + piece->map_size - PAGE;
    if (!is_filled(piece->map + PAGE, piece->begin)) {
      fault("kernel %s stored before memory of %zu bytes", kernel, piece->size);
    }
    if (!is_filled(piece->begin + piece->size, end)) {
      fault("kernel %s stored past the end of memory of %zu bytes", kernel, piece->size);
    }
  }
}
