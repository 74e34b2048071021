/* The same as nnc_common.h of the windows of convolutions: NNC_GIVE_WINDOWS_f32 and so on. */
#ifndef NNC_COMMON_WINDOWS_H
#define NNC_COMMON_WINDOWS_H

#include "nnc_window.h"

#define NNC_GIVE_WINDOWS_f32 NNC_WINDOW_ROWS(NNC_GIVEN, f32, float, float)
#define NNC_GIVE_WINDOWS_bf16 NNC_WINDOW_ROWS(NNC_GIVEN, f32_bf16, float, uint16_t)
#define NNC_GIVE_WINDOWS_f16 NNC_WINDOW_ROWS(NNC_GIVEN, f32_f16, float, uint16_t)
#define NNC_GIVE_WINDOWS_f64                                                                       \
  NNC_WINDOW_ROWS(NNC_GIVEN, f64, double, double)                                                  \
  NNC_WINDOW_ROWS(NNC_GIVEN, f64_f32, double, float)

#endif
