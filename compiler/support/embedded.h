/* Files embedded in nnc at build time: the prelude, the code templates, the headers of CUDA
 * kernels. The build writes the table from compiler/prelude/, codegen_templates/ and
 * runtime/cuda_abi/. */
#ifndef NNC_SUPPORT_EMBEDDED_H
#define NNC_SUPPORT_EMBEDDED_H

#include <stddef.h>

typedef struct EmbeddedFile {
  const char *name; /* "prelude/layers.net", "codegen_templates/gemm.c" */
  const char *text; /* NUL-terminated */
  size_t length;
} EmbeddedFile;

extern const EmbeddedFile embedded_files[];
extern const int embedded_file_count;

/* NULL when there is none of that name. */
const EmbeddedFile *embedded_find(const char *name);

#endif
