/* exec_v3.c - the vector handlers for x86-64-v3 (room.mk gives the flags): see exec_body.inc. */
#define HANDLERS simt_handlers_v3
#include "simt/ops/exec_body.inc"
