/* The same as nnc_common.h of Winograd's filtering: NNC_GIVE_WINOGRAD_4x4_3x3 and so on. */
#ifndef NNC_COMMON_WINOGRAD_H
#define NNC_COMMON_WINOGRAD_H

#include "nnc_winograd.h"

#define NNC_GIVE_WINOGRAD_4x4_3x3 NNC_WINOGRAD_FUNCTIONS(NNC_GIVEN, 4x4_3x3, 3, 4)
#define NNC_GIVE_WINOGRAD_2x2_5x5 NNC_WINOGRAD_FUNCTIONS(NNC_GIVEN, 2x2_5x5, 5, 2)

#endif
