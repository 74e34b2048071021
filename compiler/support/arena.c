/* Arenas: a list of chunks, the newest first, each filled from its beginning.
 *
 * Chunks come zeroed from calloc() and are never used twice, so memory needs no clearing.  A
 * request too large for an ordinary chunk gets one of its own, put after the current chunk, whose
 * rest stays in use.
 *
 * The compiler tries many plans, each in an arena of its own.  The C library would give their
 * chunks back to the system and ask for them anew, whose clean pages cost as much time as what is
 * computed in them, so it is told to keep what is freed. */
#include "support/arena.h"

#include <limits.h>
#include <malloc.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/panic.h"
#include "support/vec.h"

enum { FIRST_CHUNK = 16 << 10, LARGEST_CHUNK = 1 << 20, MOST_KEPT = 256 << 20 };

typedef struct Chunk {
  struct Chunk *next;
  size_t used, size; /* bytes of `data` */
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

/* Larger requests than LARGEST_CHUNK are rare and still go to the system. */
static void keep_freed_memory(void) {
#ifdef __GLIBC__
  static bool is_told;
  if (is_told) return;
  is_told = true;
  mallopt(M_MMAP_THRESHOLD, 2 * LARGEST_CHUNK);
  mallopt(M_TRIM_THRESHOLD, MOST_KEPT);
  mallopt(M_TOP_PAD, LARGEST_CHUNK);
#endif
}

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
    free(chunk);
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
  if (size > arena->next_size / 2) {
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
  chunk = chunk_create(arena->next_size);
  if (arena->next_size < LARGEST_CHUNK) arena->next_size *= 2;
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
