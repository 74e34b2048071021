"""Constants (-D) of each model in bench/steps.py and bench/kernels.py: small pictures and batches, whole widths, no
dropout (its random numbers differ, and peers may leave them out). What is not named has its file's value."""
SMALL = {"batch": 8, "size": 96}
SIZES = {
    "mnist": {}, "mnist_cnn": {}, "lenet": {}, "fashion": {}, "iris": {}, "housing": {}, "logistic": {},
    "autoencoder": {}, "vae": {}, "dcgan": {}, "ntm": {},
    "mobilenet_v2": {**SMALL, "drop": 0}, "resnet18": SMALL, "resnet50": SMALL,
    "googlenet": {**SMALL, "drop": 0, "aux": 0}, "vgg16": {"batch": 8, "size": 64, "drop": 0},
    "unet": {"batch": 2, "size": 188, "width": 32, "drop": 0}, "densenet121": {"batch": 8, "size": 64},
    "squeezenet": {**SMALL, "drop": 0}, "shufflenet": SMALL,
    "gpt": {}, "gpt2": {}, "bert": {"batch": 4, "vocab": 8000, "width": 256, "heads": 4, "rate": 0.0},
    "vit_s": {"batch": 2}, "mlp_mixer": {"batch": 2},
    "char_gru": {"rate": 0.0}, "ptb_lstm": {"rate": 0.0}, "bilstm_tagger": {"rate": 0.0},
}
NO_SIZES = {"drop", "rate", "aux"}


def constants_of(model, own):
    """`own`: the sizes of the model's file, for which a step of most pictures' networks takes a second or more."""
    return {name: value for name, value in SIZES.get(model, {}).items() if not own or name in NO_SIZES}
