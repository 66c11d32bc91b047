/* exec_v2.c - the vector handlers for x86-64-v2 (room.mk gives the flags): see exec_body.inc. */
#define HANDLERS simt_handlers_v2
#include "simt/ops/exec_body.inc"
