/* What the JSON of commands says of the device. */
#ifndef NNC_DEVICE_JSON_H
#define NNC_DEVICE_JSON_H

#include <stdio.h>

#include "nnc_model.h"

/* Of a program that computes on a device: the members `device`, its name, or null where there is none
 * that can be used, and `device_text`, a sentence about it or why there is none. They follow others. */
void nnc_device_json(FILE *file, const nnc_model *model, int number);

#endif
