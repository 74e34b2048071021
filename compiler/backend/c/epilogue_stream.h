/* What an epilogue stores past the caches (nnc_stream.h), row by row.
 *
 * A row is what a tile has along some axes of the kernel's domain, [first, end). It is computed on the stack and then sent
 * off, where the operand is so large that nothing of it would stay in a cache, and rows are whole lines of it. */
#ifndef NNC_BACKEND_C_EPILOGUE_STREAM_H
#define NNC_BACKEND_C_EPILOGUE_STREAM_H

#include "backend/c/kernels.h"

bool epilogue_streams(const Kernel *kernel, const Store *store, int first, int end);
bool epilogue_streams_any(const Kernel *kernel, int first, int end);

/* Declares a row of `most` elements for each such store, and lets the scope's stores write element `c` of it instead. */
void epilogue_declare_rows(Code *code, ExprScope *scope, int first, int end, int64_t most);
/* Sends off `count` elements of these rows, to where the scope's axes are. */
void epilogue_send_rows(Code *code, const ExprScope *scope, int first, int end, const char *count);

/* Writes the stores of all channels, axis 1, of a place whose other axes are declared: `result` is the text of channel
 * `channel + c`, of at most `most`. Closes what is open, and returns all of it. */
const char *epilogue_end_channels(Code *code, KernelFunction *function, const char *result,
                                  DType dtype, int64_t most);

/* The statement that ends a task whose epilogue by channels sends rows off; "" where none does. */
const char *epilogue_stream_end(const Kernel *kernel);

#endif
