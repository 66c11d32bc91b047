# Sluice. `make help` lists the targets; docs/how-to/building.md explains the layout.
#
# Rooms are folders under src/. Adding a .c file to a room adds it to the build; a room that needs more (flags for one
# file, libraries, extra targets) says so in its own room.mk. What room.mk may use:
#   CFLAGS_src/simt/ops/exec_v3.c := -march=x86-64-v3    extra flags for one file
#   LDLIBS += -lelf                                 libraries of libsluice
#   ALL += $(B)/lib/libfoo.so                       a target of the default build
#   LDLIBS_test_x += ..., TEST_OBJ_test_x += ...    extras for tests/unit/test_x.c
.DEFAULT_GOAL := all
.SUFFIXES:
.DELETE_ON_ERROR:
MAKEFLAGS += --no-builtin-rules

# A file is one short line: $(call say,CC,file). V=1 prints the whole commands.
ifeq ($(V),1)
say :=
else
.SILENT:
say = $(info $(1) $(patsubst $(CURDIR)/%,%,$(2))$(if $(SANITIZE), (sanitizers))$(if $(COVERAGE), (coverage)))
endif

B ?= build
ifeq ($(origin CC),default)
CC := gcc
endif
# SANITIZE=address,undefined builds everything instrumented; use another B with it.
ifdef SANITIZE
OPT ?= -O1
LAST_OPT := $(OPT) # after a file's own -O3, which takes minutes when instrumented
SAN_FLAGS := -fsanitize=$(SANITIZE) -fno-sanitize-recover=undefined -fno-omit-frame-pointer
endif
# COVERAGE=1 counts which lines run (clang only; tools/coverage.sh builds, tests and reports).
ifdef COVERAGE
CC := clang
OPT := -O1
LAST_OPT := $(OPT)
SAN_FLAGS += -fprofile-instr-generate -fcoverage-mapping
endif
OPT ?= -O3
WARN := -Wall -Wextra $(if $(WERROR),$(if $(SANITIZE),,-Werror))
ifneq ($(findstring clang,$(CC)),)
WARN += -Wno-pass-failed # a vectorisation hint that clang did not take
endif
CFLAGS ?=
BASE_CFLAGS := -std=gnu17 -D_GNU_SOURCE= $(OPT) -g -fPIC -fno-semantic-interposition -ffp-contract=off -Isrc $(WARN) $(SAN_FLAGS)
LDFLAGS ?=
LDFLAGS += $(filter -fsanitize=% -fprofile%,$(SAN_FLAGS))

comma := ,
LIB_ROOMS := base ptx back simt trace gpu model schemes results sample session
EXE_ROOMS := cli report study proc results/db
LDLIBS := -ljansson -lyaml -lzstd -lm
EXE_LDLIBS := -lelf -lsqlite3 -lzstd -lmd
# libsluice itself says what is undefined; a test that is linked with it need not say it again.
TEST_LDFLAGS := -Wl,--unresolved-symbols=ignore-in-shared-libs

EXE_SRC := $(sort $(foreach r,$(EXE_ROOMS),$(wildcard src/$(r)/*.c src/$(r)/*/*.c)))
LIB_SRC := $(filter-out $(EXE_SRC),$(sort $(foreach r,$(LIB_ROOMS),$(wildcard src/$(r)/*.c src/$(r)/*/*.c))))
TEST_SRC := $(sort $(wildcard tests/unit/test_*.c))
LIB_OBJ := $(LIB_SRC:%.c=$(B)/%.o)
EXE_OBJ := $(EXE_SRC:%.c=$(B)/%.o)
TESTS := $(TEST_SRC:tests/unit/%.c=$(B)/tests/%)

# The data directory lies beside lib/ as in an installation: configurations, header, report page, workload index.
DATA := $(B)/share/sluice
CONFIGS := $(patsubst %,$(DATA)/%,$(wildcard configs/*.yaml))
CALIBRATION := $(patsubst tests/calibration/%,$(DATA)/calibration/%,$(wildcard tests/calibration/calib tests/calibration/*.csv))
FROM_ROOT := $(CONFIGS) $(patsubst %,$(DATA)/%,$(wildcard $(addsuffix /*.yaml,figures readings reasons inputs) results/*.zst))
FROM_DATA := $(patsubst data/%,$(DATA)/%,$(wildcard data/*.csv data/*.json data/originals/*.yaml data/templates/*.in))
TABLES := $(filter-out $(CONFIGS),$(FROM_ROOT)) $(FROM_DATA)
# A copy whose source is gone goes too.
STALE := $(filter-out $(FROM_ROOT) $(FROM_DATA),$(wildcard $(addsuffix /*,$(addprefix $(DATA)/,configs figures readings reasons inputs results originals templates))))
$(if $(STALE),$(shell rm -f $(STALE)))
ALL := $(B)/lib/libsluice-core.so $(B)/sluice $(CONFIGS) $(CALIBRATION) $(TABLES)

# $(call list,NAME,OBJECTS): a file with the names of the objects that are linked together. When a source comes or goes,
# the file is written again, and what depends on it is linked again.
define list_rule
$(if $(call differ,$(file <$(B)/lists/$(1)),$(2:$(B)/%=%)),$(shell rm -f $(B)/lists/$(1)))
$(B)/lists/$(1):
	@mkdir -p $$(@D)
	@echo '$(2:$(B)/%=%)' > $$@
endef
differ = $(filter-out $(1),$(2))$(filter-out $(2),$(1))
list = $(eval $(list_rule))$(B)/lists/$(1)

include $(sort $(wildcard src/*/room.mk) $(wildcard workloads/room.mk web/room.mk bench/room.mk python/room.mk))

