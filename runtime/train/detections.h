/* Average precision of found boxes over a whole set; linked only where the model names it. */
#ifndef NNC_DETECTIONS_H
#define NNC_DETECTIONS_H

#include "core/device.h"

/* `found`: x1, y1, x2, y2, score, class of each box, [batch, boxes, 6] floats; `truth`: the first four and the class, [batch,
 * boxes, 5]. A class below 0 is no box. */
struct nnc_detection_class {
  void *(*open)(int64_t images, const nnc_tensor *found,
                const nnc_tensor *truth); /* NULL: no memory */
  void (*reset)(void *state);
  void (*take)(void *state, const nnc_device *device, const nnc_tensor *found,
               const nnc_tensor *truth);
  double (*finish)(void *state, int ranking); /* enum nnc_ranking_kind, or the overlap in percent */
  void (*close)(void *state);
};

#endif
