/* Which GPUs --arch names, and where NVRTC is found: a stand-in (tests/nvrtc) lies in one of the
 * places after the other. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "backend/cuda/architectures.h"
#include "lib/heard.h"
#include "support/files.h"

static Arena *arena;
static const char *work; /* a folder for all that is written */

/* ---- architectures ---- */

static const char *names_of(const Architectures *architectures) {
  const char *text = "";
  for (int i = 0; i < architectures->count; i++)
    text = arena_printf(arena, "%s%s%s", text, i ? " " : "", architectures->items[i].name);
  return text;
}

static void test_lists(void **state) {
  static const struct {
    const char *list, *names;
  } cases[] = {{default_architectures, "sm_80 sm_90a compute_90"},
               {"sm_80", "sm_80 compute_80"},
               {"sm_120,sm_90a,sm_90,sm_80", "sm_80 sm_90 sm_90a sm_120 compute_120"},
               {"sm_80,sm_80,sm_80", "sm_80 compute_80"},
               {"sm_100f,sm_100a,sm_100", "sm_100 sm_100a sm_100f compute_100"},
               {"sm_120,compute_80,sm_90a", "sm_90a sm_120 compute_80"},
               {"compute_80", "compute_80"}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    Architectures found;
    assert_null(architectures_parse(arena, &found, cases[i].list));
    assert_string_equal(names_of(&found), cases[i].names);
  }
}

static void test_mistakes_in_lists(void **state) {
  static const struct {
    const char *list, *message;
  } cases[] = {{"x86-64-v3", "stand sm_80, sm_90a, sm_100f or compute_90, not 'x86-64-v3'"},
               {"", "not ''"},
               {"sm_80,", "not ''"},
               {"sm_90b", "not 'sm_90b'"},
               {"sm_90aa", "not 'sm_90aa'"},
               {"sm_", "not 'sm_'"},
               {"sm_8", "not 'sm_8'"},
               {"sm_1234", "not 'sm_1234'"},
               {"compute_90a", "not 'compute_90a'"},
               {"sm_80,sm_75", "'sm_75' is too old, the oldest is sm_80"},
               {"sm_80,sm_81,sm_82,sm_83,sm_84,sm_85,sm_86,sm_87,sm_88,sm_89,sm_90,sm_91,sm_92,"
                "sm_93,sm_94,sm_95",
                "more than 15 architectures"}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    Architectures found;
    const char *mistake = architectures_parse(arena, &found, cases[i].list);
    assert_non_null(mistake);
    assert_non_null(strstr(mistake, cases[i].message));
  }
}

static void test_known(void **state) {
  static const int known[] = {75, 80, 90, 100};
  static const struct {
    const char *list, *unknown; /* NULL: all are known */
  } cases[] = {{"sm_80,sm_90a,sm_100,sm_100a", NULL},
               {"sm_80a,sm_90", "sm_80a"},
               {"sm_90f", "sm_90f"},
               {"sm_100f", "sm_100f"},
               {"sm_80,sm_120", "sm_120"},
               {"sm_80,compute_110", "compute_110"}};
  Nvrtc nvrtc = {
      .path = "libx", .major = 12, .minor = 8, .architecture_count = 4, .architectures = known};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    Architectures asked;
    assert_null(architectures_parse(arena, &asked, cases[i].list));
    heard_begin(work);
    bool good = architectures_check(arena, &asked, &nvrtc);
    heard_end(arena);
    assert_int_equal(good, cases[i].unknown == NULL);
    if (cases[i].unknown)
      heard_assert(arena_printf(arena,
                                "NVRTC 12.8 (libx) does not compile for %s; it knows sm_80, "
                                "sm_90, sm_90a, sm_100, sm_100a\n",
                                cases[i].unknown));
  }
  Architectures family;
  nvrtc.minor = 9;
  assert_null(architectures_parse(arena, &family, "sm_100f"));
  assert_true(architectures_check(arena, &family, &nvrtc));
}

/* ---- finding ---- */

static const char *below(const char *path) { return arena_printf(arena, "%s/%s", work, path); }

/* A copy of the stand-in, below the folder of this test. */
static const char *put(const char *path) {
  const char *whole = below(path);
  Text bytes = {0};
  assert_true(file_read(STAND_IN_NVRTC, &bytes));
  for (const char *slash = strchr(whole + 1, '/'); slash; slash = strchr(slash + 1, '/'))
    mkdir(arena_strndup(arena, whole, (size_t)(slash - whole)), 0700);
  assert_true(file_write(whole, 0700, bytes.data, bytes.length));
  text_free(&bytes);
  return whole;
}

static void forget_places(void) {
  static const char *const names[] = {"NNC_NVRTC", "CUDA_HOME", "VIRTUAL_ENV", "CONDA_PREFIX",
                                      "STAND_IN_VERSION"};
  for (size_t i = 0; i < sizeof names / sizeof *names; i++) unsetenv(names[i]);
  setenv("HOME", below("home"), 1);
}

