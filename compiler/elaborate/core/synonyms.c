/* Words of PyTorch, Keras, JAX and NumPy for what this language has under another name: a name that
 * is unknown here is answered with ours.
 *
 * Words are compared as small letters and digits alone, so LeakyReLU is leaky_relu, and without
 * the endings that other frameworks give them ("Loss", "Layer"). A word stands in the row of each of ours that it may
 * mean, the likeliest first; one is suggested only where it is among the candidates, since `flip`
 * means a stage in a data line and a function elsewhere. */
#include <ctype.h>
#include <string.h>
#include "elaborate/core/report.h"

enum { LONGEST = 64 };

static const struct {
  const char *ours, *words; /* with blanks between */
} synonyms[] = {
    /* layers */
    {"linear", "dense fc fullyconnected affine lazylinear"},
    {"conv2d", "convolution convolution2d lazyconv2d"},
    {"conv1d", "convolution1d"},
    {"conv3d", "convolution3d"},
    {"conv1d_transpose", "convtranspose1d"},
    {"conv2d_transpose", "convtranspose2d deconv deconv2d"},
    {"conv3d_transpose", "convtranspose3d"},
    {"depthwise_conv2d", "separableconv2d"},
    {"max_pool1d", "maxpooling1d"},
    {"max_pool2d", "maxpool maxpooling maxpooling2d"},
    {"max_pool3d", "maxpooling3d"},
    {"avg_pool2d", "avgpooling2d averagepooling2d"},
    {"avg_pool1d", "averagepooling1d"},
    {"avg_pool3d", "averagepooling3d"},
    {"avg_pool", "averagepool meanpool"},
    {"global_avg_pool", "globalaveragepooling1d globalaveragepooling2d globalaveragepool gap"},
    {"global_max_pool", "globalmaxpooling2d"},
    {"adaptive_avg_pool", "adaptiveavgpool1d adaptiveavgpool2d"},
    {"adaptive_max_pool", "adaptivemaxpool2d"},
    {"batch_norm", "batchnorm1d batchnorm2d batchnorm3d batchnormalization syncbatchnorm bn"},
    {"layer_norm", "layernormalization ln"},
    {"group_norm", "groupnormalization"},
    {"instance_norm", "instancenorm1d instancenorm2d instancenorm3d"},
    {"rms_norm", "rmsnormalization"},
    {"local_response_norm", "lrn"},
    {"channel_dropout", "dropout1d dropout2d dropout3d spatialdropout2d"},
    {"dropout", "alphadropout"},
    {"multi_head_attention", "mha selfattention"},
    {"attention", "scaleddotproductattention sdpa dotproductattention"},
    {"transformer_block", "transformerencoderlayer encoderblock"},
    {"decoder_block", "transformerdecoderlayer"},
    {"feed_forward", "mlp ffn"},
    {"upsample_nearest", "upsampling2d upsample"},
    {"resize_linear", "interpolate resizebilinear"},
    {"pixel_shuffle", "depthtospace"},
    {"pixel_unshuffle", "spacetodepth"},
    {"rnn", "simplernn"},
    {"embedding", "embed"},
    {"wave_positions", "positionalencoding"},
    {"rotary", "rope rotaryembedding"},
    {"bidirectional", "birnn bilstm"},
    {"affine_grid", "affinegridgenerator"},
    {"grid_sample", "gridsampler"},
    /* activations */
    {"silu", "swish"},
    {"hard_tanh", "htanh"},
    {"leaky_relu", "lrelu"},
    {"softmax", "softmax2d"},
    {"sigmoid", "expit logistic"},
    /* losses */
    {"cross_entropy", "ce categoricalcrossentropy sparsecategoricalcrossentropy"},
    {"cross_entropy", "softmaxcrossentropy"},
    {"binary_cross_entropy", "bce bcewithlogits sigmoidcrossentropy"},
    {"mse", "l2 meansquarederror"},
    {"l1", "mae meanabsoluteerror"},
    {"nll", "negativeloglikelihood"},
    {"kl_div", "kldivergence kl"},
    {"triplet", "tripletmargin"},
    {"contrastive", "infonce ntxent"},
    {"in_top_k", "topkaccuracy"},
    {"poisson_nll", "poisson"},
    {"distance", "pairwisedistance cdist"},
    /* optimizers, schedules, initial values */
    {"sgd", "nesterov nag"},
    {"cosine", "cosineannealinglr cosineannealing cosinedecay"},
    {"cosine_restarts", "cosineannealingwarmrestarts"},
    {"step", "steplr"},
    {"multi_step", "multisteplr piecewiseconstantdecay"},
    {"exponential", "exponentiallr exponentialdecay"},
    {"polynomial", "polynomiallr polynomialdecay"},
    {"linear_decay", "linearlr"},
    {"one_cycle", "onecyclelr"},
    {"constant_rate", "constantlr"},
    {"inverse", "inversetimedecay"},
    {"plateau", "reducelronplateau"},
    {"ema", "exponentialmovingaverage"},
    {"glorot_uniform", "xavier glorot xavieruniform"},
    {"glorot_normal", "xaviernormal"},
    {"he_normal", "kaiming kaimingnormal he"},
    {"he_uniform", "kaiminguniform"},
    {"truncated_normal", "truncnormal"},
    /* functions */
    {"abs", "absolute fabs"},
    {"pow", "power"},
    {"clip", "clamp clipbyvalue"},
    {"matmul", "dot mm bmm"},
    {"einsum", "tensordot"},
    {"gradient_norm", "gradnorm globalnorm gettotalnorm"},
    {"flatten", "ravel"},
    {"max", "amax reducemax"},
    {"min", "amin reducemin"},
    {"sum", "reducesum"},
    {"mean", "reducemean"},
    {"prod", "reduceprod product"},
    {"var", "variance"},
    {"std", "stddev"},
    {"cast", "astype"},
    {"full", "fulllike fill"},
    {"zeros", "zeroslike empty"},
    {"ones", "oneslike"},
    {"arange", "linspace iota"},
    {"randn", "randomnormal"},
    {"rand", "randomuniform"},
    {"randint", "randominteger"},
    {"categorical", "multinomial"},
    {"permutation", "randperm shuffle"},
    {"searchsorted", "bucketize digitize"},
    {"reshape", "view squeeze unsqueeze expanddims"},
    {"transpose", "swapaxes swapdims"},
    {"move_axis", "movedim"},
    {"broadcast", "expand broadcastto meshgrid"},
    {"concat", "cat concatenate hstack vstack"},
    {"split", "chunk"},
    {"flip", "fliplr flipud reverse"},
    {"repeat", "repeatinterleave"},
    {"take_along_axis", "gather take"},
    {"scatter_add", "indexadd scatter segmentsum bincount histogram histc"},
    {"where", "maskedfill select"},
    {"stop_gradient", "detach nograd"},
    {"grad", "gradients autograd"},
    {"norm", "l2normalize"},
    {"eigh", "eig eigvalsh eigenvalues"},
    {"slogdet", "det logdet determinant"},
    {"inv", "pinv invert"},
    {"solve_triangular", "trisolve triangularsolve choleskysolve"},
    {"cumsum", "cumulativesum"},
    {"cumprod", "cumulativeproduct"},
    {"trunc", "fix"},
    {"asin", "arcsin"},
    {"acos", "arccos"},
    {"atan", "arctan"},
    {"atan2", "arctan2"},
    {"log", "ln"},
    {"asinh", "arcsinh"},
    {"acosh", "arccosh"},
    {"atanh", "arctanh"},
    {"sign", "sgn"},
    {"size", "numel"},
    {"rank", "ndim"},
    {"one_hot", "onehotencoding onehotencode onehotencoder tocategorical"},
    /* sources and stages of data lines */
    {"image_folder", "imagedatasetfromdirectory folder images flowfromdirectory"},
    {"idx", "mnist ubyte"},
    {"csv", "readcsv dataframe tsv"},
    {"npy", "numpy load"},
    {"npz", "savez loadz"},
    {"raw", "fromfile binary bytes"},
    {"cifar", "cifar10 cifar100"},
    {"shards", "webdataset tar"},
    {"image_list", "flowfromdataframe imagetable manifest"},
    {"wav_folder", "audio sound wav waveform torchaudio"},
    {"wav_list", "audiotable soundtable"},
    {"window", "slidingwindow timeseries lookback"},
    {"unstandardize", "inversetransform denormalize unnormalize unscale destandardize"},
    {"random_affine",
     "rotate rotation randomrotation randomrotate randomtranslation randomzoom randomshear"},
    {"random_affine", "shiftscalerotate"},
    {"random_erase", "randomerasing cutout coarsedropout"},
    {"within", "shufflebuffer buffersize"},
    {"fold", "kfold crossvalidation stratifiedkfold"},
    {"balance", "classweight oversample balanced resample"},
    {"weigh", "weightedrandomsampler sampleweight"},
    {"hash", "hashing featurehasher hashbucket"},
    {"on_disk", "memmap mmap lazy streaming"},
    {"text", "textfile"},
    {"token_stream", "tokens"},
    {"counter", "range"},
    {"standardize", "normalize normalise standardise standardscaler zscore scale normalization"},
    {"resize", "resizeimage imageresize rescaleimage resizing scaleimage"},
    {"random_resized_crop", "randomsizedcrop"},
    {"pad", "zeropad padimage reflectpad"},
    {"color_jitter",
     "jitter randombrightness randomcontrast randombrightnesscontrast randomhue randomsaturation"},
    {"color_jitter", "adjustbrightness"},
    {"shuffle", "shuffledata randomshuffle permute"},
    {"batch", "batchsize dataloader minibatch"},
    {"impute", "fillna simpleimputer fill"},
    {"categories", "onehot labelencoder labelencode ordinalencoder category stringlookup"},
    {"random_flip", "randomhorizontalflip horizontalflip hflip flip fliplr randomleftright"},
    {"random_flip", "randomflipleftright"},
    {"center_crop", "crop resizewithcroporpad"},
    {"split", "traintestsplit take skip randomsplit subset validationsplit"},
    /* arguments */
    {"kernel", "kernelsize poolsize windowsize"},
    {"stride", "strides"},
    {"dilation", "dilationrate"},
    {"channels", "filters outchannels"},
    {"units", "outfeatures hiddensize"},
    {"bias", "usebias"},
    {"init", "kernelinitializer"},
    {"heads", "numheads nhead"},
    {"rate", "p prob"},
    {"dropout_rate", "dropout"},
    {"causal", "iscausal"},
    {"mask", "attnmask"},
    {"eps", "epsilon"},
    {"axis", "dim dims axes"},
    {"keep", "keepdim keepdims"},
    {"slope", "negativeslope"},
    {"smoothing", "labelsmoothing"},
    {"ignore", "ignoreindex"},
    {"weights", "weight"},
    {"positive", "posweight"},
    {"count", "numembeddings inputdim"},
    {"width", "embeddingdim outputdim"},
    {"groups", "numgroups"},
    {"classes", "numclasses"},
    {"reduce", "reduction"},
    {"type", "dtype"},
    {"lr", "learningrate"},
    {"decay", "rho alpha"},
    {"weight_decay", "wd"},
    {"factor", "scalefactor gamma"},
    {"r", "upscalefactor"},
    {"size", "outputsize"},
    {"steps", "tmax"},
    {"warmup", "warmupsteps"},
    {"floor", "etamin minlr"},
    {"every", "stepsize"},
    /* keys of train */
    {"minimize", "loss maximize"},
    {"epochs", "numepochs maxepochs"},
    {"stop", "earlystopping earlystop patience"},
    {"save", "modelcheckpoint savebest savebestonly checkpoint"},
    {"keep", "savetopk savetotallimit maxtokeep"},
    {"save_every", "savesteps savefreq saveinterval"},
    {"steps", "maxsteps iterations"},
    {"clip", "clipgradnorm gradclip clipnorm"},
    {"accumulate", "gradientaccumulationsteps gradaccum"},
    {"validate", "valinterval evalevery"},
    {"precision", "mixedprecision amp"},
    {"optimizer", "opt"},
    {"seed", "randomseed"},
    {"frozen", "freeze trainable"},
    {"average", "ema"},
};
enum { SYNONYM_COUNT = sizeof synonyms / sizeof synonyms[0] };

/* Small letters and digits alone. */
static void whole_word(const char *name, char *word) {
  size_t length = 0;
  for (; *name && length + 1 < LONGEST; name++)
    if (isalnum((unsigned char)*name)) word[length++] = (char)tolower((unsigned char)*name);
  word[length] = 0;
}

/* The same without the endings that other frameworks give a word. */
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

static bool has_word(const char *words, const char *word) {
  size_t length = strlen(word);
  for (const char *at = words; length > 0 && (at = strstr(at, word)); at += length)
    if ((at == words || at[-1] == ' ') && (at[length] == ' ' || !at[length])) return true;
  return false;
}

static const char *find_row(const char *word, const char *const *candidates, int count) {
  for (int i = 0; i < SYNONYM_COUNT; i++)
    if (has_word(synonyms[i].words, word) && is_candidate(synonyms[i].ours, candidates, count))
      return synonyms[i].ours;
  return NULL;
}

const char *report_synonym(const char *name, const char *const *candidates, int count) {
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
