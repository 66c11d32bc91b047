/* exec_v4.c - the vector handlers for x86-64-v4 (room.mk gives the flags): see exec_body.inc. */
#define HANDLERS simt_handlers_v4
#include "simt/ops/exec_body.inc"