static bool find(Nvrtc *nvrtc) {
  heard_begin(work);
  bool good = nvrtc_find_below(arena, nvrtc, below("root"));
  heard_end(arena);
  return good;
}

static bool loader_has_one(void) {
  static const char *const names[] = {"libnvrtc.so.13", "libnvrtc.so.12", "libnvrtc.so"};
  for (size_t i = 0; i < sizeof names / sizeof *names; i++)
    if (dlopen(names[i], RTLD_NOW | RTLD_LOCAL)) return true;
  return false;
}

/* Each place is found while those before it are empty. */
static void test_places(void **state) {
  static const char *const places[] = {
      "home/.pyenv/versions/3.9.1/lib/python3.9/site-packages/nvidia/cuda_nvrtc/lib/libnvrtc.so.12",
      "home/.local/lib/python3.11/site-packages/nvidia/cuda_nvrtc/lib/libnvrtc.so.12",
      "home/.local/lib/python3.12/site-packages/nvidia/cu13/lib/libnvrtc.so.13",
      "a[b]c*/lib/python3.10/site-packages/nvidia/cu13/lib/libnvrtc.so.13"};
  static const char *const toolkits[] = {
      "root/usr/local/cuda/targets/x86_64-linux/lib/libnvrtc.so.12",
      "root/usr/local/cuda/lib64/libnvrtc.so", "root/usr/local/cuda/lib64/libnvrtc.so.12",
      "root/usr/local/cuda/lib64/libnvrtc.so.13", "toolkit/lib64/libnvrtc.so.12"};
  Nvrtc nvrtc;
  forget_places();
  setenv("VIRTUAL_ENV", below("a[b]c*"), 1);
  setenv("CUDA_HOME", below("toolkit"), 1);
  for (size_t i = 0; i < sizeof places / sizeof *places && !loader_has_one(); i++) {
    const char *path = put(places[i]);
    assert_true(find(&nvrtc));
    assert_string_equal(nvrtc.path, path);
  }
  for (size_t i = 0; i < sizeof toolkits / sizeof *toolkits; i++) {
    const char *path = put(toolkits[i]);
    assert_true(find(&nvrtc));
    assert_string_equal(nvrtc.path, path);
  }
  const char *asked = put("asked/any name");
  setenv("NNC_NVRTC", asked, 1);
  assert_true(find(&nvrtc));
  assert_string_equal(nvrtc.path, asked);
  assert_int_equal(nvrtc.major, 13);
  assert_int_equal(nvrtc.architecture_count, 5);
}

/* What cannot be opened, or is too old, is passed over and told. */
static void test_unfit(void **state) {
  Nvrtc nvrtc;
  forget_places();
  work = below("unfit");
  mkdir(work, 0700);
  forget_places();
  setenv("CUDA_HOME", below("toolkit"), 1);
  const char *good = put("toolkit/targets/t/lib/libnvrtc.so.12"), *bad = below("bad");
  const char *broken = put("toolkit/lib64/libnvrtc.so.13");
  assert_true(file_write(broken, 0700, "no library", 10));
  assert_true(file_write(bad, 0700, "no library", 10));
  assert_true(find(&nvrtc));
  assert_string_equal(nvrtc.path, good);
  setenv("NNC_NVRTC", bad, 1);
  assert_false(find(&nvrtc));
  heard_assert(arena_printf(arena, "nnc: error: $NNC_NVRTC is '%s', which is no NVRTC", bad));
  setenv("NNC_NVRTC", good, 1);
  setenv("STAND_IN_VERSION", "11.8", 1);
  assert_false(find(&nvrtc));
  heard_assert("it is version 11.8");
  unsetenv("NNC_NVRTC");
  if (loader_has_one()) return;
  assert_false(find(&nvrtc));
  heard_assert(arena_printf(arena, "%s: it is version 11.8\n", good));
  heard_assert(arena_printf(arena, "%s: ", broken));
  heard_assert("/usr/local/cuda/lib64: no libnvrtc\n");
  heard_assert("/home/.local/lib/python3*/site-packages/nvidia/cu13/lib: no libnvrtc\n");
  heard_assert("pip install nvidia-cuda-nvrtc");
  heard_assert("--emit=cuda works without it");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_lists), cmocka_unit_test(test_mistakes_in_lists),
      cmocka_unit_test(test_known), cmocka_unit_test(test_places),
      cmocka_unit_test(test_unfit),
  };
  char folder[] = "/tmp/nnc-nvrtc-XXXXXX";
  arena = arena_create();
  if (mkdtemp(folder) == NULL) return 1;
  work = folder;
  int status = cmocka_run_group_tests(tests, NULL, NULL);
  work = folder;
  heard_remove(folder);
  arena_destroy(arena);
  return status;
}
