/* Where NVRTC may lie: see nvrtc.h. */
#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "backend/cuda/nvrtc.h"
#include "support/text.h"

/* Folders: a pattern below the one that a variable of the environment names, if any. */
typedef struct Place {
  const char *variable, *pattern;
} Place;

static const Place toolkits[] = {{"CUDA_HOME", "/lib64"},
                                 {"CUDA_HOME", "/lib"},
                                 {"CUDA_HOME", "/targets/*/lib"},
                                 {NULL, "/usr/local/cuda/lib64"},
                                 {NULL, "/usr/local/cuda/targets/*/lib"},
                                 {"CONDA_PREFIX", "/lib"}};
/* Python's folders of packages. */
static const Place pythons[] = {{"VIRTUAL_ENV", "/lib/python3*/site-packages"},
                                {"CONDA_PREFIX", "/lib/python3*/site-packages"},
                                {"HOME", "/.local/lib/python3*/site-packages"},
                                {"HOME", "/.pyenv/versions/*/lib/python3*/site-packages"},
                                {NULL, "/usr/local/lib/python3*/dist-packages"},
                                {NULL, "/usr/local/lib/python3*/site-packages"},
                                {NULL, "/usr/lib/python3*/dist-packages"},
                                {NULL, "/usr/lib/python3*/site-packages"}};

static const char *const packages[] = {"/nvidia/cu13/lib", "/nvidia/cuda_nvrtc/lib"};
static const char *const names[] = {"libnvrtc.so.13", "libnvrtc.so.12", "libnvrtc.so"};
enum {
  TOOLKIT_COUNT = sizeof toolkits / sizeof *toolkits,
  PYTHON_COUNT = sizeof pythons / sizeof *pythons,
  PACKAGE_COUNT = sizeof packages / sizeof *packages,
  NAME_COUNT = sizeof names / sizeof *names
};

typedef struct Search {
  Arena *arena;
  Nvrtc *nvrtc;
  const char *root; /* of folders that no variable names */
  Text tried;       /* a line each */
} Search;

/* Whether the library can be used; else why not is noted. */
static bool try_library(Search *search, const char *path) {
  const char *objection = nvrtc_open(search->arena, search->nvrtc, path);
  if (objection != NULL) text_printf(&search->tried, "  %s: %s\n", path, objection);
  return objection == NULL;
}

/* The text as a pattern of itself alone. */
static const char *escape(Arena *arena, const char *path) {
  Text text = {0};
  for (; *path; path++) {
    if (strchr("*?[\\", *path)) text_add_char(&text, '\\');
    text_add_char(&text, *path);
  }
  return text.data ? text_take(&text, arena) : "";
}

/* Tries what lies in the folders of a pattern. */
static bool try_folders(Search *search, const char *pattern) {
  glob_t found;
  bool good = false, any = false;
  if (glob(pattern, 0, NULL, &found) == 0) {
    for (size_t i = 0; i < found.gl_pathc && !good; i++)
      for (int n = 0; n < NAME_COUNT && !good; n++) {
        const char *path = arena_printf(search->arena, "%s/%s", found.gl_pathv[i], names[n]);
        if (access(path, F_OK) != 0) continue;
        any = true;
        good = try_library(search, path);
      }
  }
  globfree(&found);
  if (!any) text_printf(&search->tried, "  %s: no libnvrtc\n", pattern);
  return good;
}

static bool try_place(Search *search, const Place *place, bool is_python) {
  const char *base = place->variable ? getenv(place->variable) : search->root;
  if (base == NULL || (place->variable && base[0] != '/')) return false;
  const char *pattern =
      arena_printf(search->arena, "%s%s", escape(search->arena, base), place->pattern);
  if (!is_python) return try_folders(search, pattern);
  for (int i = 0; i < PACKAGE_COUNT; i++)
    if (try_folders(search, arena_printf(search->arena, "%s%s", pattern, packages[i]))) return true;
  return false;
}

static bool try_places(Search *search, int count, const Place *places, bool are_python) {
  for (int i = 0; i < count; i++)
    if (try_place(search, &places[i], are_python)) return true;
  return false;
}

/* What the loader finds by name: where its cache and LD_LIBRARY_PATH lead. */
static bool try_loader(Search *search) {
  for (int i = 0; i < NAME_COUNT; i++)
    if (try_library(search, names[i])) return true;
  return false;
}

static bool find_asked(Search *search, const char *asked) {
  const char *objection = nvrtc_open(search->arena, search->nvrtc, asked);
  if (objection == NULL) return true;
  fprintf(stderr,
          "nnc: error: $NNC_NVRTC is '%s', which is no NVRTC of version %d.0 or newer: %s\n", asked,
          NVRTC_OLDEST, objection);
  return false;
}

bool nvrtc_find(Arena *arena, Nvrtc *nvrtc) { return nvrtc_find_below(arena, nvrtc, ""); }

bool nvrtc_find_below(Arena *arena, Nvrtc *nvrtc, const char *root) {
  Search search = {.arena = arena, .nvrtc = nvrtc, .root = root};
  const char *asked = getenv("NNC_NVRTC");
  if (asked != NULL && *asked) return find_asked(&search, asked);
  bool good = try_places(&search, TOOLKIT_COUNT, toolkits, false) || try_loader(&search) ||
              try_places(&search, PYTHON_COUNT, pythons, true);
  if (!good)
    fprintf(stderr,
            "nnc: error: NVRTC of version %d.0 or newer, which compiles kernels for CUDA, is not "
            "found:\n%snnc: help: install NVIDIA's CUDA toolkit, or run 'pip install "
            "nvidia-cuda-nvrtc', or name the library in NNC_NVRTC; --emit=cuda works without it\n",
            NVRTC_OLDEST, search.tried.data);
  text_free(&search.tried);
  return good;
}
