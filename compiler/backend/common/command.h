/* The flags that the C compiler is called with. */
#ifndef NNC_BACKEND_COMMON_COMMAND_H
#define NNC_BACKEND_COMMON_COMMAND_H

#include "backend/common/compile.h"
#include "backend/common/process.h"

/* The compiler and the flags that compiling and linking get. `level`: "v3"; NULL: what is for all
 * levels, or for the one -march. */
void command_flags(Arena *arena, Arguments *arguments, const CompileOptions *options,
                   const char *level);
/* The folder of the headers of nnc. */
const char *command_headers(Arena *arena, const CompileOptions *options);
void command_include(Arena *arena, Arguments *arguments, const CompileOptions *options);
/* What is linked after the objects: objects and archives of the user's; the libraries. */
void command_linked(Arena *arena, Arguments *arguments, const CompileOptions *options);
void command_libraries(Arena *arena, Arguments *arguments, const CompileOptions *options);
/* Whether code for `arch` (a -march, or levels as in CompileOptions; NULL: native) multiplies numbers of bf16 at least
 * as fast as f32. Levels have no such instructions; of a processor that is named it is taken to be so. */
bool command_multiplies_bf16(const char *arch);
/* Whether code has a matrix unit (runtime/abi/nnc_matrix.h): that of this processor, unless the system keeps it from
 * processes, of one that is named, or plain C in its place. */
bool command_has_matrix_unit(const CompileOptions *options);
/* Whether code for `arch` has 16 registers of vectors: x86-64 below its level v4, or this processor without AVX-512.
 * False of lists and of processors that are named. */
bool command_has_few_registers(const char *arch);
/* Whether a data set's source gives pictures: the libraries that decode them are linked. */
bool command_reads_pictures(const Module *module);
/* The one command that makes the executable of the one file. */
const char *command_whole(Arena *arena, const CompileOptions *options);
/* The runtime's library. */
const char *command_library(Arena *arena, const CompileOptions *options);

#endif
