/* A contraction that reads or writes one large side once (nnc_thin.h): C[m, n] = sum_k A[m, k] B[k, n], for each
 * element of a batch. A task has some columns of all rows, or of a block of them, and copies nothing. */
NNC_KERNEL void @NAME@(nnc_worker *worker@PARAMETERS@)
{
  NNC_EXTENTS(M = @M@, N = @N@, MB = @MB@, NB = @NB@, M_BLOCKS = @M_BLOCKS@, N_BLOCKS = @N_BLOCKS@, TASKS = @TASKS@);
  @SUMS@
  NNC_TASKS(worker, TASKS, task) {
    @BATCH@
    const int64_t n_first = task / M_BLOCKS % N_BLOCKS * NB, n_end = nnc_least(n_first + NB, N);
    @LEFT@
    @RIGHT@
    @RESULT@
    @PRODUCT@
  }
}
