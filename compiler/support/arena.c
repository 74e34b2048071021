/* Arenas: a list of chunks, the newest first, each filled from its beginning.
 *
 * Chunks come zeroed and are never used twice within an arena, so memory needs no clearing.  A
 * request too large for an ordinary chunk gets one of its own, put after the current chunk, whose
 * rest stays in use.
 *
 * The first chunks are small and come from calloc(). An arena that outgrows them takes huge ones: two
 * megabytes each, where a huge page of the processor begins, which the system is asked to use.
 * Then it clears a chunk at once, where ordinary pages interrupt the program 512 times; that was a
 * third of the time to elaborate a large network.
 *
 * The compiler tries many plans, each in an arena of its own.  Given back to the system and asked
 * for anew, clean pages cost as much time as what is computed in them. So freed huge chunks are kept for
 * the next arena, which clears what had been used, and the C library is told to keep the rest. */
#include "support/arena.h"

#include <limits.h>
#include <malloc.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "support/panic.h"
#include "support/sanitizer.h"
#include "support/vec.h"

enum {
  FIRST_CHUNK = 16 << 10,
  LARGEST_CHUNK = 128 << 10,
  HUGE_CHUNK = 2 << 20,
  MOST_KEPT = 256 << 20
};

/* The leak sanitizer looks for pointers only in what the C library gave. */
static const bool has_huge = !HAS_SANITIZER;

typedef struct Chunk {
  struct Chunk *next;
  size_t used, size; /* bytes of `data` */
  bool is_huge;
  _Alignas(max_align_t) char data[];
} Chunk;

struct Arena {
  Chunk *chunks;
  size_t next_size; /* of the next ordinary chunk */
};

static _Noreturn void out_of_memory(size_t wanted) {
  fprintf(stderr, "nnc: out of memory (%zu bytes wanted)\n", wanted);
  exit(3);
}

static void *must_calloc(size_t size) {
  void *memory = calloc(1, size);
  if (!memory) out_of_memory(size);
  return memory;
}

/* Larger requests than a huge chunk are rare and still go to the system. */
static void keep_freed_memory(void) {
#ifdef __GLIBC__
  static bool is_told;
  if (is_told) return;
  is_told = true;
  mallopt(M_MMAP_THRESHOLD, HUGE_CHUNK);
  mallopt(M_TRIM_THRESHOLD, MOST_KEPT);
  mallopt(M_TOP_PAD, HUGE_CHUNK / 2);
#endif
}

/* ---- huge chunks ---- */

static struct {
  Chunk *free;
  size_t kept; /* bytes of these */
} huge;

static void *map_bytes(size_t size) {
  void *map = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (map == MAP_FAILED) out_of_memory(size);
  return map;
}

static void unmap_bytes(void *map, size_t size) {
  if (size > 0 && munmap(map, size) != 0) panic("arena: munmap of %zu bytes failed", size);
}

/* Beside one that is aligned the system mostly maps the next one aligned, too. */
static void *map_huge(void) {
  char *map = map_bytes(HUGE_CHUNK);
  size_t beyond = (uintptr_t)map % HUGE_CHUNK;
  if (beyond == 0) return map;
  unmap_bytes(map, HUGE_CHUNK);
  map = map_bytes(2 * HUGE_CHUNK);
  size_t before = (HUGE_CHUNK - (uintptr_t)map % HUGE_CHUNK) % HUGE_CHUNK;
  unmap_bytes(map, before);
  unmap_bytes(map + before + HUGE_CHUNK, HUGE_CHUNK - before);
  return map + before;
}

static Chunk *huge_create(void) {
  Chunk *chunk = huge.free;
  if (chunk) {
    huge.free = chunk->next;
    huge.kept -= HUGE_CHUNK;
    memset(chunk->data, 0, chunk->used);
  } else {
    chunk = map_huge();
    (void)madvise(chunk, HUGE_CHUNK, MADV_HUGEPAGE); /* a kernel without them has ordinary pages */
  }
  *chunk = (Chunk){.size = HUGE_CHUNK - sizeof(Chunk), .is_huge = true};
  return chunk;
}

