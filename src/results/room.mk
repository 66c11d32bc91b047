# Only the command links the database (EXE_ROOMS); unit tests link it directly.
DB_OBJ := $(patsubst %.c,$(B)/%.o,$(wildcard src/results/db/*.c))
TEST_OBJ_test_db := $(DB_OBJ)
LDLIBS_test_db := -lsqlite3 -lzstd
TEST_OBJ_test_db_power := $(DB_OBJ)
LDLIBS_test_db_power := -lsqlite3 -lzstd

# The messages of a timeline, generated from their description.
PERFETTO := $(B)/gen/results/perfetto.pb-c
LIB_OBJ += $(PERFETTO).o
LDLIBS += -lprotobuf-c
CFLAGS_src/results/timeline.c := -I$(B)/gen
$(PERFETTO).c: src/results/perfetto.proto | $(B)/deps.ok
	@mkdir -p $(@D)
	$(call say,GEN,$@)
	protoc-c --proto_path=$(<D) --c_out=$(@D) $<
$(PERFETTO).o: $(PERFETTO).c
	$(call say,CC,$<)
	$(CC) $(BASE_CFLAGS) $(CFLAGS) -c -o $@ $<
$(B)/src/results/timeline.o: $(PERFETTO).c
