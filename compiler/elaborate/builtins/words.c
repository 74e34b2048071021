/* What `nnc doc` says about words that are no functions: statements and their clauses, values, types,
 * the keys of `train`, sources and stages of data. docs/language.md and docs/data.md say more; tests/docs
 * holds both, the scanner's words and the tables of keys and units against this. */
#include "elaborate/builtins/builtins.h"

#define STATEMENT(name, signature, doc)                                                            \
  { name, signature, doc, NULL, 0, "statements" }
#define CLAUSE(name, signature, doc)                                                               \
  { name, signature, doc, NULL, 0, "words inside statements" }
#define SEEN(name, signature, doc)                                                                 \
  { name, signature, doc, NULL, 0, "words that definers see" }
#define VALUE(name, signature, doc)                                                                \
  { name, signature, doc, NULL, 0, "values" }
#define TYPE(name, doc, example)                                                                   \
  { name, name "(x) | NAME : " name "[EXTENTS]", doc " Example: " example, NULL, 0, "types" }
#define TRAIN(name, signature, doc)                                                                \
  { name, signature, doc, NULL, 0, "train" }
#define IN_TRAIN " Example: train { minimize = mse(linear(x, 16), x), optimizer = sgd, steps = 9, "
#define DATA(name, signature, doc)                                                                 \
  { name, signature, doc, NULL, 0, "data keys" }
#define SOURCE(name, signature, doc)                                                               \
  { name, signature, doc, NULL, 0, "data sources" }
#define STAGE(name, signature, doc)                                                                \
  { name, signature, doc, NULL, 0, "data stages" }

