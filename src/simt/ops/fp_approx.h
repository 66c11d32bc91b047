/* fp_approx.h - the .approx functions in double arithmetic of our own, so that results do not depend on the host's math
 * library; far inside the errors that PTX states (2^-20.9 for sin, 2 ulp for ex2, ...). */
#ifndef SIMT_FP_APPROX_H
#define SIMT_FP_APPROX_H

double approx_ex2(double x);
double approx_lg2(double x);
double approx_sin(double x); /* x is a float's value */
double approx_cos(double x);
double approx_tanh(double x);

#endif
