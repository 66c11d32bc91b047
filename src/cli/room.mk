# Unit tests of the command line's parts link them directly: they are not in libsluice.
TEST_OBJ_test_calib := $(B)/src/cli/cmd/calib.o
TEST_OBJ_test_cli := $(B)/src/cli/frame/opt.o $(B)/src/cli/frame/print.o $(B)/src/cli/frame/table.o
# So are studies and the report.
STUDY_PARTS := expand file identity schema suite
TEST_OBJ_test_study_expand := $(STUDY_PARTS:%=$(B)/src/study/study_%.o)
TEST_OBJ_test_tune := $(B)/src/study/study_choose.o
TEST_OBJ_test_jobs := $(patsubst %.c,$(B)/%.o,$(wildcard src/proc/*.c)) $(TEST_OBJ_test_cli)
LDLIBS_test_jobs := -lelf
LDLIBS_test_study_expand := -lmd
TEST_OBJ_test_report_reduce := $(B)/src/report/reduce.o
