/* What kernels of convolutions use beside nnc_kernel.h. */
#ifndef NNC_CONVOLUTIONS_H
#define NNC_CONVOLUTIONS_H

#include "nnc_conv.h"
#include "nnc_narrow.h"
#include "nnc_products.h"
#include "nnc_window.h"
#include "nnc_winograd.h"

#endif
