# Models and examples as executables of CUDA over training steps, against the interpreter (tests/agree): with threads
# in order, and shuffled on a device that does all as late as it may.
#
# Most have a smaller batch here: a step of a GFLOP takes seconds in the emulator. The long mode takes all whose step
# is of at most .3 GFLOP as they are, and the large ones with smaller pictures and widths, too.

# As in tests/agree/run.sh; with so few examples also in others.
plain_models=" examples/write.net models/gpt.net examples/own_gradient.net "

agree() { # TYPE STEPS MODEL [DEFINITIONS [SECOND]]
  local output status
  [[ $plain_models != *" $3 "* ]] || export AGREE_PLAIN=1
  output=$(AGREE_OPTIONS="${cuda[*]}" AGREE_DEFINE="${4:-}" \
    AGREE_SECOND="${5:-NNC_EMULATOR_ORDER=shuffled NNC_EMULATOR_ASYNC=late}" \
    timeout 7200 "$build/tests/agree" "$nnc" "$3" "$1" "$2" "$here" 2>&1)
  status=$?
  grep -v '^ok ' <<<"$output" | sed "s/^/$1 /"
  passed=$((passed + $(grep -c '^ok ' <<<"$output"))) failed=$((failed + $(grep -c '^FAIL ' <<<"$output")))
  [ $status -le 1 ] || fail "$1 $3: exit status $status"
}
agree_job() { chosen "$3" && job "$1, $2 steps of $3 ${4:-}" agree "$@"; }
quick_agree_job() { chosen "$3" && job "$1, $2 steps of $3 ${4:-}" quick_agree "$@"; }
quick_agree() { export "${quick_kernels?}"; agree "$@"; }

# What is smaller in CI: MODEL DEFINITIONS.
smaller_models="
models/iris.net
models/lenet.net batch=2
models/bilstm_tagger.net batch=2 time=4 width=16
examples/gradient_penalty.net batch=2
examples/own_gradient.net batch=16
"

# The long mode takes these, too: their kernels are those of the others.
more_models="
models/logistic.net
models/housing.net
models/vae.net batch=4 hidden=40
examples/copy.net batch=4
examples/own_optimizer.net batch=8
models/mnist_cnn.net batch=4
models/mnist.net batch=8
models/fashion.net batch=1
models/autoencoder.net batch=2 widths=[64,32,16]
models/char_gru.net batch=2 time=4 width=32
models/gpt.net batch=2 time=8 layers=2 width=32
models/ntm.net batch=2 words=2 units=16
examples/fine_tune.net batch=2
examples/own_layer.net batch=8
examples/own_loss.net batch=8
examples/write.net batch=2 time=6
"

# What the long mode takes besides, for some steps in f64: all other models. With fewer or smaller pictures, norms over
# a few elements make of a rounding what no tolerance holds, for processors too.
small_models="
models/gpt2.net batch=1 time=8 context=8 vocab=40 layers=2 heads=2 width=16
models/bert.net batch=1 time=8 vocab=120 layers=2 heads=2 width=16
models/vit_s.net batch=1 side=32 layers=2 heads=2 width=16 classes=10
models/mlp_mixer.net batch=1 side=32 layers=2 width=16 over_patches=8 over_channels=32 classes=10
models/ptb_lstm.net batch=2 time=5 vocab=97 width=16
models/dcgan.net batch=2 width=8
models/resnet18.net batch=2 size=64 classes=10
models/unet.net size=188 width=2
models/squeezenet.net batch=1 size=64 classes=10
models/mobilenet_v2.net batch=4 size=64 classes=10
models/shufflenet.net batch=4 size=64 classes=10 channels=[16,32,64]
models/resnet50.net batch=8 size=64 classes=10
models/vgg16.net batch=1 size=32 classes=10
models/googlenet.net batch=1 size=96 classes=10
models/densenet121.net batch=4 size=64 classes=10 growth=4
"

part_models() {
  local model definitions type quickly steps=5 types=(f32 f64) number=0
  [ -z "$is_long" ] || steps=50
  [ -z "$is_long" ] || agree_job f64 $steps models/mnist.net "batch=4" none
  [ -z "$is_long" ] || agree_job f32 50 models/mnist_cnn.net "batch=2" none
  agree_job f64 50 models/gpt.net "batch=1 time=8 layers=2 width=16" none
  for model in tests/agree/programs/*.net tests/cuda/kinds.net; do
    definitions= quickly=quick_
    [[ $model != */small_planes.net ]] || quickly= # it computes for longer than compilers take
    [ -n "$is_long" ] || [ -n "$quickly" ] || definitions="batch=1"
    number=$((number + 1))
    [ -n "$is_long" ] || [ $((number % 2)) = 1 ] || [[ $model == */kinds.net ]] || continue # in CI every second
    for type in "${types[@]}"; do
      [ -n "$is_long" ] || [ $type = "${types[number / 2 % 2]}" ] || continue # in CI they take turns
      ${quickly}agree_job $type 5 "$model" "$definitions"
    done
  done
  while read -r model definitions; do
    [ -n "$model" ] || continue
    for type in ${is_long:+f32} f64; do agree_job $type 5 "$model" "$definitions"; done
  done <<<"$smaller_models${is_long:+$more_models}"
  for type in bf16 ${is_long:+f16}; do agree_job $type 5 models/lenet.net "batch=1"; done
  for type in f64 ${is_long:+f32 bf16 f16}; do agree_job $type 3 tests/cuda/channels.net "batch=2"; done
  [ -z "$is_long" ] || whole_models
}

whole_models() {
  local model type definitions
  while read -r model definitions; do
    [ -z "$model" ] || agree_job f64 3 "$model" "$definitions"
  done <<<"$small_models"
  for model in $(models_within "$build" 0.3) examples/*.net; do
    for type in f32 f64; do agree_job $type 5 "$model"; done
  done
  for type in f32 f64; do agree_job $type 50 models/gpt.net "layers=2" none; done
  # In f32 a rounding decides at a rectifier, here in step 27 of mnist_cnn.net: an input of -1.8e-7, among numbers of
  # .45, is above 0 on CUDA. Its gradient is there or not, and a bias near 0 goes another way (.016 off in the end).
  # From weights that differ in their last bits, two of 30 runs of C do the same in that step. In mnist.net Adam makes
  # more of it: ten such runs of C are .21 to .41 from the interpreter. So f32 is held step by step (steps.sh).
  for model in mnist mnist_cnn; do agree_job f64 50 models/$model.net "" none; done
}
