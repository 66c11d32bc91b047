/* modules.h - of modules_a.cu and modules_b.cu: so many instructions of PTX. */
#define ONE                                   \
  {                                           \
    int x;                                    \
    asm volatile("mov.u32 %0, 1;" : "=r"(x)); \
  }
#define FOUR ONE ONE ONE ONE
#define FIVE FOUR ONE
void launch_second();
