/* Opening NVRTC: see nvrtc.h. */
#include "backend/cuda/nvrtc.h"

#include <dlfcn.h>
#include <link.h>
#include <stddef.h>
#include <string.h>
#include <unistd.h>

typedef struct Symbol {
  const char *name;
  size_t offset; /* in NvrtcCalls */
} Symbol;

#define SYMBOL(name, field)                                                                        \
  { "nvrtc" name, offsetof(NvrtcCalls, field) }
static const Symbol symbols[] = {SYMBOL("GetErrorString", error_string),
                                 SYMBOL("Version", version),
                                 SYMBOL("GetNumSupportedArchs", architecture_count),
                                 SYMBOL("GetSupportedArchs", architectures),
                                 SYMBOL("CreateProgram", create),
                                 SYMBOL("CompileProgram", compile),
                                 SYMBOL("GetProgramLogSize", log_size),
                                 SYMBOL("GetProgramLog", log),
                                 SYMBOL("GetCUBINSize", cubin_size),
                                 SYMBOL("GetCUBIN", cubin),
                                 SYMBOL("GetPTXSize", ptx_size),
                                 SYMBOL("GetPTX", ptx),
                                 SYMBOL("DestroyProgram", destroy)};
#undef SYMBOL

static const char *find_symbols(Arena *arena, NvrtcCalls *calls, void *library) {
  for (size_t i = 0; i < sizeof symbols / sizeof *symbols; i++) {
    void *address = dlsym(library, symbols[i].name);
    if (address == NULL) return arena_printf(arena, "it has no %s", symbols[i].name);
    memcpy((char *)calls + symbols[i].offset, &address, sizeof address);
  }
  return NULL;
}

/* Where a library that was named alone lies. */
static const char *library_path(Arena *arena, void *library, const char *name) {
  struct link_map *map = NULL;
  bool known = dlinfo(library, RTLD_DI_LINKMAP, &map) == 0 && map->l_name && *map->l_name;
  return arena_strdup(arena, known ? map->l_name : name);
}

/* NVRTC opens its builtins by their name, which the loader need not find: opened before, they are
 * there by that name. Where this fails it is NVRTC that will say so. */
static void open_builtins(Arena *arena, Nvrtc *nvrtc) {
  const char *slash = strrchr(nvrtc->path, '/');
  int folder = slash ? (int)(slash - nvrtc->path) + 1 : 0;
  nvrtc->builtins = arena_printf(arena, "%.*slibnvrtc-builtins.so.%d.%d", folder, nvrtc->path,
                                 nvrtc->major, nvrtc->minor);
  if (access(nvrtc->builtins, R_OK) == 0) dlopen(nvrtc->builtins, RTLD_NOW | RTLD_GLOBAL);
}

const char *nvrtc_open(Arena *arena, Nvrtc *nvrtc, const char *path) {
  *nvrtc = (Nvrtc){0};
  void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  if (library == NULL) return arena_strdup(arena, dlerror());
  nvrtc->path = library_path(arena, library, path);
  const char *missing = find_symbols(arena, &nvrtc->calls, library);
  if (missing != NULL) return missing;
  int count = 0;
  int result = nvrtc->calls.version(&nvrtc->major, &nvrtc->minor);
  if (!result && nvrtc->major < NVRTC_OLDEST)
    return arena_printf(arena, "it is version %d.%d", nvrtc->major, nvrtc->minor);
  if (!result) result = nvrtc->calls.architecture_count(&count);
  int *list = ARENA_ARRAY(arena, int, count + 1);
  if (!result) result = nvrtc->calls.architectures(list);
  if (result) return arena_strdup(arena, nvrtc->calls.error_string(result));
  nvrtc->architecture_count = count;
  nvrtc->architectures = list;
  open_builtins(arena, nvrtc);
  return NULL;
}
