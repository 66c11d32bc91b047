/* Constants of the toolkit's header of this name. */
#ifndef SLUICE_CUDA_MATH_CONSTANTS_H
#define SLUICE_CUDA_MATH_CONSTANTS_H
#include "cuda_runtime.h"
#define CUDART_INF_F __builtin_inff()
#define CUDART_NAN_F __builtin_nanf("")
#define CUDART_MAX_NORMAL_F 3.402823466e38f
#define CUDART_PI_F 3.141592654f
#define CUDART_SQRT_TWO_F 1.414213562f
#define CUDART_INF __builtin_inf()
#define CUDART_NAN __builtin_nan("")
#define CUDART_PI 3.1415926535897931e+0
#endif
