"""Other libraries that load photographs, for bench/data.py: a process that stays alive and answers lines.

    peer.py torch|tensorflow TASK THREADS FOLDER      each line on standard input: one pass, whose seconds are printed

TASK: crop (shorter side to 256, random crop of 224, flip; bytes) or resized (random resized crop of 224,
flip, floats that are normalized). FOLDER has a folder for each class."""
import glob
import os
import sys
import time

library, task, threads, folder = sys.argv[1], sys.argv[2], int(sys.argv[3]), sys.argv[4]
files = sorted(glob.glob(os.path.join(folder, "*", "*")))
BATCH = 32
MEAN, DEVIATION = [0.485, 0.456, 0.406], [0.229, 0.224, 0.225]


def torch_passes():
    """The fastest of: 0 or as many processes as threads; decoding by torchvision or by Pillow."""
    import torch
    import torchvision.io as io
    from PIL import Image
    from torchvision.transforms import v2
    torch.set_num_threads(1)

    class Photographs(torch.utils.data.Dataset):
        def __init__(self, is_tensor):
            self.is_tensor = is_tensor
            steps = ([v2.Resize(256, antialias=True), v2.RandomCrop(224), v2.RandomHorizontalFlip()] if task == "crop"
                     else [v2.RandomResizedCrop(224, antialias=True), v2.RandomHorizontalFlip()])
            if not is_tensor:
                steps.append(v2.ToImage())
            if task == "resized":
                steps += [v2.ToDtype(torch.float32, scale=True), v2.Normalize(MEAN, DEVIATION)]
            self.steps = v2.Compose(steps)

        def __len__(self):
            return len(files)

        def __getitem__(self, index):
            if self.is_tensor:
                return self.steps(io.decode_jpeg(io.read_file(files[index]), mode=io.ImageReadMode.RGB))
            with open(files[index], "rb") as file:
                return self.steps(Image.open(file).convert("RGB"))

    def loader(is_tensor, workers):
        return torch.utils.data.DataLoader(Photographs(is_tensor), BATCH, shuffle=True, num_workers=workers,
                                           persistent_workers=workers > 0, drop_last=True)

    def one(loader):
        start = time.monotonic()
        for _ in loader:
            pass
        return time.monotonic() - start

    ways = {(t, w): loader(t, w) for t in (True, False) for w in sorted({0, threads})}
    first = {way: one(ways[way]) for way in ways}
    best = min(first, key=first.get)
    name = f"{'torchvision.io' if best[0] else 'Pillow'}, {best[1]} processes"
    return name, lambda: one(ways[best])


def tensorflow_passes():
    import tensorflow as tf
    tf.config.threading.set_intra_op_parallelism_threads(threads)
    tf.config.threading.set_inter_op_parallelism_threads(threads)

    def crop(path):
        data = tf.io.read_file(path)
        picture = tf.io.decode_jpeg(data, channels=3)
        shape = tf.cast(tf.shape(picture)[:2], tf.float32)
        size = tf.cast(tf.round(shape * (256 / tf.reduce_min(shape))), tf.int32)
        picture = tf.image.resize(picture, size, antialias=True)
        picture = tf.image.random_crop(picture, [224, 224, 3])
        return tf.cast(tf.round(tf.image.random_flip_left_right(picture)), tf.uint8)

    def resized(path):
        data = tf.io.read_file(path)
        shape = tf.io.extract_jpeg_shape(data)
        begin, size, _ = tf.image.sample_distorted_bounding_box(
            shape, tf.zeros([1, 0, 4]), area_range=(0.08, 1), aspect_ratio_range=(3 / 4, 4 / 3),
            use_image_if_no_bounding_boxes=True)
        window = tf.stack([begin[0], begin[1], size[0], size[1]])
        picture = tf.io.decode_and_crop_jpeg(data, window, channels=3)
        picture = tf.image.resize(picture, [224, 224], antialias=True)
        return (tf.image.random_flip_left_right(picture) / 255 - MEAN) / DEVIATION

    data = tf.data.Dataset.from_tensor_slices(files).shuffle(len(files))
    data = data.map(crop if task == "crop" else resized, num_parallel_calls=tf.data.AUTOTUNE, deterministic=False)
    data = data.batch(BATCH, drop_remainder=True).prefetch(tf.data.AUTOTUNE)
    options = tf.data.Options()
    options.threading.private_threadpool_size = threads
    data = data.with_options(options)

    def one():
        start = time.monotonic()
        for _ in data:
            pass
        return time.monotonic() - start

    one()
    return f"tf.data {tf.__version__}", one


name, one = torch_passes() if library == "torch" else tensorflow_passes()
print(name, flush=True)
for _ in sys.stdin:
    print(f"{one():.6f}", flush=True)
