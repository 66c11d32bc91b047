/* fp_approx.h - the .approx functions in Sluice's own double arithmetic, so results do not depend on the host's math
 * library; far inside the error bounds of PTX (2^-20.9 for sin, 2 ulp for ex2, ...). */
#ifndef SIMT_OPS_FP_APPROX_H
#define SIMT_OPS_FP_APPROX_H

double approx_ex2(double x);
double approx_lg2(double x);
double approx_sin(double x); /* x is a float's value */
double approx_cos(double x);
double approx_tanh(double x);

#endif
