/* race_v2.c - the check of races for whole instructions, for x86-64-v2 (room.mk gives the flags): see race_fast.inc. */
#define RACE_FAST race_fast_v2
#include "simt/check/race_fast.inc"
