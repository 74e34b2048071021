/* The means and deviations that `unstandardize` reads: variables of kind NNC_FITTED. They are no part of a checkpoint's
 * tensors, since what the stages learnt is in its metadata. */
#ifndef NNC_SCORES_H
#define NNC_SCORES_H

#include "core/session.h"

/* Writes what the session's stages learnt; false after a message. path: a checkpoint that should have had it; NULL: the
 * training data should. */
bool nnc_scores_take(nnc_session *session, const char *path);

#endif
