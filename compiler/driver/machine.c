/* What this machine can run: see machine.h. */
#include "driver/machine.h"

#include <stddef.h>
#include <string.h>

#if defined(__x86_64__)

/* Extensions of this processor that the system lets programs use, by level. */
static const char *lacks(int level) {
  __builtin_cpu_init();
  if (level >= 2 && !__builtin_cpu_supports("sse4.2")) return "sse4.2";
  if (level >= 2 && !__builtin_cpu_supports("popcnt")) return "popcnt";
  if (level >= 3 && !__builtin_cpu_supports("avx2")) return "avx2";
  if (level >= 3 && !__builtin_cpu_supports("fma")) return "fma";
  if (level >= 3 && !__builtin_cpu_supports("bmi2")) return "bmi2";
  if (level >= 4 && !__builtin_cpu_supports("avx512f")) return "avx512f";
  if (level >= 4 && !__builtin_cpu_supports("avx512bw")) return "avx512bw";
  if (level >= 4 && !__builtin_cpu_supports("avx512cd")) return "avx512cd";
  if (level >= 4 && !__builtin_cpu_supports("avx512dq")) return "avx512dq";
  if (level >= 4 && !__builtin_cpu_supports("avx512vl")) return "avx512vl";
  return NULL;
}

#else

static const char *lacks(int level) { return level > 0 ? "x86-64" : NULL; }

#endif

const char *machine_lacks(const char *arch) {
  static const char *const levels[] = {"v2", "v3", "v4"};
  const char *name = strncmp(arch, "x86-64-", 7) == 0 ? arch + 7 : arch;
  for (int i = 0; i < 3; i++)
    if (strcmp(name, levels[i]) == 0) return lacks(i + 2);
  return NULL;
}
