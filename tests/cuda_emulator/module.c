/* An image is written to a file that the loader takes. Block memory is found by the symbols of
 * static variables of functions: _ZZ<length><kernel>E<length><variable>. */
#include "module.h"

#include "cuda_types.h"
#include "execute.h"
#include "fault.h"

#include <dlfcn.h>
#include <elf.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct Module {
  void *handle;
  char *image; /* a copy */
  size_t size;
  char *base; /* where it is loaded */
  size_t extent;
  const nnc_emulated_unit *unit;
  Function *functions;
  int function_count;
  Module *next;
};

static Module *modules;

/* ---- the image ---- */

static size_t elf_size(const char *image) {
  const Elf64_Ehdr *head = (const void *)image;
  return head->e_shoff + (size_t)head->e_shnum * head->e_shentsize;
}

static int digit(char c) {
  return c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* The object that PTX stands for. */
static char *decode(const char *text, size_t *size) {
  const char *at = strchr(text, '\n');
  if (!at) return NULL;
  char *bytes = malloc(strlen(at) / 2 + 1);
  size_t count = 0;
  for (at++; digit(at[0]) >= 0 && digit(at[1]) >= 0; at += 2) {
    bytes[count++] = (char)(digit(at[0]) * 16 + digit(at[1]));
  }
  *size = count;
  return bytes;
}

static char *copy_image(const void *image, size_t *size) {
  static const char ptx[] = "// PTX of the nnc CUDA emulator\n";
  if (!memcmp(image, ELFMAG, SELFMAG)) {
    *size = elf_size(image);
    char *copy = malloc(*size);
    return copy ? memcpy(copy, image, *size) : NULL;
  }
  return strncmp(image, ptx, sizeof ptx - 1) ? NULL : decode(image, size);
}

/* Writes the image to a new file, whose path goes to `to`. */
static bool write_image(const Module *module, char *to, size_t size) {
  const char *temporary = getenv("TMPDIR");
  snprintf(to, size, "%s/nnc_emulated_unit.XXXXXX", temporary ? temporary : "/tmp");
  int file = mkstemp(to);
  if (file < 0) return false;
  bool is_written = write(file, module->image, module->size) == (ssize_t)module->size;
  return close(file) == 0 && is_written;
}

/* ---- functions and their block memory ---- */

static const Elf64_Shdr *symbols_of(const Module *module) {
  const Elf64_Ehdr *head = (const void *)module->image;
  const Elf64_Shdr *sections = (const void *)(module->image + head->e_shoff);
  for (int i = 0; i < head->e_shnum; i++) {
    if (sections[i].sh_type == SHT_SYMTAB) return &sections[i];
  }
  return NULL;
}

static void add_variable(Function *function, char *begin, size_t size) {
  size_t count = (size_t)function->variable_count + 1;
  function->variables = realloc(function->variables, count * sizeof *function->variables);
  function->variables[count - 1] = (BlockVariable){begin, size};
  function->variable_count++;
  function->fixed_shared += size;
}

/* Whether the variable of this mangled name is declared in the kernel or, of a merged one, in a part
 * of it, which nnc calls nnc_KERNEL_part_NUMBER. */
static bool is_declared_in(const char *variable, const char *kernel) {
  char text[512];
  int length = snprintf(text, sizeof text, "_ZZ%zu%sE", strlen(kernel), kernel);
  if (!strncmp(variable, text, (size_t)length)) return true;
  if (strncmp(variable, "_ZZL", 4)) return false;
  variable += 4 + strspn(variable + 4, "0123456789");
  length = snprintf(text, sizeof text, "nnc_%s_part_", kernel);
  return !strncmp(variable, text, (size_t)length);
}

static void find_block_memory(Module *module, Function *function) {
  const Elf64_Shdr *table = symbols_of(module);
  if (!table) return;
  const Elf64_Shdr *sections =
      (const void *)(module->image + ((Elf64_Ehdr *)module->image)->e_shoff);
  const char *names = module->image + sections[table->sh_link].sh_offset;
  const Elf64_Sym *symbols = (const void *)(module->image + table->sh_offset);
  for (size_t i = 0; i < table->sh_size / sizeof *symbols; i++) {
    const Elf64_Sym *symbol = &symbols[i];
    if (ELF64_ST_TYPE(symbol->st_info) != STT_OBJECT || !symbol->st_shndx ||
        symbol->st_shndx >= SHN_LORESERVE) {
      continue;
    }
    if (sections[symbol->st_shndx].sh_type != SHT_NOBITS) continue;
    if (!is_declared_in(names + symbol->st_name, function->kernel->name)) continue;
    add_variable(function, module->base + symbol->st_value, symbol->st_size);
  }
}

static void list_functions(Module *module) {
  const nnc_emulated_kernel *kernels = module->unit->kernels;
  while (kernels[module->function_count].name) module->function_count++;
  module->functions = calloc((size_t)module->function_count + 1, sizeof *module->functions);
  for (int i = 0; i < module->function_count; i++) {
    Function *function = &module->functions[i];
    function->kernel = &kernels[i], function->module = module;
    find_block_memory(module, function);
    function->most_shared = 48 * 1024 - (int)function->fixed_shared;
  }
}

static void measure(Module *module) {
  const Elf64_Ehdr *head = (const void *)module->image;
  const Elf64_Phdr *parts = (const void *)(module->image + head->e_phoff);
  for (int i = 0; i < head->e_phnum; i++) {
    size_t end = parts[i].p_vaddr + parts[i].p_memsz;
    if (parts[i].p_type == PT_LOAD && end > module->extent) module->extent = end;
  }
}

/* ---- loading ---- */

/* Whether a device runs what was compiled for the architecture, as the driver decides it: machine
 * code for the same major number and no greater minor one, PTX for no greater number, "a" for the
 * very same. */
static int check_architecture(const char *name, bool is_text, int device) {
  int number = atoi(strchr(name, '_') + 1);
  bool is_exact = name[strlen(name) - 1] == 'a';
  if (is_exact && number != device) return CUDA_ERROR_NO_BINARY_FOR_GPU;
  if (is_text) return number <= device ? CUDA_SUCCESS : CUDA_ERROR_INVALID_PTX;
  return number / 10 == device / 10 && number <= device ? CUDA_SUCCESS
                                                        : CUDA_ERROR_NO_BINARY_FOR_GPU;
}

static int open_module(Module *module) {
  char path[4096];
  if (!write_image(module, path, sizeof path)) return CUDA_ERROR_FILE_NOT_FOUND;
  module->handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  if (!module->handle)
    fprintf(stderr, "nnc emulator: an image is not by the stand-in for NVRTC (NNC_NVRTC): %s\n",
            dlerror());
  unlink(path);
  if (!module->handle) return CUDA_ERROR_INVALID_IMAGE;
  module->unit = dlsym(module->handle, "nnc_the_unit");
  if (!module->unit || module->unit->version != NNC_EMULATED_VERSION) {
    fprintf(stderr, "nnc emulator: an image is not of this version of the emulator\n");
    return CUDA_ERROR_INVALID_IMAGE;
  }
  struct link_map *map = NULL;
  dlinfo(module->handle, RTLD_DI_LINKMAP, &map);
  module->base = (char *)map->l_addr;
  *module->unit->machine = execute_machine();
  return CUDA_SUCCESS;
}

int module_load(Module **to, const void *image, int device) {
  Module *module = calloc(1, sizeof *module);
  module->image = copy_image(image, &module->size);
  if (!module->image) {
    fprintf(stderr, "nnc emulator: an image that its NVRTC did not make\n");
    free(module);
    return CUDA_ERROR_INVALID_IMAGE;
  }
  int error = open_module(module);
  bool is_text = memcmp(image, ELFMAG, SELFMAG) != 0;
  if (!error) error = check_architecture(module->unit->architecture, is_text, device);
  if (error) {
    if (module->handle) dlclose(module->handle);
    free(module->image), free(module);
    return error;
  }
  measure(module);
  list_functions(module);
  module->next = modules, modules = module;
  *to = module;
  return CUDA_SUCCESS;
}

void module_unload(Module *module) {
  for (Module **at = &modules; *at; at = &(*at)->next) {
    if (*at != module) continue;
    *at = module->next;
    break;
  }
  for (int i = 0; i < module->function_count; i++) free(module->functions[i].variables);
  dlclose(module->handle);
  free(module->functions), free(module->image), free(module);
}

Function *module_function(Module *module, const char *name) {
  for (int i = 0; i < module->function_count; i++) {
    if (!strcmp(module->functions[i].kernel->name, name)) return &module->functions[i];
  }
  return NULL;
}

void *module_variable(Module *module, const char *name) { return dlsym(module->handle, name); }

bool module_has(const Module *module, const void *at) {
  return (uintptr_t)at - (uintptr_t)module->base < module->extent;
}

/* Segments that cannot be written, those that the loader writes, and the pointer to the machine. */
bool module_has_constant(const Module *module, const void *at) {
  const Elf64_Ehdr *head = (const void *)module->image;
  const Elf64_Phdr *parts = (const void *)(module->image + head->e_phoff);
  size_t offset = (uintptr_t)at - (uintptr_t)module->base;
  bool is_constant = at == (const void *)module->unit->machine;
  for (int i = 0; i < head->e_phnum; i++) {
    bool is_fixed = (parts[i].p_type == PT_LOAD && !(parts[i].p_flags & PF_W)) ||
                    parts[i].p_type == PT_GNU_RELRO;
    is_constant |= is_fixed && offset - parts[i].p_vaddr < parts[i].p_memsz;
  }
  return is_constant;
}

static BlockVariable dynamic;

void module_set_dynamic(char *begin, size_t size) { dynamic = (BlockVariable){begin, size}; }

bool function_owns(const Function *function, const void *at, size_t bytes) {
  size_t place = (uintptr_t)at - (uintptr_t)dynamic.begin;
  if (place < dynamic.size && bytes <= dynamic.size - place) return true;
  for (int i = 0; i < function->variable_count; i++) {
    size_t offset = (uintptr_t)at - (uintptr_t)function->variables[i].begin;
    size_t size = function->variables[i].size;
    if (offset < size && bytes <= size - offset) return true;
  }
  return false;
}

/* ---- lines ---- */

void module_locate(char *to, size_t size, const void *code) {
  const Module *module = modules;
  while (module && !module_has(module, code)) module = module->next;
  char path[4096], command[9000], line[400] = "";
  *to = 0;
  if (!module || !write_image(module, path, sizeof path)) return;
  snprintf(command, sizeof command,
           "addr2line -s -e %s 0x%tx 2>/dev/null || llvm-symbolizer --output-style=GNU -s -e %s "
           "0x%tx 2>/dev/null | tail -n 1",
           path, (const char *)code - module->base, path, (const char *)code - module->base);
  FILE *pipe = popen(command, "r");
  if (pipe) {
    if (!fgets(line, sizeof line, pipe)) *line = 0;
    pclose(pipe);
  }
  unlink(path);
  line[strcspn(line, "\n ")] = 0;
  if (strchr(line, '?')) return; /* the compiler has joined several places */
  if (*line) snprintf(to, size, " (%s)", line);
}
