# Each step by itself: a run of CUDA in f32 is stopped after every step, and C takes the next step from the same
# checkpoint, too. What the two change must agree, and stopping must change no bit of the run.
#
# Whole runs in f32 need not stay together. Where the input of a rectifier is nearer to 0 than its rounding, or two
# numbers of a window are nearer to each other, one machine has a gradient and the other none, and from there on the
# runs go apart, as two runs of C do from weights that differ in their last bits (models.sh). So such a step is
# allowed here to be 5 % off, but few of them are; all others are held to rounding. A bias of keys, part of linear.0.b
# in gpt.net, has a gradient that is nothing but rounding.

# Text for gpt.net: words that it can learn from, of 65 different characters.
write_text() {
  python3 - "$here/data/input.txt" <<'PYTHON'
import random, sys
letters = [chr(code) for code in range(33, 97)]
draw = random.Random(7)
words = ["".join(draw.choices(letters, k=draw.randint(1, 8))) for _ in range(200)] + letters
with open(sys.argv[1], "w") as file:
    file.write(" ".join(words + draw.choices(words, k=1500)))
PYTHON
}
write_data() { # MODEL
  mkdir -p "$here/data"
  case $1 in
    *gpt*) write_text ;;
    *) check "digits" "$build/bin/nnc-digits" "$here/data" --train 6000 --test 10 ;;
  esac
}

next_step() { # PROGRAM OUT STEPS FLAGS...
  local program=$1 out=$2 steps=$3; shift 3
  check "$program to step $steps" "$here/$program" --data "$here/data" --out "$here/$out" --quiet --threads 1 \
    --schedule "$last" --validate-every 1000 --steps "$steps" "$@"
}

each_step() { # MODEL STEPS [OPTIONS...]
  local model=$1 last=$2 step files far=() strays farthest keys=linear.0.b; shift 2
  write_data "$model"
  check "$model of C" "$nnc" $quick "$model" "$@" -o "$here/in_c"
  check "$model of CUDA" "$nnc" "${cuda[@]}" "$model" "$@" -o "$here/on_cuda"
  next_step on_cuda parts 1
  for ((step = 2; step <= last; step++)); do
    rm -rf "$here/before"
    cp -r "$here/parts" "$here/before"
    cp -r "$here/parts" "$here/of_c"
    next_step in_c of_c $step --resume
    next_step on_cuda parts $step --resume
    files=("$here"/{before,of_c,parts}/checkpoint.safetensors)
    far+=("$(python3 tests/cuda/change.py "${files[@]}" $keys || echo 9 unreadable)")
    rm -r "$here/of_c"
  done
  farthest=$(printf '%s\n' "${far[@]}" | sort -g | tail -n 1)
  strays=$(printf '%s\n' "${far[@]}" | awk "!(\$1 <= 1e-4)" | wc -l)
  at_most "$model: the farthest of its steps (${far[*]})" "${farthest% *}" 0.05
  at_most "$model: how many of its steps (${far[*]}) are beyond 1e-4" "$strays" $((last / 10))
  next_step on_cuda whole "$last"
  same_files "$model: stopped after each step" "$here/whole/checkpoint.safetensors" "$here/parts/checkpoint.safetensors"
}
each_job() { chosen "$1" && job "$2 steps of $1, each by itself" each_step "$@"; }

part_steps() {
  each_job models/mnist_cnn.net 8 -Dbatch=4
  [ -n "$is_long" ] || return 0
  each_job models/gpt.net 4 -Dbatch=2 -Dtime=8 -Dlayers=2 -Dwidth=32
  each_job models/mnist.net 4 -Dbatch=8
  each_job models/mnist.net 50
  each_job models/mnist_cnn.net 50
  each_job models/gpt.net 50 -Dlayers=2
}
