/* Words of PyTorch, Keras, JAX and NumPy for what this language has under another name: a name that
 * is unknown here is answered with ours.
 *
 * Words are compared as small letters and digits alone, so LeakyReLU is leaky_relu, and without what
 * others put at their end ("Loss", "Layer"). A word has a row for each of ours that it may mean, the
 * likeliest first; one is suggested only where it is among the candidates, since `flip` means a
 * stage in a data line and a function elsewhere. */
#include <ctype.h>
#include <string.h>
#include "elaborate/elaborator.h"

enum { LONGEST = 64 };

static const struct {
  const char *word, *ours;
} synonyms[] = {
  /* layers */
  {"dense", "linear"}, {"fc", "linear"}, {"fullyconnected", "linear"}, {"affine", "linear"},
  {"convolution", "conv2d"}, {"convolution1d", "conv1d"}, {"convolution2d", "conv2d"},
  {"convolution3d", "conv3d"}, {"lazyconv2d", "conv2d"}, {"lazylinear", "linear"},
  {"convtranspose1d", "conv1d_transpose"}, {"convtranspose2d", "conv2d_transpose"},
  {"convtranspose3d", "conv3d_transpose"}, {"deconv", "conv2d_transpose"},
  {"deconv2d", "conv2d_transpose"}, {"separableconv2d", "depthwise_conv2d"},
  {"maxpooling1d", "max_pool1d"}, {"maxpooling2d", "max_pool2d"}, {"maxpooling3d", "max_pool3d"},
  {"avgpooling2d", "avg_pool2d"}, {"averagepooling1d", "avg_pool1d"},
  {"averagepooling2d", "avg_pool2d"}, {"averagepooling3d", "avg_pool3d"},
  {"averagepool", "avg_pool"}, {"meanpool", "avg_pool"},
  {"globalaveragepooling1d", "global_avg_pool"}, {"globalaveragepooling2d", "global_avg_pool"},
  {"globalaveragepool", "global_avg_pool"}, {"gap", "global_avg_pool"},
  {"globalmaxpooling2d", "global_max_pool"}, {"adaptiveavgpool1d", "adaptive_avg_pool"},
  {"adaptiveavgpool2d", "adaptive_avg_pool"}, {"adaptivemaxpool2d", "adaptive_max_pool"},
  {"batchnorm1d", "batch_norm"}, {"batchnorm2d", "batch_norm"}, {"batchnorm3d", "batch_norm"},
  {"batchnormalization", "batch_norm"}, {"syncbatchnorm", "batch_norm"}, {"bn", "batch_norm"},
  {"layernormalization", "layer_norm"}, {"ln", "layer_norm"}, {"groupnormalization", "group_norm"},
  {"instancenorm1d", "instance_norm"}, {"instancenorm2d", "instance_norm"},
  {"instancenorm3d", "instance_norm"}, {"rmsnormalization", "rms_norm"},
  {"lrn", "local_response_norm"}, {"dropout1d", "channel_dropout"},
  {"dropout2d", "channel_dropout"}, {"dropout3d", "channel_dropout"},
  {"spatialdropout2d", "channel_dropout"}, {"alphadropout", "dropout"},
  {"mha", "multi_head_attention"}, {"selfattention", "multi_head_attention"},
  {"scaleddotproductattention", "attention"}, {"sdpa", "attention"},
  {"dotproductattention", "attention"}, {"transformerencoderlayer", "transformer_block"},
  {"encoderblock", "transformer_block"}, {"transformerdecoderlayer", "decoder_block"},
  {"mlp", "feed_forward"}, {"ffn", "feed_forward"}, {"upsampling2d", "upsample_nearest"},
  {"upsample", "upsample_nearest"}, {"interpolate", "resize_linear"},
  {"resizebilinear", "resize_linear"}, {"depthtospace", "pixel_shuffle"},
  {"spacetodepth", "pixel_unshuffle"}, {"simplernn", "rnn"}, {"embed", "embedding"},
  {"positionalencoding", "wave_positions"}, {"rope", "rotary"}, {"rotaryembedding", "rotary"},
  {"birnn", "bidirectional"}, {"bilstm", "bidirectional"}, {"affinegridgenerator", "affine_grid"},
  {"gridsampler", "grid_sample"},
  /* activations */
  {"swish", "silu"}, {"htanh", "hard_tanh"}, {"lrelu", "leaky_relu"}, {"softmax2d", "softmax"},
  {"expit", "sigmoid"}, {"logistic", "sigmoid"},
  /* losses */
  {"ce", "cross_entropy"}, {"categoricalcrossentropy", "cross_entropy"},
  {"sparsecategoricalcrossentropy", "cross_entropy"}, {"softmaxcrossentropy", "cross_entropy"},
  {"bce", "binary_cross_entropy"}, {"bcewithlogits", "binary_cross_entropy"},
  {"sigmoidcrossentropy", "binary_cross_entropy"}, {"l2", "mse"}, {"meansquarederror", "mse"},
  {"mae", "l1"}, {"meanabsoluteerror", "l1"}, {"negativeloglikelihood", "nll"},
  {"kldivergence", "kl_div"}, {"kl", "kl_div"}, {"tripletmargin", "triplet"},
  {"infonce", "contrastive"}, {"ntxent", "contrastive"}, {"topkaccuracy", "in_top_k"},
  {"poisson", "poisson_nll"}, {"pairwisedistance", "distance"}, {"cdist", "distance"},
  /* optimizers, schedules, initial values */
  {"nesterov", "sgd"}, {"nag", "sgd"}, {"cosineannealinglr", "cosine"},
  {"cosineannealing", "cosine"}, {"cosinedecay", "cosine"},
  {"cosineannealingwarmrestarts", "cosine_restarts"}, {"steplr", "step"},
  {"multisteplr", "multi_step"}, {"piecewiseconstantdecay", "multi_step"},
  {"exponentiallr", "exponential"}, {"exponentialdecay", "exponential"},
  {"polynomiallr", "polynomial"}, {"polynomialdecay", "polynomial"}, {"linearlr", "linear_decay"},
  {"onecyclelr", "one_cycle"}, {"constantlr", "constant_rate"}, {"inversetimedecay", "inverse"},
  {"reducelronplateau", "plateau"}, {"exponentialmovingaverage", "ema"},
  {"xavier", "glorot_uniform"}, {"glorot", "glorot_uniform"}, {"xavieruniform", "glorot_uniform"},
  {"xaviernormal", "glorot_normal"}, {"kaiming", "he_normal"}, {"kaiminguniform", "he_uniform"},
  {"kaimingnormal", "he_normal"}, {"he", "he_normal"}, {"truncnormal", "truncated_normal"},
  /* functions */
  {"absolute", "abs"}, {"fabs", "abs"}, {"power", "pow"}, {"clamp", "clip"},
  {"clipbyvalue", "clip"}, {"dot", "matmul"}, {"mm", "matmul"}, {"bmm", "matmul"},
  {"tensordot", "einsum"}, {"ravel", "flatten"}, {"amax", "max"}, {"amin", "min"},
  {"reducemax", "max"}, {"reducemin", "min"}, {"reducesum", "sum"}, {"reducemean", "mean"},
  {"reduceprod", "prod"}, {"variance", "var"}, {"stddev", "std"}, {"product", "prod"},
  {"astype", "cast"}, {"fulllike", "full"}, {"fill", "full"}, {"zeroslike", "zeros"},
  {"oneslike", "ones"}, {"empty", "zeros"}, {"linspace", "arange"}, {"iota", "arange"},
  {"randomnormal", "randn"}, {"randomuniform", "rand"}, {"randint", "random_bits"},
  {"bernoulli", "rand"}, {"view", "reshape"}, {"squeeze", "reshape"}, {"unsqueeze", "reshape"},
  {"expanddims", "reshape"}, {"swapaxes", "transpose"}, {"swapdims", "transpose"},
  {"movedim", "move_axis"}, {"expand", "broadcast"}, {"broadcastto", "broadcast"},
  {"cat", "concat"}, {"concatenate", "concat"}, {"hstack", "concat"}, {"vstack", "concat"},
  {"chunk", "split"}, {"fliplr", "flip"}, {"flipud", "flip"}, {"reverse", "flip"},
  {"repeatinterleave", "repeat"}, {"gather", "take_along_axis"}, {"take", "take_along_axis"},
  {"indexadd", "scatter_add"}, {"scatter", "scatter_add"}, {"segmentsum", "scatter_add"},
  {"maskedfill", "where"}, {"select", "where"}, {"detach", "stop_gradient"},
  {"nograd", "stop_gradient"}, {"gradients", "grad"}, {"autograd", "grad"},
  {"l2normalize", "norm"}, {"diagonal", "diag"}, {"cumulativesum", "cumsum"}, {"fix", "trunc"},
  {"arcsin", "asin"}, {"arccos", "acos"}, {"arctan", "atan"}, {"arctan2", "atan2"}, {"ln", "log"},
  {"arcsinh", "asinh"}, {"arccosh", "acosh"}, {"arctanh", "atanh"}, {"sgn", "sign"},
  {"numel", "size"}, {"ndim", "rank"}, {"onehotencoding", "one_hot"}, {"tocategorical", "one_hot"},
  {"meshgrid", "broadcast"},
  /* sources and stages of data lines */
  {"imagedatasetfromdirectory", "image_folder"}, {"folder", "image_folder"},
  {"images", "image_folder"}, {"mnist", "idx"}, {"ubyte", "idx"}, {"readcsv", "csv"},
  {"dataframe", "csv"}, {"tsv", "csv"}, {"numpy", "npy"}, {"npz", "npy"}, {"load", "npy"},
  {"textfile", "text"}, {"tokens", "token_stream"}, {"range", "counter"},
  {"normalize", "standardize"}, {"normalise", "standardize"}, {"standardise", "standardize"},
  {"standardscaler", "standardize"}, {"zscore", "standardize"}, {"scale", "standardize"},
  {"fillna", "impute"}, {"simpleimputer", "impute"}, {"fill", "impute"}, {"onehot", "categories"},
  {"labelencoder", "categories"}, {"ordinalencoder", "categories"}, {"category", "categories"},
  {"randomhorizontalflip", "random_flip"}, {"horizontalflip", "random_flip"},
  {"randomverticalflip", "random_flip"}, {"hflip", "random_flip"}, {"flip", "random_flip"},
  {"randomresizedcrop", "random_crop"}, {"crop", "center_crop"}, {"traintestsplit", "split"},
  {"take", "split"}, {"skip", "split"},
  /* arguments */
  {"kernelsize", "kernel"}, {"poolsize", "kernel"}, {"windowsize", "kernel"},
  {"strides", "stride"}, {"dilationrate", "dilation"}, {"filters", "channels"},
  {"outchannels", "channels"}, {"outfeatures", "units"}, {"hiddensize", "units"},
  {"usebias", "bias"}, {"kernelinitializer", "init"}, {"numheads", "heads"}, {"nhead", "heads"},
  {"p", "rate"}, {"prob", "rate"}, {"dropout", "dropout_rate"}, {"iscausal", "causal"},
  {"attnmask", "mask"}, {"epsilon", "eps"}, {"dim", "axis"}, {"dims", "axis"}, {"axes", "axis"},
  {"keepdim", "keep"}, {"keepdims", "keep"}, {"negativeslope", "slope"},
  {"labelsmoothing", "smoothing"}, {"ignoreindex", "ignore"}, {"weight", "weights"},
  {"posweight", "positive"}, {"numembeddings", "count"}, {"inputdim", "count"},
  {"embeddingdim", "width"}, {"outputdim", "width"}, {"numgroups", "groups"},
  {"numclasses", "classes"}, {"reduction", "reduce"}, {"dtype", "type"}, {"learningrate", "lr"},
  {"rho", "decay"}, {"alpha", "decay"}, {"wd", "weight_decay"}, {"scalefactor", "factor"},
  {"upscalefactor", "r"}, {"outputsize", "size"}, {"tmax", "steps"}, {"warmupsteps", "warmup"},
  {"etamin", "floor"}, {"minlr", "floor"}, {"stepsize", "every"}, {"gamma", "factor"},
  /* keys of train */
  {"loss", "minimize"}, {"maximize", "minimize"}, {"numepochs", "epochs"}, {"maxepochs", "epochs"},
  {"maxsteps", "steps"}, {"iterations", "steps"}, {"clipgradnorm", "clip"}, {"gradclip", "clip"},
  {"clipnorm", "clip"}, {"gradientaccumulationsteps", "accumulate"}, {"gradaccum", "accumulate"},
  {"valinterval", "validate"}, {"evalevery", "validate"}, {"mixedprecision", "precision"},
  {"amp", "precision"}, {"opt", "optimizer"}, {"randomseed", "seed"}, {"freeze", "frozen"},
  {"trainable", "frozen"}, {"ema", "average"},
};
enum { SYNONYM_COUNT = sizeof synonyms / sizeof synonyms[0] };