static void huge_free(Chunk *chunk) {
  if (huge.kept >= MOST_KEPT) {
    unmap_bytes(chunk, HUGE_CHUNK);
    return;
  }
  chunk->next = huge.free;
  huge.free = chunk;
  huge.kept += HUGE_CHUNK;
}

/* ---- arenas ---- */

Arena *arena_create(void) {
  keep_freed_memory();
  Arena *arena = must_calloc(sizeof *arena);
  arena->next_size = FIRST_CHUNK;
  return arena;
}

void arena_destroy(Arena *arena) {
  if (!arena) return;
  for (Chunk *chunk = arena->chunks, *next; chunk; chunk = next) {
    next = chunk->next;
    if (chunk->is_huge) huge_free(chunk);
    else free(chunk);
  }
  free(arena);
}

static Chunk *chunk_create(size_t size) {
  if (size > PTRDIFF_MAX - sizeof(Chunk)) out_of_memory(size);
  Chunk *chunk = must_calloc(sizeof(Chunk) + size);
  chunk->size = size;
  return chunk;
}

void *arena_alloc(Arena *arena, size_t size) {
  const size_t align = _Alignof(max_align_t);
  size = size > SIZE_MAX - align ? size : (size + align - 1) / align * align;
  Chunk *chunk = arena->chunks;
  if (chunk && chunk->size - chunk->used >= size) {
    void *memory = chunk->data + chunk->used;
    chunk->used += size;
    return memory;
  }
  bool is_huge = has_huge && arena->next_size > LARGEST_CHUNK;
  if (size > (is_huge ? HUGE_CHUNK : arena->next_size) / 2) {
    Chunk *own = chunk_create(size);
    own->used = size;
    if (chunk) {
      own->next = chunk->next;
      chunk->next = own;
    } else {
      arena->chunks = own;
    }
    return own->data;
  }
  chunk = is_huge ? huge_create() : chunk_create(arena->next_size);
  if (arena->next_size <= LARGEST_CHUNK) arena->next_size *= 2;
  chunk->next = arena->chunks;
  chunk->used = size;
  arena->chunks = chunk;
  return chunk->data;
}

void *arena_copy(Arena *arena, const void *bytes, size_t size) {
  void *copy = arena_alloc(arena, size);
  if (size) memcpy(copy, bytes, size);
  return copy;
}

char *arena_strndup(Arena *arena, const char *text, size_t length) {
  char *copy = arena_alloc(arena, length + 1);
  if (length) memcpy(copy, text, length);
  return copy;
}

char *arena_strdup(Arena *arena, const char *text) {
  return arena_strndup(arena, text, strlen(text));
}

char *arena_vprintf(Arena *arena, const char *format, va_list arguments) {
  va_list again;
  va_copy(again, arguments);
  int length = vsnprintf(NULL, 0, format, again);
  va_end(again);
  if (length < 0) panic("arena_vprintf: vsnprintf cannot format '%s'", format);
  char *text = arena_alloc(arena, (size_t)length + 1);
  vsnprintf(text, (size_t)length + 1, format, arguments);
  return text;
}

char *arena_printf(Arena *arena, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  char *text = arena_vprintf(arena, format, arguments);
  va_end(arguments);
  return text;
}

/* ---- growing arrays: see vec.h ---- */

void *vec_grow(Arena *arena, void *items, int *capacity, size_t item_size) {
  int old = *capacity;
  if (old > INT_MAX / 2 || (old && item_size > SIZE_MAX / 2 / (size_t)old))
    panic("vec_grow: an array of more than %d items", old);
  int grown = old < 4 ? 8 : old * 2;
  char *storage = arena_alloc(arena, (size_t)grown * item_size);
  if (old) memcpy(storage, items, (size_t)old * item_size);
  *capacity = grown;
  return storage;
}
