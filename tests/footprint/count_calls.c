/* To be preloaded: counts the calls by which a program takes and returns memory, and at its end
 * writes them and its peak of resident memory to the file $COUNT_CALLS, "NAME NUMBER" a line.
 *
 *     cc -shared -fPIC -O1 count_calls.c -o count_calls.so -ldl
 *     COUNT_CALLS=counts LD_PRELOAD=./count_calls.so ./program
 *
 * Calls inside of the C library are not seen, but what leads to them is. dlsym may allocate before
 * the functions are found; a small block serves that. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { MALLOC, CALLOC, REALLOC, FREE, ALIGNED, MMAP, MUNMAP, BREAK, COUNT };
static const char *const names[COUNT] = {"malloc",  "calloc", "realloc", "free",
                                         "aligned", "mmap",   "munmap",  "break"};
static atomic_long counts[COUNT];

static _Alignas(16) char early[4096];
static atomic_size_t early_used;

static void *take_early(size_t bytes) {
  size_t at = atomic_fetch_add(&early_used, (bytes + 15) / 16 * 16);
  if (at + bytes > sizeof early) _exit(99);
  return early + at;
}

static int is_early(const void *p) {
  return (const char *)p >= early && (const char *)p < early + sizeof early;
}

/* The next definition of `name`; NULL while dlsym itself allocates. */
static void *find(const char *name) {
  static _Thread_local int is_finding;
  if (is_finding) return NULL;
  is_finding = 1;
  void *function = dlsym(RTLD_NEXT, name);
  is_finding = 0;
  return function;
}

#define NEXT(name)                                                                                 \
  static __typeof__(&name) next;                                                                   \
  if (!next) *(void **)&next = find(#name)

void *malloc(size_t bytes) {
  NEXT(malloc);
  counts[MALLOC]++;
  return next ? next(bytes) : take_early(bytes);
}

void *calloc(size_t count, size_t bytes) {
  NEXT(calloc);
  counts[CALLOC]++;
  return next ? next(count, bytes) : take_early(count * bytes);
}

void *realloc(void *p, size_t bytes) {
  NEXT(realloc);
  counts[REALLOC]++;
  if (!next || is_early(p)) _exit(99);
  return next(p, bytes);
}

void free(void *p) {
  NEXT(free);
  if (!p || is_early(p)) return;
  counts[FREE]++;
  if (next) next(p);
}

void *aligned_alloc(size_t alignment, size_t bytes) {
  NEXT(aligned_alloc);
  counts[ALIGNED]++;
  return next(alignment, bytes);
}

int posix_memalign(void **p, size_t alignment, size_t bytes) {
  NEXT(posix_memalign);
  counts[ALIGNED]++;
  return next(p, alignment, bytes);
}

void *mmap(void *address, size_t bytes, int protection, int flags, int file, off_t offset) {
  NEXT(mmap);
  counts[MMAP]++;
  return next(address, bytes, protection, flags, file, offset);
}

int munmap(void *address, size_t bytes) {
  NEXT(munmap);
  counts[MUNMAP]++;
  return next(address, bytes);
}

int brk(void *end) {
  NEXT(brk);
  counts[BREAK]++;
  return next(end);
}

void *sbrk(intptr_t bytes) {
  NEXT(sbrk);
  counts[BREAK]++;
  return next(bytes);
}

__attribute__((destructor)) static void report(void) {
  const char *path = getenv("COUNT_CALLS");
  long numbers[COUNT]; /* what follows allocates too */
  for (int i = 0; i < COUNT; i++) numbers[i] = counts[i];
  FILE *out = path ? fopen(path, "w") : NULL, *status = fopen("/proc/self/status", "r");
  if (!out || !status) _exit(98);
  for (int i = 0; i < COUNT; i++) fprintf(out, "%s %ld\n", names[i], numbers[i]);
  char line[256];
  while (fgets(line, sizeof line, status))
    if (strncmp(line, "VmHWM:", 6) == 0) fprintf(out, "resident %ld\n", atol(line + 6) * 1024);
  if (fclose(status) != 0 || fclose(out) != 0) _exit(98);
}
