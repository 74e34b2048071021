/* The system's leave to use the processor's matrix unit, whose registers it saves only for processes that
 * asked for it. */
#ifndef NNC_OS_MATRIX_H
#define NNC_OS_MATRIX_H

#include <stdbool.h>

/* Asks for it, for all threads of this process that there are and will be; false: it is refused. */
bool nnc_matrix_permit(void);

#endif
