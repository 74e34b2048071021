"""ResNet-50 after table 1 of He et al. 2015; the number of parameters is torchvision's."""
from pictures import far_from_kinks, Residual

twin = Residual([3, 4, 6, 3], ["narrow", "middle", "wide"], narrow=4)
# At the rate for real pictures the loss on four random ones grows, and rounding errors with it.
overrides = {"batch": 4, "size": 64, "classes": 20,
             "train.optimizer": "sgd(lr = 2e-5, momentum = 0.9, weight_decay = 1e-4)"}
single_start = {"*.beta": far_from_kinks}
parameters = 25_557_032
loss, optimizer = twin.loss, twin.optimizer
