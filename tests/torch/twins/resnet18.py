"""ResNet-18 after table 1 of He et al. 2015; the number of parameters is torchvision's."""
from pictures import far_from_kinks, Residual

twin = Residual([2, 2, 2, 2], ["first", "second"], narrow=1)
# At the rate for real pictures the loss on four random ones grows, and rounding errors with it.
overrides = {"batch": 4, "size": 64, "classes": 20,
             "train.optimizer": "sgd(lr = 2e-5, momentum = 0.9, weight_decay = 1e-4)"}
single_start = {"*.beta": far_from_kinks}
parameters = 11_689_512
loss, optimizer = twin.loss, twin.optimizer