/* Small letters and digits alone. */
static void whole_word(const char *name, char *word) {
  size_t length = 0;
  for (; *name && length + 1 < LONGEST; name++)
    if (isalnum((unsigned char)*name)) word[length++] = (char)tolower((unsigned char)*name);
  word[length] = 0;
}

/* The same without what others put at the end of a word. */
static void plain_word(const char *name, char *word) {
  static const char *const endings[] = {"loss", "layer", "optimizer", "scheduler"};
  whole_word(name, word);
  size_t length = strlen(word);
  for (size_t i = 0; i < sizeof endings / sizeof endings[0]; i++) {
    size_t end = strlen(endings[i]);
    if (length <= end || strcmp(word + length - end, endings[i]) != 0) continue;
    word[length - end] = 0;
    return;
  }
}

static bool is_candidate(const char *name, const char *const *candidates, int count) {
  for (int i = 0; i < count; i++)
    if (strcmp(candidates[i], name) == 0) return true;
  return false;
}

static const char *find_row(const char *word, const char *const *candidates, int count) {
  for (int i = 0; i < SYNONYM_COUNT; i++)
    if (strcmp(synonyms[i].word, word) == 0 && is_candidate(synonyms[i].ours, candidates, count))
      return synonyms[i].ours;
  return NULL;
}

const char *synonym_find(const char *name, const char *const *candidates, int count) {
  char word[LONGEST], other[LONGEST];
  whole_word(name, word);
  const char *found = find_row(word, candidates, count);
  if (found) return found;
  plain_word(name, word);
  for (int i = 0; i < count; i++) {
    plain_word(candidates[i], other);
    if (word[0] && strcmp(word, other) == 0) return candidates[i];
  }
  return find_row(word, candidates, count);
}
