"""How each operator of ONNX is said in the language: a function of a node for each, in ops_*.py."""
import ops_attention
import ops_elementwise
import ops_images
import ops_layers
import ops_movement
import ops_reductions

TABLE = {}
for module in (ops_elementwise, ops_movement, ops_reductions, ops_layers, ops_attention, ops_images):
    TABLE.update(module.TABLE)

# What the language leaves out by design.
OUTSIDE = dict.fromkeys(("StringConcat", "StringNormalizer", "StringSplit", "RegexFullMatch", "LabelEncoder"), "strings")
OUTSIDE.update(dict.fromkeys(("SequenceInsert", "SequenceMap", "SplitToSequence", "OptionalGetElement",
                              "OptionalHasElement"), "sequences and optional values"))
OUTSIDE["Loop"] = "loops whose length depends on values"
OUTSIDE.update(dict.fromkeys(("NonMaxSuppression", "NonZero", "Unique"),
                             "a result whose shape depends on values"))
OUTSIDE["ImageDecoder"] = "files in a tensor: pictures are read by data sources"
OUTSIDE["TreeEnsemble"] = "models that are no networks"
OUTSIDE["TfIdfVectorizer"] = "counting of n-grams: text is prepared before"
OUTSIDE["Bernoulli"] = "random numbers of another generator"
