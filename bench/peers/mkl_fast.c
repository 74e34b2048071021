/* Preloaded by the peers' processes (bench/kernels/sides.py). MKL asks this function of its own whether it may use its fast kernels,
 * and it says no on processors of other vendors than Intel, even if they have the instructions. With this answer products of f32 on
 * two Zen 5 cores are twice as fast (495 GFLOP/s of 528, not 216), and a peer shall be at its best. */
int mkl_serv_intel_cpu_true(void);

int mkl_serv_intel_cpu_true(void) { return 1; }
