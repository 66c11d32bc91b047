/* race_v4.c - the check of races for whole instructions, for x86-64-v4 (room.mk gives the flags): see race_fast.inc. */
#define RACE_FAST race_fast_v4
#include "simt/check/race_fast.inc"
