/* Blocks by mmap.  A block of 2 MB or more starts at a multiple of 2 MB, so that the kernel can
 * back it with huge pages; the slack around it is never touched and costs address space only. */
#include "os/memory.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "os/assert.h"
#include "os/message.h"

enum { HUGE_PAGE = 2 << 20 };

const char *nnc_format_bytes(char *buffer, double bytes) {
  static const char *const units[] = {"bytes", "kB", "MB", "GB", "TB"};
  int unit = 0;
  while (bytes >= 1000 && unit < 4) bytes /= 1000, unit++;
  const char *format = unit == 0 ? "%.0f %s" : bytes < 10 ? "%.2f %s" : "%.1f %s";
  snprintf(buffer, NNC_FORMAT_BYTES, format, bytes, units[unit]);
  return buffer;
}

static void refuse(int64_t bytes, const char *purpose) {
  char wanted[NNC_FORMAT_BYTES], there[NNC_FORMAT_BYTES];
  int error = errno;
  double physical = (double)sysconf(_SC_PHYS_PAGES) * (double)sysconf(_SC_PAGESIZE);
  nnc_error("cannot take %s (%lld bytes) for %s: %s; this machine has %s of memory",
            nnc_format_bytes(wanted, (double)bytes), (long long)bytes, purpose, strerror(error),
            nnc_format_bytes(there, physical));
}

bool nnc_block_take(nnc_block *block, int64_t bytes, const char *purpose) {
  *block = (nnc_block){0};
  int64_t align = bytes >= HUGE_PAGE ? HUGE_PAGE : 0;
  if (bytes < 0 || bytes > INT64_MAX - align - HUGE_PAGE) {
    errno = ENOMEM;
    refuse(bytes, purpose);
    return false;
  }
  size_t size = (size_t)(bytes + align + (bytes == 0));
  void *map = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (map == MAP_FAILED) {
    refuse(bytes, purpose);
    return false;
  }
  uintptr_t base = (uintptr_t)map;
  if (align) {
    base = (base + HUGE_PAGE - 1) & ~(uintptr_t)(HUGE_PAGE - 1);
    /* Advice only: a kernel without huge pages answers EINVAL, and all works with small ones. */
    (void)madvise((void *)base, (size_t)bytes, MADV_HUGEPAGE);
  }
  NNC_ASSERT(base % 64 == 0 && base + (uintptr_t)bytes <= (uintptr_t)map + size);
  *block = (nnc_block){.base = (char *)base, .map = map, .map_bytes = size};
  return true;
}

void nnc_block_free(nnc_block *block) {
  if (block->map && munmap(block->map, block->map_bytes) != 0)
    nnc_error_system("return", "memory to the system");
  *block = (nnc_block){0};
}

int nnc_memory_file(void) { return memfd_create("piece", MFD_CLOEXEC); }

int64_t nnc_memory_resident(void) {
  char text[128]; /* no stream: the progress line allocates nothing */
  int file = open("/proc/self/statm", O_RDONLY | O_CLOEXEC);
  if (file < 0) return -1;
  ssize_t length = read(file, text, sizeof text - 1);
  close(file);
  if (length < 0) return -1;
  text[length] = 0;
  long long total, resident;
  if (sscanf(text, "%lld %lld", &total, &resident) != 2) return -1;
  return resident * sysconf(_SC_PAGESIZE);
}
