# The Python package (docs/how-to/python.md): its files and the extension module around libsluice, in $(B)/python. PYTHONPATH=
# $(B)/python finds it; the command and the library are those of $(B). Only `make python` and the tests need Python.
PYTHON ?= /usr/bin/python3
PY := $(B)/python/sluice
PY_FILES := $(patsubst python/%,$(B)/python/%,$(wildcard python/sluice/*.py) python/sluice/py.typed)
STALE := $(filter-out $(PY_FILES),$(wildcard $(PY)/*.py))
$(if $(STALE),$(shell rm -f $(STALE)))

.PHONY: python wheel
python: all $(PY_FILES) $(PY)/_libsluice.abi3.so $(PY)/_schemes.abi3.so
PY_INCLUDE = -Iinclude -I$$($(PYTHON) -c 'import sysconfig; print(sysconfig.get_path("include"))')
PY_LINK = $(LDFLAGS) -L$(B)/lib -lsluice -Wl,-rpath,'$$ORIGIN/../../lib:$$ORIGIN/installed/lib'
$(PY_FILES): $(B)/python/%: python/%
	@mkdir -p $(@D)
	@cp $< $@
$(B)/gen/libsluice.py.c: python/build_library.py include/sluice.h
	@mkdir -p $(@D)
	@$(PYTHON) $^ $@
$(PY)/_libsluice.abi3.so: $(B)/gen/libsluice.py.c $(B)/lib/libsluice.so
	@mkdir -p $(@D)
	$(call say,CC,$@)
	$(CC) $(OPT) -g -fPIC -shared -Wall $(PY_INCLUDE) -o $@ $< $(PY_LINK)
# Schemes in Python. They share structures with the machine: any of its headers may change them.
$(PY)/_schemes.abi3.so: $(wildcard python/schemes/*.[ch]) $(B)/lib/libsluice.so
	@mkdir -p $(@D)
	$(call say,CC,$@)
	$(CC) $(BASE_CFLAGS) -fvisibility=hidden -Ipython -shared $(PY_INCLUDE) -o $@ $(filter %.c,$^) $(PY_LINK)
# With the command in it, for pip, and a source distribution. In $(B).
wheel: python
	@$(PYTHON) python/packages.py wheel $(B) $(VERSION)
	@$(PYTHON) python/packages.py sdist $(B) $(VERSION)
