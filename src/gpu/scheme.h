/* scheme.h - what a file in src/schemes includes: gpu/slots/scheme.h under the name that does not change. */
#ifndef GPU_SCHEME_H
#define GPU_SCHEME_H

#include "gpu/slots/scheme.h"

#endif
