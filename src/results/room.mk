# The database is linked into the command only (EXE_ROOMS); its unit tests link it directly.
DB_OBJ := $(patsubst %.c,$(B)/%.o,$(wildcard src/results/db/*.c))
TEST_OBJ_test_db := $(DB_OBJ)
LDLIBS_test_db := -lsqlite3 -lzstd
