#include "core/device_json.h"

#include "core/device.h"
#include "core/json.h"
#include "os/message.h"

void nnc_device_json(FILE *file, const nnc_model *model, int number) {
  char text[NNC_MESSAGE], name[NNC_MESSAGE];
  if (!nnc_device_describe(model, number, text)) return;
  fputs(",\"device\":", file);
  if (nnc_device_name(model, number, name)) nnc_json_put_string(file, name);
  else fputs("null", file);
  fputs(",\"device_text\":", file);
  nnc_json_put_string(file, text);
}
