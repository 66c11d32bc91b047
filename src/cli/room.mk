# Unit tests of the command line's parts link them directly: they are not in libsluice.
TEST_OBJ_test_calib := $(B)/src/cli/cmd/calib.o
TEST_OBJ_test_cli := $(B)/src/cli/frame/opt.o $(B)/src/cli/frame/print.o $(B)/src/cli/frame/table.o
