/* What the speed of a device is measured on. */
#ifndef NNC_CUDA_MEASURE_H
#define NNC_CUDA_MEASURE_H

#include "core/device.h"
#include "cuda/gpu.h"

const nnc_gpu *nnc_cuda_gpu_of(const nnc_device *device);

#endif