const Builtin builtins_words[] = {
    STATEMENT("const", "const NAME = VALUE, ...",
              "Names known at compile time; -D NAME=VALUE replaces them."
              " Example: const width = 8, depth = 2"),
    STATEMENT(
        "option", "option NAME = NUMBER in LEAST..LIMIT",
        "A number that the executable takes as a flag, --NAME; known when the program runs, as a "
        "schedule is. The limits may be left out; a default without a fraction takes whole "
        "numbers alone. Example: option rate = 0.1 in 0..1; y = dropout(x, rate)"),
    STATEMENT("input", "input NAME : TYPE[EXTENTS]",
              "A minibatch of the field that a data set calls so; its first axis is the batch's."
              " Example: input weight : f32[batch]"),
    STATEMENT("param", "param NAME : TYPE[EXTENTS] = INITIAL",
              "A trained tensor. INITIAL: an initializer, a number or a tensor."
              " Example: param scale : [16] = ones"),
    STATEMENT("state", "state NAME : TYPE[EXTENTS] = INITIAL",
              "A tensor that lives from step to step; NAME <- VALUE gives it its next value."
              " Example: state seen : [] = zeros; seen <- seen + 1"),
    STATEMENT("stream", "stream NAME : TYPE[EXTENTS] = INITIAL",
              "A state of one pass over a data set, which begins with INITIAL, such as the memory "
              "of a recurrent network. It goes on from one minibatch to the next. Each data set "
              "has its own."
              " Example: stream h : [batch, 16] = zeros; h <- 0.5 * (h + x)"),
    STATEMENT(
        "scan",
        "scan NAME, ... in SEQUENCE, ... along AXIS recompute with NAME = FIRST, ... { BODY }",
        "The loop of the running program: a step for each element of the sequences. Names "
        "after `with` are carried: the body binds their values for the next step. "
        "`yield` ends the body; its values are stacked along the axis. The result: "
        "the stacked values, then the carries. Backwards: scan v in x[:, ::-1]. recompute: the "
        "backward pass computes the steps again instead of keeping their values."
        " Example: hs, last = scan v in sequence along 1 with h = x { h = tanh(h + v); yield h }"),
    STATEMENT(
        "def", "def NAME(ARGUMENTS) { BODY } gradient (DY) { BODY }",
        "A function, or a layer if it makes parameters. The block after `gradient`, which may be "
        "left out, computes the gradients of the arguments from that of the result."
        " Example: def double(v, times = 2) { return times * v }"),
    STATEMENT(
        "gradient", "def NAME(ARGUMENTS) { BODY } gradient (DY) { BODY }",
        "A gradient of one's own: the block returns the gradients of the arguments, `none` "
        "for none, from that of the result; it sees the arguments and the body's names."
        " Example: def pass(v) { return sign(v) } gradient (dy) { return dy * (abs(v) <= 1) }"),
    STATEMENT(
        "extern",
        "extern NAME(ARGUMENT : TYPE[EXTENTS], ...) : TYPE[EXTENTS] { c = FILE, cuda = FILE } "
        "gradient (DY) { BODY }",
        "An operator written in C, and in CUDA for --target=cuda, compiled into the "
        "executable; its gradient, if it has one, is written in the language. [...] takes "
        "any shape."
        " Example: extern twice(v : f32[...]) : f32[v.shape] { c = \"twice.c\" }"),
    STATEMENT(
        "optimizer", "optimizer NAME(ARGUMENTS) { BODY }",
        "How a step changes a parameter: the body sees w, its gradient g and the step t, from "
        "1, may have states and ends with w <- VALUE."
        " Example: optimizer signed(lr = 1e-3) { w <- w - lr * sign(g) }"),
    STATEMENT("schedule", "schedule NAME(ARGUMENTS) { BODY }",
              "A number for each step, computed by the host in double from t, epoch, steps and "
              "steps_per_epoch."
              " Example: schedule triangle(peak) { return peak * (1 - abs(2 * t / steps - 1)) }"),
    STATEMENT("init", "init NAME(ARGUMENTS) { BODY }",
              "Initial values of a parameter, from its shape, fan_in and fan_out."
              " Example: init flat(width = 1.0) { return width * (2 * rand(shape) - 1) }"),
    STATEMENT("train", "train { KEY = VALUE, ... params PATTERN { KEY = VALUE, ... } }",
              "Training: the loss, the optimizer, the length; keys in `params` hold for the "
              "parameters whose "
              "paths match. A group with a `minimize` of its own has its own loss."
              " Example: train { minimize = mse(linear(x, 16), x), optimizer = adam, epochs = 5, "
              "params \"*.b\" { frozen = true } }"),
    STATEMENT("predict", "predict { NAME = VALUE, ... }",
              "The results for one example. Example: predict { score = max(x, axis = -1) }"),
    STATEMENT(
        "generate", "generate { from = TOKENS, next = LOGITS }",
        "How `OUT generate` writes texts. `from` is an input of class numbers, [batch, length]. "
        "`next` is the logits of the token after each of its places, [batch, length, classes]; "
        "those of a place follow from the tokens up to it. Or it is [batch, classes], the "
        "logits of the token after the last."
        " Example: generate { from = words, next = linear(embedding(words, 50, 8), 50) }"),
    STATEMENT("data", "data SET { FIELD, ... = SOURCE | STAGE | ... }",
              "Where the fields of a data set come from; `train` is trained on, others evaluate."
              " Example: data test { x = npy(\"test.npy\") }"),

    STATEMENT(
        "for", "for NAME in LIST { BODY } | for (NAME, NAME) in [(VALUE, VALUE), ...] { BODY }",
        "Repeats the body when the program is compiled, once for each element of a list or "
        "range. Each round has layers of its own: linear.0.w, linear.1.w. A loop of the "
        "running program is `scan`."
        " Example: def deep(v) { for units in [32, 16] { v = relu(linear(v, units)) }; return v }"),
    STATEMENT("if", "if CONDITION { BODY } else if CONDITION { BODY } else { BODY }",
              "Chooses when the program is compiled: the condition is a constant, a shape or "
              "`training`. Elements of tensors are not known then: `where` chooses among them."
              " Example: if rank(image) == 4 { y = flatten(image) } else { y = image }"),
    STATEMENT("else", "if CONDITION { BODY } else { BODY }",
              "The statements for the case that the condition of `if` is false."
              " Example: if rank(x) == 2 { y = x } else { y = flatten(x) }"),
    STATEMENT("return", "return VALUE, ...",
              "The result of a def, a schedule, an initializer or a gradient; several are a tuple."
              " Example: def halves(v) { return v / 2, v / 2 }"),
    STATEMENT("yield", "yield VALUE, ...",
              "The values that a step of a scan gives; it ends the body. The steps' values are "
              "stacked along "
              "the axis of the scan."
              " Example: sums, _ = scan v in sequence along 1 with s = x { s = s + v; yield s }"),
    STATEMENT("_", "_ = VALUE | LAYER(_, ARGUMENTS)",
              "As a name it throws a value away. As an argument it leaves the argument out: a "
              "layer whose calls share their parameters."
              " Example: enc = linear(_, 8); near = sum((enc(x) - enc(2 * x)) ^ 2)"),

    CLAUSE("in", "for NAME in LIST | scan NAME in SEQUENCE | option NAME = NUMBER in LEAST..LIMIT",
           "The elements that a loop goes through, or the limits of an option."
           " Example: def times_six(v) { for k in 1..4 { v = k * v }; return v }"),
    CLAUSE("along", "scan NAME in SEQUENCE along AXIS",
           "The axis that a scan goes along, 0 unless it is said."
           " Example: sums, _ = scan v in sequence along 1 with s = x { s = s + v; yield s }"),
    CLAUSE("with", "scan NAME in SEQUENCE with NAME = FIRST, ...",
           "The names that a scan carries from step to step, and their values before the first."
           " Example: sums, _ = scan v in sequence along 1 with s = x { s = s + v; yield s }"),
    CLAUSE("recompute", "scan NAME in SEQUENCE along AXIS recompute with NAME = FIRST { BODY }",
           "The backward pass computes the steps again instead of keeping their values: less "
           "memory, more time."
           " Example: hs, _ = scan v in sequence along 1 recompute with h = x { h = tanh(h + v); "
           "yield h }"),
    CLAUSE("name", "LAYER(ARGUMENTS, name = \"NAME\")",
           "Names a layer's parameters in checkpoints, reports and groups; every def takes it."
           " Example: y = linear(x, 8, name = \"head\")"),
    CLAUSE("c", "extern NAME(...) : TYPE { c = FILE | [FILE, ...] }",
           "The C files, objects and archives with the function of an operator."
           " Example: extern twice(v : f32[...]) : f32[v.shape] { c = \"twice.c\" }"),
    CLAUSE("cuda", "extern NAME(...) : TYPE { cuda = FILE }",
           "The CUDA file with the function of an operator, for --target=cuda."
           " Example: extern twice(v : f32[...]) : f32[v.shape] { c = \"twice.c\", cuda = "
           "\"twice.cu\" }"),
    CLAUSE("function", "extern NAME(...) : TYPE { c = FILE, function = \"NAME\" }",
           "The function of an operator in its file, where it is not called as the operator."
           " Example: extern twice(v : f32[...]) : f32[v.shape] { c = \"twice.c\", function = "
           "\"doubled\" }"),
    CLAUSE(
        "rowwise", "extern NAME(...) : TYPE { c = FILE, rowwise = true }",
        "Promises that row i of an operator's result follows from row i of its arguments, so that "
        "metrics of it are exact."
        " Example: extern twice(v : f32[...]) : f32[v.shape] { c = \"twice.c\", rowwise = true "
        "}"),

    SEEN("w", "w <- VALUE",
         "In an optimizer the parameter, which the body gives its next value."
         " Example: optimizer plain(lr = 0.01) { w <- w - lr * g }"),
    SEEN("g", "g",
         "In an optimizer the gradient of the parameter; in an average the parameter as the "
         "optimizer has left it. Example: optimizer plain(lr = 0.01) { w <- w - lr * g }"),
    SEEN("t", "t",
         "In optimizers and schedules the step's number, from 1."
         " Example: schedule decayed(peak) { return peak / (1 + 0.01 * t) }"),
    SEEN("epoch", "epoch | 1 epoch",
         "In schedules and optimizers the number of the epoch, from 0; also a unit of lengths."
         " Example: schedule halved(peak) { return peak * 0.5 ^ epoch }"),
    SEEN("steps", "steps | COUNT steps",
         "In schedules and optimizers how many steps the run has; also a unit of lengths."
         " Example: schedule falling(peak) { return peak * (1 - t / steps) }"),
    SEEN("steps_per_epoch", "steps_per_epoch",
         "In schedules and optimizers how many steps an epoch has."
         " Example: schedule daily(peak) { return peak * 0.9 ^ (t / steps_per_epoch) }"),
    SEEN("fan_in", "fan_in",
         "In an initializer how many numbers each result of the layer is computed from."
         " Example: init small(scale = 1.0) { return scale * randn(shape) / fan_in }"),
    SEEN("fan_out", "fan_out",
         "In an initializer how many results each number has a part in."
         " Example: init small(scale = 1.0) { return scale * randn(shape) / fan_out }"),

    VALUE(
        "training", "training",
        "True while the training step is built, false for evaluation and prediction; `if` looks "
        "at it. Example: def noisy(v) { if training { v = v + 0.1 * randn(v.shape) }; return v }"),
    VALUE("none", "none",
          "No value: an argument that is not given, or in brackets a new axis."
          " Example: _ = assert(x[:, none].shape == [batch, 1, 16], \"a new axis\")"),
    VALUE("true", "true", "The truth value. Example: _ = assert(true != false, \"truth\")"),
    VALUE("false", "false",
          "The other truth value."
          " Example: y = linear(x, 8, bias = false)"),
    VALUE("pi", "pi", "3.14159265358979. Example: wave = sin(2 * pi * x)"),
    VALUE("inf", "inf", "Infinity. Example: y = minimum(x, inf)"),
    VALUE("T", "x.T",
          "The tensor with all axes reversed: of a matrix the transpose."
          " Example: _ = assert((x @ x.T).shape == [batch, batch], \"products of rows\")"),

    TYPE("f64", "Floats of 64 bits.", "_ = assert(f64(x).dtype == f64, \"converted\")"),
    TYPE("f32", "Floats of 32 bits, the type where none is said.",
         "_ = assert(f32(label).dtype == f32, \"converted\")"),
    TYPE("f16", "Floats of 16 bits (IEEE 754 binary16): 11 binary digits, up to 65504.",
         "_ = assert(f16(x).dtype == f16, \"converted\")"),
    TYPE("bf16", "Floats of 16 bits with the range of f32 and 8 binary digits.",
         "_ = assert(bf16(x).dtype == bf16, \"converted\")"),
    TYPE("i64", "Integers of 64 bits.", "_ = assert(i64(label).dtype == i64, \"converted\")"),
    TYPE("i32", "Integers of 32 bits; conversion goes toward zero.",
         "_ = assert(i32(x).dtype == i32, \"converted\")"),
    TYPE("u8", "Bytes, 0 to 255, for storage: f32(x) makes them numbers to compute with.",
         "_ = assert(u8(label).dtype == u8, \"converted\")"),
    TYPE("bool", "Truth values, which comparisons give.",
         "_ = assert(bool(label).dtype == bool && (x > 0).dtype == bool, \"truths\")"),

    TRAIN("minimize", "minimize = LOSS",
          "The loss, a float scalar; in a group its own."
          " Example: train { minimize = mse(linear(x, 16), x), optimizer = sgd, steps = 9 }"),
    TRAIN("optimizer", "optimizer = NAME(ARGUMENTS)",
          "How a step changes the parameters; in a group its own."
          " Example: train { minimize = mse(linear(x, 16), x), steps = 9, optimizer = adam(lr = "
          "1e-3) }"),
    TRAIN("epochs", "epochs = COUNT | COUNT epochs",
          "How long training goes on, in passes over the training set; also a unit of lengths: "
          "warmup = 2 epochs. Example: train { minimize = mse(linear(x, 16), x), optimizer = "
          "adam(lr = cosine(1e-3, warmup = 2 epochs)), epochs = 9 }"),
    TRAIN("steps", "steps = COUNT",
          "How long training goes on, in steps, instead of epochs."
          " Example: train { minimize = mse(linear(x, 16), x), optimizer = sgd, steps = 9 }"),
    TRAIN("seed", "seed = NUMBER",
          "The seed of initial weights, the order of examples and random functions, 0 unless it "
          "is said." IN_TRAIN "seed = 7 }"),
    TRAIN(
        "clip", "clip = LIMIT | clip_norm(LIMIT) | clip_value(LIMIT)",
        "Limits the gradients. A number: the norm of all gradients of the block or group." IN_TRAIN
        "clip = 1.0 }"),
    TRAIN("clip_norm", "clip = LIMIT | clip_norm(LIMIT) | clip_value(LIMIT)",
          "Limits the norm of gradients. A number: all those of the block or group times min(1, "
          "LIMIT / (norm + 1e-6)), norm that of all of them; clip_norm: each parameter by its own "
          "norm." IN_TRAIN "clip = clip_norm(1.0) }"),
    TRAIN("clip_value", "clip = clip_value(LIMIT)",
          "Limits each element of the gradients to [-LIMIT, LIMIT]." IN_TRAIN
          "clip = clip_value(0.5) }"),
    TRAIN("average", "average = ema(DECAY) | swa(START, EVERY) | none",
          "Evaluation and prediction read an average of the weights: an exponential moving average "
          "(ema), or the mean from step START on (swa)." IN_TRAIN "average = ema(0.99) }"),
    TRAIN("accumulate", "accumulate = COUNT",
          "Minibatches a step: the gradient is the mean of theirs." IN_TRAIN "accumulate = 4 }"),
    TRAIN("precision", "precision = TYPE",
          "f32, f64, or bf16 and f16: mixed precision, where contractions and convolutions take "
          "numbers of 16 bits; parameters, losses and optimizers stay f32. tf32: f32, but they may "
          "round their operands to 11 binary digits where a GPU is faster with it. bf16x3: f32, "
          "whose "
          "products may be sums of three of bf16, to 15 binary digits, where a processor's matrix "
          "unit "
          "is faster with it." IN_TRAIN "precision = bf16 }"),
    TRAIN("loss_scale", "loss_scale = POWER_OF_TWO | \"dynamic\"",
          "The loss is multiplied by it and its gradients are divided by it, so that small ones "
          "do not vanish in f16; 1024 with precision = f16, else 1. \"dynamic\" finds it itself: "
          "steps with gradients that are not finite are left out." IN_TRAIN
          "precision = f16, loss_scale = 256 }"),
    TRAIN("validate", "validate = COUNT steps",
          "Evaluates each so many steps instead of after each epoch." IN_TRAIN
          "validate = 3 steps }"),
    TRAIN(
        "save", "save = best(SET.METRIC, \"min\" | \"max\", keep = 1)",
        "Keeps the checkpoint of the best report in best.safetensors, beside the last one; keep = "
        "3: also those of the three best, in the folder kept." IN_TRAIN
        "save = best(train.loss) }"),
    TRAIN("best", "save = best(SET.METRIC, \"min\" | \"max\", keep = 1)",
          "The report that `save` keeps: less is better of a loss; of other metrics the word says "
          "it. train.loss is that of training since the report before." IN_TRAIN
          "save = best(train.loss, keep = 3) }"),
    TRAIN("save_every", "save_every = COUNT steps | COUNT epochs | COUNT minutes",
          "When to save; else after a report if the last save is ten seconds old, and every ten "
          "minutes." IN_TRAIN "save_every = 10 minutes }"),
    TRAIN("minutes", "save_every = COUNT minutes",
          "The unit of save_every for times." IN_TRAIN "save_every = 10 minutes }"),
    TRAIN("minute", "save_every = 1 minute",
          "One of the minutes of save_every." IN_TRAIN "save_every = 1 minute }"),
    TRAIN("keep", "keep = COUNT",
          "The checkpoints of the last COUNT saves stay, in the folder kept: of those that "
          "save_every names, else of the reports." IN_TRAIN "keep = 3 }"),
    TRAIN("stop", "stop = patience(COUNT, SET.METRIC, \"min\" | \"max\", threshold = 0)",
          "Ends the run when a metric no longer improves." IN_TRAIN
          "stop = patience(5, train.loss) }"),
    TRAIN("patience", "stop = patience(COUNT, SET.METRIC, \"min\" | \"max\", threshold = 0)",
          "The reports in a row without an improvement by more than the threshold, after which the "
          "run ends. Less is better of a loss; of other metrics the word says it." IN_TRAIN
          "stop = patience(5, train.loss, threshold = 1e-3) }"),
    TRAIN("metrics", "metrics = [NAME, ...]",
          "The values that are reported besides the loss: names of numbers, or gradient_norm(loss)."
          " Example: norm_of_x = norm(x); train { minimize = mse(linear(x, 16), x), optimizer = "
          "sgd, steps = 9, metrics = [norm_of_x] }"),
    TRAIN("lr_scale", "params PATTERN { lr_scale = FACTOR }",
          "A factor of the optimizer's lr for a group, schedules included." IN_TRAIN
          "params \"*.b\" { lr_scale = 2 } }"),
    TRAIN("frozen", "params PATTERN { frozen = true }",
          "Keeps the parameters and states of a group as they are; batch_norm uses its "
          "statistics." IN_TRAIN "params \"*.b\" { frozen = true } }"),
    TRAIN("lazy", "lazy = true",
          "Elements whose gradient is 0 stay as they are, and their states of the optimizer, too: "
          "of a table of embeddings a step touches only the rows that the minibatch names." IN_TRAIN
          "params \"*.b\" { lazy = true } }"),
    TRAIN(
        "params", "params PATTERN, ... { KEY = VALUE, ... }",
        "Keys for the parameters whose paths match; * is any text, ? one character. An argument "
        "of the optimizer is a key too, as for decay with exceptions."
        " Example: train { minimize = mse(linear(x, 16), x), optimizer = adamw, steps = 9, params "
        "\"*.b\" { weight_decay = 0 } }"),

    DATA("order", "order = file | streams | within(COUNT)",
         "In a data set the order of its examples. file: as they lie; streams: each row of a "
         "minibatch continues that row of the one before; within: shuffled, COUNT at a time. "
         "Without it "
         "training shuffles each epoch."
         " Example: data train { x = npy(\"x.npy\"); order = file }"),
    DATA("file", "order = file",
         "Examples come in the order of the files, unshuffled."
         " Example: data train { x = npy(\"x.npy\"); order = file }"),
    DATA("streams", "order = streams",
         "Each row of a minibatch continues that row of the one before, for networks whose memory "
         "goes on. Example: data train { x = npy(\"x.npy\"); order = streams }"),
    DATA("within", "order = within(COUNT)",
         "In data train: an epoch takes COUNT examples at a time, which it shuffles, from 16 "
         "places of the set: "
         "files "
         "that are larger than memory are read piece by piece."
         " Example: data train { x = npy(\"x.npy\") | on_disk; order = within(8192) }"),
    DATA("tail", "tail = wrap",
         "In data train: the last, incomplete minibatch of an epoch is filled from the epoch's "
         "beginning. Without this key it is dropped."
         " Example: data train { x = npy(\"x.npy\"); tail = wrap }"),
    DATA("wrap", "tail = wrap",
         "In data train: the last minibatch of an epoch is filled from its beginning."
         " Example: data train { x = npy(\"x.npy\"); tail = wrap }"),

    SOURCE("idx", "idx(file, ...)",
           "Files in the format of MNIST, one a field: [n, ...]."
           " Example: data test { image, label = idx(\"images\", \"labels\") }"),
    SOURCE("concat", "concat(source, source, ...)",
           "The rows of the sources, one after the other; stages act on all of them, and learn "
           "from all together."
           " Example: data predict { x = concat(npy(\"x.npy\"), csv(\"x.csv\")) }"),
    SOURCE("mix", "mix(source, source, ..., weights = [...])",
           "In data train: the rows of the sources, of each so many in an epoch as the weights say."
           " Example: data train { x, label, image, sequence, video, words = mix(npz(\"a.npz\"), "
           "npz(\"b.npz\"), weights = [0.7, 0.3]) }"),
    SOURCE("csv",
           "csv(file, columns = [...], header = true, separator = \",\", missing = [\"\", \"NA\", "
           "\"?\"])",
           "A table in text; fields are columns or lists of columns."
           " Example: data test { x, label = csv(\"test.csv\", columns = [0..16, 16], header = "
           "false) }"),
    SOURCE("npy", "npy(file, ...)",
           "Arrays of NumPy, one a field: [n, ...]."
           " Example: data test { x, label = npy(\"x.npy\", \"label.npy\") }"),
    SOURCE("npz", "npz(file, arrays = [...])",
           "Arrays of NumPy in one archive (savez, savez_compressed): of the fields' names, or of "
           "those "
           "in `arrays`."
           " Example: data test { x, label = npz(\"digits.npz\", arrays = [\"x_test\", "
           "\"y_test\"]) }"),
    SOURCE("raw", "raw(file, ..., type = TYPE, offset = 0, big_endian = false)",
           "Numbers without a header, one file a field, rows of the input's shape: TYPE is \"u8\", "
           "\"i16\", \"f32\" and so on, the input's unless given.  [n, ...]"
           " Example: data test { x = raw(\"x.bin\", type = \"i16\", offset = 64) }"),
    SOURCE("cifar", "cifar(file, ..., classes = 10)",
           "The binary files of CIFAR-10, or with classes = 100 of CIFAR-100: pictures [n, 3, 32, "
           "32], "
           "classes [n], and of CIFAR-100 their groups [n]."
           " Example: data train { picture, label = cifar(\"data_batch_1.bin\", "
           "\"data_batch_2.bin\") }"),
    SOURCE(
        "text",
        "text(file, length, stride = length, from = 0, to = 1, unit = \"character\", vocabulary)",
        "Windows of `length` over a text, each unit (character, byte, word, or token of the "
        "vocabulary's file) a class number; a second field is the same one later.  [n, length]"
        " Example: data val { word, next = text(\"input.txt\", length = 64, from = 0.9) }"),
    SOURCE("token_stream",
           "token_stream(file, length, stride = length, from = 0, to = 1, type = \"u16\")",
           "Windows over the token ids of a binary file, as of text; type \"u16\" or \"u32\"."
           "  [n, length]"
           " Example: data val { token, next = token_stream(\"tokens.bin\", length = 64) }"),
    SOURCE("image_folder",
           "image_folder(folder, workers = 0, on_error = \"stop\", palette = \"color\")",
           "JPEG and PNG pictures in a folder for each class, decoded by `workers` threads; the "
           "second field is the class. Without it the folder itself may hold the pictures. "
           "A picture that cannot be read stops the run or, with \"skip\", is "
           "left out. Masks whose classes are indices of a palette need `palette = \"index\"`.  "
           "[n, channels, height, width]"
           " Example: data train { image, label = image_folder(\"train\") | resize(20) | "
           "center_crop(16) }"),
    SOURCE(
        "image_list",
        "image_list(file, columns = [...], header = true, separator = \",\", missing = [\"\", "
        "\"NA\", \"?\"], folder = \"\", workers = 0, on_error = \"stop\", palette = \"color\")",
        "A table in text, as of csv, whose first field is pictures that a column names; the other "
        "fields are numbers or, with categories, texts."
        " Example: data train { image, label = image_list(\"train.csv\", columns = [\"file\", "
        "\"kind\"], folder = \"pictures\") | random_crop(16) | categories(label) }"),
    SOURCE("wav_folder",
           "wav_folder(folder, rate, fit = \"exact\", workers = 0, on_error = \"stop\")",
           "Sounds of one channel in WAV files of `rate` samples a second, in a folder for each "
           "class; the second field is the class. With a `fit` of \"start\", \"middle\" or "
           "\"random\" longer ones are cut and shorter ones end in zeros.  [n, samples]"
           " Example: data train { sound, label = wav_folder(\"train\", rate = 16000, fit = "
           "\"random\") }"),
    SOURCE(
        "wav_list",
        "wav_list(file, columns = [...], header = true, separator = \",\", missing = [\"\", "
        "\"NA\", \"?\"], folder = \"\", rate, fit = \"exact\", workers = 0, on_error = \"stop\")",
        "A table in text, as of csv, whose first field is sounds that a column names, as those of "
        "wav_folder; the other fields are numbers or, with categories, texts."
        " Example: data train { sound, label = wav_list(\"train.csv\", columns = [\"file\", "
        "\"kind\"], folder = \"sounds\", rate = 16000) | categories(label) }"),
    SOURCE("shards",
           "shards(files, members = [...], workers = 0, on_error = \"stop\", palette = "
           "\"color\")",
           "Tar archives in the layout of WebDataset, read piece by piece: a picture and its "
           "class, or "
           "the members that `members` names. Braces hold a range of numbers."
           " Example: data train { image, label = shards(\"train-{000..127}.tar\", members = "
           "[\"jpg;png\", \"cls\"]) | random_crop(16); order = within(8192) }"),
    SOURCE("files", "files(workers = 0, palette = \"color\")",
           "The pictures that the command line of `predict` names, in data predict."
           " Example: data predict { image = files() | resize(16, 16) }"),
    SOURCE("counter", "counter()",
           "The number of the row."
           " Example: data test { label = counter(), x = npy(\"x.npy\") }"),
    SOURCE("constant", "constant(value)",
           "The same value for each row: a number or nested lists."
           " Example: data test { label = constant(3), x = npy(\"x.npy\") }"),
    SOURCE("copy_task", "copy_task(words, bits, count = 10000, least = 1, seed = 0)",
           "Drawn sequences to be copied: source [2 words + 2, bits + 2], "
           "target [2 words + 2, bits], mask [2 words + 2, 1]  (Graves et al. 2014)."
           " Example: data test { source, target, mask = copy_task(6, 8) }"),

    STAGE("split", "split(from, to, seed = 0, by = FIELD, group = FIELD)",
          "The part [from, to) of a fixed random permutation of the rows; with `by` each part has "
          "the same share of every value of the field, with `group` all rows of each value are in "
          "one "
          "part."
          " Example: data test { x = npy(\"x.npy\") | split(0.8, 1) }"),
    STAGE(
        "fold", "fold(number, of = 5, seed = 0, by = FIELD, group = FIELD)",
        "Cross-validation: the rows are cut into `of` random parts; data train takes all but the "
        "one of that number, every other set that one. With `by` each has the same share of every "
        "value of the field, with `group` all rows of each value are in one. The number may be an "
        "option, so that --fold 3 chooses it when the program runs."
        " Example: data test { x, label = npy(\"x.npy\", \"label.npy\") | fold(0, of = 10) }"),
    STAGE("balance", "balance(FIELD)",
          "In data train: all values of the field, as classes, are read equally often."
          " Example: data train { x, label = npy(\"x.npy\", \"label.npy\") | balance(label) }"),
    STAGE("weigh", "weigh(FIELD)",
          "In data train: an example is read as often as the field says, a weight of 0 or more."
          " Example: data train { x, label = npy(\"x.npy\", \"label.npy\") | weigh(label) }"),
    STAGE("shuffle", "shuffle(seed = 0)",
          "A fixed random order."
          " Example: data test { x = npy(\"x.npy\") | shuffle(7) }"),
    STAGE("standardize", "standardize(field, ...)",
          "(x - mean) / deviation of each column, fitted on the training set."
          " Example: data train { x, label = npy(\"x.npy\", \"label.npy\") | standardize(x) }"),
    STAGE("impute", "impute(field, ..., with = \"mean\")",
          "Missing values become the column's mean, \"median\" or a number."
          " Example: data train { x = csv(\"x.csv\") | impute(x, with = \"median\") }"),
    STAGE(
        "hash", "hash(field, ..., buckets = COUNT)",
        "Texts as class numbers below COUNT, by a hash of each: for more values than one can list."
        " Example: data train { x, label = csv(\"x.csv\") | hash(label, buckets = 10) }"),
    STAGE("categories", "categories(field, ..., unknown = false)",
          "Texts as class numbers, in the sorted order of the training set's; with `unknown` one "
          "class "
          "more for all others and for missing values."
          " Example: data train { x, label = csv(\"x.csv\") | categories(label) }"),
    STAGE("resize", "resize(size) | resize(height, width)",
          "Scales a picture: its shorter side to `size`, or to the size that is given."
          " Example: data train { image, label = image_folder(\"train\") | resize(16, 16) }"),
    STAGE("center_crop", "center_crop(size) | center_crop(height, width)",
          "Cuts out the middle; a picture that is too small is enlarged first."
          " Example: data train { image, label = image_folder(\"train\") | center_crop(16) }"),
    STAGE(
        "random_crop", "random_crop(size) | random_crop(height, width)",
        "Cuts out a part anywhere, outside of training the middle; a picture that is too small is "
        "enlarged first."
        " Example: data train { image, label = image_folder(\"train\") | random_crop(16) }"),
    STAGE("random_resized_crop",
          "random_resized_crop(size | height, width, scale = [0.08, 1], ratio = [0.75, 1.3333])",
          "Cuts out a part of a random share of the area and a random ratio of width to height, "
          "and scales it to the size; outside of training the largest part in the middle  (Szegedy "
          "et al. 2015)."
          " Example: data train { image, label = image_folder(\"train\") | "
          "random_resized_crop(16) | random_flip }"),
    STAGE("pad", "pad(size, value = 0) | pad(height, width, value = 0)",
          "Adds so many rows above and below, and columns left and right, of the value."
          " Example: data train { image, label = image_folder(\"train\") | pad(2) | "
          "random_crop(16) }"),
    STAGE("color_jitter", "color_jitter(brightness = 0, contrast = 0, saturation = 0, hue = 0)",
          "Changes colours by factors from 1 - x to 1 + x and the hue by up to that part of the "
          "circle either way, in a random order; nothing outside of training."
          " Example: data train { image, label = image_folder(\"train\") | random_crop(16) | "
          "color_jitter(0.4, 0.4, 0.4, 0.1) }"),
    STAGE(
        "random_affine",
        "random_affine(degrees = 0, translate = 0, scale = [1, 1], shear = 0, value = 0)",
        "Turns a picture about its middle by up to so many degrees either way, shears it likewise, "
        "scales it by a factor in that range and moves it by up to that part of its size; places "
        "from outside get the value. Nothing outside of training."
        " Example: data train { image, label = image_folder(\"train\") | random_crop(16) | "
        "random_affine(degrees = 10, translate = 0.1) }"),
    STAGE("random_erase",
          "random_erase(probability = 0.5, scale = [0.02, 0.33], ratio = [0.3, 3.3], value = 0)",
          "Fills a part of a picture, of a random share of the area and ratio of width to height; "
          "nothing outside of training  (Zhong et al. 2017)."
          " Example: data train { image, label = image_folder(\"train\") | random_crop(16) | "
          "random_erase }"),
    STAGE("random_flip", "random_flip(probability = 0.5)",
          "Changes left and right; nothing outside of training."
          " Example: data train { image, label = image_folder(\"train\") | random_crop(16) | "
          "random_flip }"),
    STAGE(
        "with", "with(field, value = 0)",
        "The line's pictures are masks of the pictures of another line: they go through the stages "
        "of that line that move pixels, with the same draws, each pixel as it is or, where none "
        "of the mask is, the value."
        " Example: data train { picture = image_folder(\"pictures\") | random_crop(16) | "
        "random_flip; mask = image_folder(\"masks\") | with(picture) }"),
    STAGE("boxes", "boxes(field, classes = field, least = 0)",
          "The field is boxes in the line's pictures, x1 y1 x2 y2 in pixels, which are moved as "
          "the stages of pictures "
          "move these. One of which less than the share `least` is still seen, or nothing, becomes "
          "0 0 0 0, "
          "and its class -1."
          " Example: data train { image, found, kind = image_list(\"boxes.csv\", columns = "
          "[\"file\", "
          "[\"x1\", \"y1\", \"x2\", \"y2\"], \"kind\"]) | resize(16, 16) | random_flip | "
          "boxes(found, classes = kind) }"),
    STAGE("one_hot", "one_hot(field, ...)",
          "Class numbers as rows with a number for each class, 1 for its own and 0 for the others: "
          "the "
          "last axis of the input."
          " Example: data test { x = csv(\"x.csv\") | one_hot(x) }"),
    STAGE(
        "mixup", "mixup(alpha = 0.2, probability = 1)",
        "In training: an example becomes a mixture of it and the next one of its minibatch, with "
        "all fields of the line; the share is drawn from Beta(alpha, alpha)  (Zhang et al. 2018)."
        " Example: data train { image = image_folder(\"train\") | random_crop(16) | mixup(0.4) }"),
    STAGE("cutmix", "cutmix(alpha = 1, probability = 1)",
          "In training: a part of the picture becomes that of the next one of the minibatch, and "
          "labels are mixed by its area  (Yun et al. 2019)."
          " Example: data train { image = image_folder(\"train\") | random_crop(16) | cutmix }"),
    STAGE("batch", "batch(size)",
          "States the size of a minibatch for readers."
          " Example: data test { x = npy(\"x.npy\") | batch(4) }"),
    STAGE("prefetch", "prefetch(count = 2)",
          "Minibatches prepared ahead by a thread; 0: none."
          " Example: data test { x = npy(\"x.npy\") | prefetch(4) }"),
    STAGE("window", "window(past, future = 0, stride = 1, from = 0, to = 1)",
          "Rows that follow each other, as of a time series, become examples [past, ...]; with a "
          "`future` the last field of the line has the rows that follow, [future, ...]. Windows "
          "begin "
          "`stride` rows apart, in the part of the rows from `from` to `to`."
          " Example: data predict { sequence = npy(\"sequence.npy\") | window(10) }"),
    STAGE("on_disk", "on_disk",
          "Rows stay in their files and are read when they are wanted: the data may be larger than "
          "memory."
          " Example: data test { x = npy(\"x.npy\") | on_disk }"),
    {0},
};
