/* From a product to the score of a query and a key: -inf where it is not seen. It has the same bits in all
 * kernels. */
@TYPE@ score = nnc_times_@TYPE_NAME@(scores[r][c], @SCALE@);
const bool is_seen = query < QUERIES && key < KEYS@CAUSAL@;
@MASK@
score = is_seen ? score : @NOTHING@;
