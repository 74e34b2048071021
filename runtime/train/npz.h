/* Writing NumPy's .npz: a zip archive of .npy files, stored without compression. */
#ifndef NNC_NPZ_H
#define NNC_NPZ_H

#include "core/session.h"

/* Writes the variables of these kinds (bits, see checkpoint.h).  bf16, which NumPy lacks, becomes
 * f32.  False after a message; the old file is untouched then. */
bool nnc_npz_write(const nnc_session *session, const char *path, unsigned kinds);

#endif
