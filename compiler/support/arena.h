/* Arena allocation.
 *
 * The compiler allocates from arenas by lifetime and frees whole arenas only.  Memory is zeroed.
 * Out of memory is fatal: a message and exit status 3. */
#ifndef NNC_SUPPORT_ARENA_H
#define NNC_SUPPORT_ARENA_H

#include <stdarg.h>
#include <stddef.h>

typedef struct Arena Arena;

Arena *arena_create(void);
void arena_destroy(Arena *arena);

/* Zeroed memory, aligned for any type; `size` may be 0. */
void *arena_alloc(Arena *arena, size_t size);
/* A copy of `size` bytes. */
void *arena_copy(Arena *arena, const void *bytes, size_t size);
char *arena_strdup(Arena *arena, const char *text);
char *arena_strndup(Arena *arena, const char *text, size_t length);
char *arena_printf(Arena *arena, const char *format, ...) __attribute__((format(printf, 2, 3)));
char *arena_vprintf(Arena *arena, const char *format, va_list arguments);

#define ARENA_NEW(arena, type) ((type *)arena_alloc((arena), sizeof(type)))
#define ARENA_ARRAY(arena, type, count)                                                            \
  ((type *)arena_alloc((arena), sizeof(type) * (size_t)(count)))

#endif
