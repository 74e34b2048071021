/* The operands of a kernel that test_emit runs: how their numbers are drawn, and memory that ends where none may be read. */
#ifndef NNC_TESTS_UNIT_EMIT_OPERANDS_H
#define NNC_TESTS_UNIT_EMIT_OPERANDS_H

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "kernel/classes/window.h"
#include "kernel_cases.h"
#include "lib/storage.h"

static uint64_t random_state;

static int number_of_environment(const char *name, int otherwise) {
  const char *value = getenv(name);
  return value ? atoi(value) : otherwise;
}

/* What is drawn next depends on the seed and the case alone, whatever was tested before. */
static void random_begin(const char *family, int seed, int number) {
  random_state = 88172645463325252u ^ (uint64_t)seed << 32 ^ (uint64_t)number;
  for (const char *c = family; *c; c++)
    random_state = (random_state ^ (unsigned char)*c) * 0x9E3779B97F4A7C15u;
  random_state = (random_state ^ random_state >> 29) | 1;
}

static double random_unit(void) {
  random_state ^= random_state << 13;
  random_state ^= random_state >> 7;
  random_state ^= random_state << 17;
  return (double)(random_state >> 11) * 0x1p-53;
}

static char *element_at(DType dtype, const void *data, int64_t i) {
  return (char *)data + i * dtype_size(dtype);
}

static double element_get(DType dtype, const void *data, int64_t i) {
  double x;
  storage_to_values(element_at(dtype, data, i), dtype, 1, &x);
  return x;
}

/* Numbers that every type holds exactly enough. */
static double element_of(DType dtype, double unit) {
  switch (dtype) {
  case DTYPE_F64:
  case DTYPE_F32: return unit * 4 - 2;
  case DTYPE_BF16:
  case DTYPE_F16: return floor((unit * 4 - 2) * 64) / 64;
  case DTYPE_I64:
  case DTYPE_I32: return floor(unit * 12) - 3;
  case DTYPE_U8: return floor(unit * 12);
  default: return unit < 0.5;
  }
}

static void element_set(DType dtype, void *data, int64_t i, double unit) {
  double x = element_of(dtype, unit);
  Tensor tensor = {.type = type_scalar(dtype), .data = &x};
  storage_from_values(&tensor, dtype, element_at(dtype, data, i));
}

/* Memory whose end is followed by an unreadable page. */
static char *guarded_alloc(size_t bytes, size_t *mapped) {
  size_t page = (size_t)sysconf(_SC_PAGESIZE), whole = (bytes + page - 1) / page * page;
  *mapped = whole + page;
  char *memory = mmap(NULL, *mapped, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  assert_true(memory != MAP_FAILED);
  assert_int_equal(mprotect(memory + whole, page, PROT_NONE), 0);
  return memory + whole - bytes;
}

typedef struct Operands {
  int count;
  void *data[16];
  size_t bytes[16];
} Operands;

static Operands operands_create(const Kernel *kernel) {
  Operands operands = {.count = kernel->operand_count};
  for (int i = 0; i < kernel->operand_count; i++) {
    size_t mapped;
    operands.bytes[i] =
        (size_t)kernel->operands[i].elements * (size_t)dtype_size(kernel->operands[i].dtype);
    operands.data[i] = guarded_alloc(operands.bytes[i], &mapped);
    for (int64_t e = 0; e < kernel->operands[i].elements; e++)
      element_set(kernel->operands[i].dtype, operands.data[i], e, random_unit());
  }
  return operands;
}

/* Few values, so that windows have several greatest ones, and those that are no numbers. */
static void draw_few(const Kernel *kernel, const Operands *operands) {
  static const double values[] = {-INFINITY, -INFINITY, -1, 0, 1, INFINITY, NAN};
  DType dtype = kernel->operands[0].dtype;
  for (int64_t i = 0; i < kernel->operands[0].elements; i++) {
    double x = values[(int)(random_unit() * random_unit() * 7)];
    Tensor tensor = {.type = type_scalar(dtype), .data = &x};
    storage_from_values(&tensor, dtype, element_at(dtype, operands->data[0], i));
  }
}

/* Places under which there is an element, at random. */
static void draw_places(const Kernel *kernel, const Operands *operands) {
  const ConvSlots *conv = &kernel->conv;
  int64_t out = window_elements(conv, conv->out), taps = window_elements(conv, conv->kernel);
  for (int64_t plane = 0; plane < conv->n * conv->c; plane++)
    for (int64_t o = 0; o < out; o++) {
      WindowPlane own = {plane / conv->c, conv->c, plane % conv->c, out};
      int64_t tap;
      do tap = (int64_t)(random_unit() * (double)taps);
      while (window_position(conv, o, tap) < 0);
      ((uint8_t *)operands->data[0])[window_element(conv, 0, own, o)] = (uint8_t)tap;
    }
}

/* No number is negative, so that a sum is 0 where all its products are. Most of these are: what a convolution reads through
 * windows, and in a gradient of weights the other side, too, is 0 in all channels of nine places in ten, and in half of
 * the channels of the others. */
static void draw_sparse(const Kernel *kernel, const Operands *operands) {
  for (int k = 0; k < operands->count; k++)
    for (int64_t i = 0; i < kernel->operands[k].elements; i++)
      element_set(kernel->operands[k].dtype, operands->data[k], i, 0.5 + random_unit() / 2);
  const ConvSlots *conv = &kernel->conv;
  bool is_input = kernel->kind == KERNEL_CONV_INPUT;
  for (int k = 0; k < (kernel->kind == KERNEL_CONV_WEIGHT ? 2 : 1); k++) {
    bool is_other = is_input || k == 1;
    int64_t places = window_elements(conv, is_other ? conv->out : conv->in);
    int64_t channels = is_other ? conv->k : conv->c;
    for (int64_t at = 0; at < conv->n * places; at++) {
      bool is_blank = random_unit() < 0.9;
      for (int64_t c = 0; c < channels; c++) {
        int64_t plane = at / places * channels + c;
        int64_t i = conv->last >> k & 1 ? at * channels + c : plane * places + at % places;
        if (is_blank || random_unit() < 0.5)
          memset(element_at(kernel->operands[k].dtype, operands->data[k], i), 0,
                 (size_t)dtype_size(kernel->operands[k].dtype));
      }
    }
  }
}

static Operands operands_copy(const Operands *from) {
  Operands to = *from;
  for (int i = 0; i < to.count; i++) {
    size_t mapped;
    to.data[i] = guarded_alloc(to.bytes[i], &mapped);
    memcpy(to.data[i], from->data[i], to.bytes[i]);
  }
  return to;
}

static void operands_free(Operands *operands) {
  size_t page = (size_t)sysconf(_SC_PAGESIZE);
  for (int i = 0; i < operands->count; i++) {
    size_t whole = (operands->bytes[i] + page - 1) / page * page;
    munmap((char *)operands->data[i] + operands->bytes[i] - whole, whole + page);
  }
}

/* Poisoned memory of so many bytes at a multiple of 64, that ends at a page which cannot be read. */
static char *poisoned_alloc(size_t bytes, char **end) {
  size_t mapped;
  *end = guarded_alloc(bytes + 64, &mapped);
  memset(*end, 0xFF, bytes + 64); /* NaN in each type of floats */
  return *end + 64 - (uintptr_t)*end % 64;
}

static void poisoned_free(char *end, size_t bytes) {
  size_t page = (size_t)sysconf(_SC_PAGESIZE), whole = (bytes + 64 + page - 1) / page * page;
  munmap(end + bytes + 64 - whole, whole + page);
}

#endif