# A build folder may be older than a move of sources: libraries, tests and programs whose source is gone go; what an old
# .d file says depends on a source that is gone is made again (the rule without a recipe).
MADE := $(filter $(B)/lib/%,$(ALL)) $(addprefix $(B)/lib/,libsluice.so.1 libsluice-cuda.so libcuda.so) $(TESTS) $(TESTS:=.d) $(WORKLOAD_BIN)
STALE := $(filter-out $(MADE),$(wildcard $(B)/lib/lib*.so* $(B)/tests/test_* $(B)/workloads/*))
$(if $(STALE),$(shell rm -f $(STALE)))
src/%: ;

.PHONY: all lib cli unit asan test demo setup check lint format install deb version container-check clean help docs bench ci
all: $(ALL)
lib: $(B)/lib/libsluice-core.so $(CONFIGS)
cli: $(B)/sluice

# Headers and libraries that Debian provides; says `make setup` when one is missing.
$(B)/deps.ok: tools/setup.sh
	@tools/setup.sh --check
	@mkdir -p $(@D) && touch $@
$(B)/deps-unit.ok: tools/setup.sh
	@tools/setup.sh --check unit
	@mkdir -p $(@D) && touch $@

$(B)/src/%.o: src/%.c | $(B)/deps.ok
	@mkdir -p $(@D)
	$(call say,CC,$<)
	$(CC) $(BASE_CFLAGS) $(CFLAGS_src/$*.c) $(LAST_OPT) $(CFLAGS) -MMD -MP -c -o $@ $<

$(FROM_ROOT): $(DATA)/%: %
	@mkdir -p $(@D)
	@cp $< $@

$(FROM_DATA): $(DATA)/%: data/%
	@mkdir -p $(@D)
	@cp $< $@

$(CALIBRATION): $(DATA)/calibration/%: tests/calibration/%
	@mkdir -p $(@D)
	@cp $< $@

# Each library that is found, mapped and relocated takes 0.06 ms of every run (docs/explanation/performance.md): those
# whose objects may be part of a shared library become part of Sluice's, invisible from outside, and calls within it
# need no lookup. The command holds the simulator and the C library too, at a fixed address. Where a library has no
# archive, the shared one serves.
ifndef SANITIZE
archive_of = $(filter /%,$(foreach l,$(1),$(shell $(CC) -print-file-name=lib$(l:-l%=%).a)))
archive = $(if $(call archive_of,$(1)),-Wl$(comma)-Bstatic $(1) -Wl$(comma)-Bdynamic,$(1))
LIB_LDFLAGS := -Wl,-Bsymbolic-functions -Wl,--exclude-libs,ALL
WRAP := -Wl,--wrap=dlopen,--wrap=dlsym,--wrap=dlclose,--wrap=dlerror
EXE_LDFLAGS = $(if $(filter $(words $(EXE_ALL)),$(words $(call archive_of,$(EXE_ALL)))),-static $(WRAP),-no-pie)
endif
POSITION_INDEPENDENT := -lyaml -llzma -lprotobuf-c -llz4
lib_libs = $(foreach l,$(1),$(if $(filter $(l),$(POSITION_INDEPENDENT)),$(or $(call archive,$(l)),$(l)),$(l)))
EXE_ALL = $(filter-out -lm,$(EXE_LDLIBS) $(LDLIBS)) -lz -lm
exe_libs = $(if $(filter -static,$(1)),$(EXE_ALL),$(foreach l,$(filter-out -lm,$(EXE_ALL)),$(or $(call archive,$(l)),$(l))) -lm)

# Every object is linked directly: schemes register themselves through a linker section.
$(B)/lib/libsluice-core.so: $(LIB_OBJ) $(call list,core,$(LIB_OBJ))
	@mkdir -p $(@D)
	$(call say,LD,$@)
	$(CC) $(CFLAGS) -shared -Wl,-soname,libsluice-core.so $(if $(WERROR),$(if $(SANITIZE),,-Wl$(comma)-z$(comma)defs)) $(LIB_LDFLAGS) $(LDFLAGS) -o $@ $(LIB_OBJ) $(call lib_libs,$(LDLIBS))

$(B)/sluice: $(EXE_OBJ) $(LIB_OBJ) $(B)/lib/libsluice-core.so $(call list,exe,$(EXE_OBJ))
	@mkdir -p $(@D)
	$(call say,LD,$@)
	$(CC) $(CFLAGS) $(EXE_LDFLAGS) $(LDFLAGS) -o $@ $(EXE_OBJ) $(LIB_OBJ) $(call exe_libs,$(EXE_LDFLAGS))

# ---- tests ----
.SECONDEXPANSION:
$(B)/tests/%: tests/unit/%.c $(B)/lib/libsluice-core.so $$(TEST_OBJ_$$*) | $(B)/deps-unit.ok
	@mkdir -p $(@D)
	$(call say,CC,$<)
	$(CC) $(BASE_CFLAGS) $(CFLAGS_tests/unit/$*.c) $(CFLAGS) -MMD -MP -MF $@.d $(LDFLAGS) $(TEST_LDFLAGS) -o $@ $< $(TEST_OBJ_$*) -L$(B)/lib -lsluice-core \
	  -Wl,-rpath,'$$ORIGIN/../lib' -lcmocka $(LDLIBS_$*) $(LDLIBS)

unit: $(TESTS) $(CONFIGS) $(TABLES)
asan:
	@$(MAKE) --no-print-directory B=$(B)/asan SANITIZE=address,undefined unit

# `make test` and `make demo` start from nothing: they install what is missing, each what it needs.
JOBS ?= $(shell nproc)
setup:
	@tools/setup.sh
test:
	@tools/setup.sh
	@$(MAKE) --no-print-directory web-tools
	@$(MAKE) --no-print-directory -j$(JOBS) all unit asan python
	@tests/run --build $(B)
demo:
	@tools/setup.sh demo
	+@tools/progress.sh $(MAKE) --no-print-directory -j$(JOBS) all
	@$(B)/sluice demo -o $(B)

# ---- checks ----
lint:
	@tools/lint.sh
format:
	@clang-format -i $(shell git ls-files '*.c' '*.h')
	@! [ -x web/node_modules/.bin/prettier ] || npm --silent --prefix web run format >/dev/null
docs: $(B)/sluice
	@tools/gen-docs.sh $(B)
bench: all
	@bench/run --build $(B)
ci:
	@.ci/run

PREFIX ?= /usr/local
# Of the packages and the pkg-config file: with the day and name of the commit where git knows them.
VERSION ?= $(or $(shell sed -n 's/^Version: //p' PKG-INFO 2>/dev/null),$(shell sed -n 's/^.define SLUICE_VERSION "\(.*\)"/\1/p' src/cli/frame/cli.h)$(shell git log -1 --date=format:%Y%m%d --format=+git%cd.%h 2>/dev/null))
install: all
	@tools/install.sh $(B) $(DESTDIR)$(PREFIX) $(VERSION)
# Debian packages of this build, in $(B).
deb: python
	@tools/deb.sh $(B) $(VERSION)
version:
	@echo $(VERSION)
# The steps of Containerfile in clean chroots.
container-check:
	@tools/container-check.sh

clean:
	@rm -rf $(B)

help:
	@echo "make          build $(B)/sluice and $(B)/lib; V=1 prints whole commands"
	@echo "make setup    install the Debian packages that are missing"
	@echo "make demo     install what a build needs, build, simulate bundled CUDA programs, compare schemes"
	@echo "make test     set up, build, run every test"
	@echo "make unit     build the unit tests ($(B)/tests); make asan: the same instrumented"
	@echo "make lint     formatting, cppcheck, dependency rules between rooms"
	@echo "make format   clang-format every C source; prettier for JavaScript after make web-tools"
	@echo "make docs     regenerate the pages of docs/reference that come from tables"
	@echo "make python   the Python package in $(B)/python"
	@echo "make wheel    the same with the command in it, for pip, and a source distribution, in $(B)"
	@echo "make gallery  the papers' reports, the schemes and the documentation as a static site in $(B)/gallery"
	@echo "make bench    speed of the simulator, appended to bench/history.csv"
	@echo "make install  to PREFIX=$(PREFIX): command, library, headers, pkg-config file, man page, completions"
	@echo "make deb      the same and the Python package as Debian packages in $(B)"
	@echo "make container-check   the steps of Containerfile in clean chroots, as root"

-include $(LIB_OBJ:.o=.d) $(EXE_OBJ:.o=.d) $(TESTS:=.d)
