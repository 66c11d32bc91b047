/* steps.cu - the kernel of steps.sass: how many steps from each number to 1 (halve it, or three times it and one), and
 * their sums and means by CTA. */
#define GLOBAL extern "C" __attribute__((global))
__attribute__((device)) static inline unsigned down(unsigned v, unsigned by) {
  return (unsigned)__nvvm_shfl_sync_down_i32(-1, (int)v, (int)by, 31);
}

GLOBAL void steps(const unsigned *in, unsigned *out, unsigned *sums, float *mean, unsigned n) {
  __attribute__((shared)) static unsigned part[4];
  unsigned t = __nvvm_read_ptx_sreg_tid_x(), i = __nvvm_read_ptx_sreg_ctaid_x() * 128 + t, count = 0;
  if (i < n) {
    unsigned long long v = in[i];
    while (v != 1) {
      if (v & 1) v = 3 * v + 1;
      else v >>= 1;
      count++;
    }
    out[i] = count;
  }
  unsigned sum = count;
  for (unsigned by = 16; by; by >>= 1) sum += down(sum, by);
  if (!(t & 31)) part[t >> 5] = sum;
  __syncthreads();
  if (!t) {
    sum = part[0] + part[1] + part[2] + part[3];
    sums[__nvvm_read_ptx_sreg_ctaid_x()] = sum;
    mean[__nvvm_read_ptx_sreg_ctaid_x()] = (float)sum * (1.0f / 128);
    __atomic_fetch_add(&sums[__nvvm_read_ptx_sreg_nctaid_x()], sum, __ATOMIC_RELAXED);
  }
}
