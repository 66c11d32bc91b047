# The bundled CUDA programs: compiled with Sluice's own header and runtime library, listed in the data directory.
WORKLOADS := $(notdir $(patsubst %/,%,$(dir $(wildcard workloads/*/*.cu))))
WORKLOAD_BIN := $(WORKLOADS:%=$(B)/workloads/%)
CUDA_HEADERS := $(wildcard include/sluice-cuda/*.h)
CUDA_RUNTIME := $(filter %/libcudart.so.11.0,$(ALL))
SLUICE_CC := $(DATA)/sluice-cc $(DATA)/sluice-fatbin $(CUDA_HEADERS:include/sluice-cuda/%=$(DATA)/cuda/%)

ALL += $(SLUICE_CC) $(DATA)/workloads.tsv $(DATA)/workloads.json
# Programs need the runtime library to link against: built where its room is.
ALL += $(if $(CUDA_RUNTIME),$(WORKLOAD_BIN))

.PHONY: workloads workload-docs
workloads: $(WORKLOAD_BIN)

$(DATA)/sluice-cc $(DATA)/sluice-fatbin: $(DATA)/%: tools/%
	@mkdir -p $(@D)
	@install -m 755 $< $@
$(DATA)/cuda/%.h: include/sluice-cuda/%.h
	@mkdir -p $(@D)
	@cp $< $@

define workload_rule
$(B)/workloads/$(1): workloads/$(1)/$(1).cu $$(wildcard workloads/common/*.h) $$(SLUICE_CC) | $$(CUDA_RUNTIME)
	@mkdir -p $$(@D)
	$$(call say,CUDA,workloads/$(1))
	SLUICE_LIB=$(B)/lib $(DATA)/sluice-cc -Wall -Wextra $$(if $$(WERROR),-Werror) $$< -o $$@ -Wl,-rpath,'$$$$ORIGIN/../lib'
endef
$(foreach w,$(WORKLOADS),$(eval $(call workload_rule,$(w))))

$(DATA)/workloads.tsv: workloads/index.tsv
	@mkdir -p $(@D)
	@cp $< $@
$(DATA)/workloads.json: workloads/gen.sh workloads/measured.tsv $(wildcard workloads/*/*.cu)
	@mkdir -p $(@D)
	$(call say,GEN,$@)
	workloads/gen.sh json $(B) > $@

# After a change to a header comment: the committed list and page.
workload-docs:
	$(call say,GEN,workloads/index.tsv docs/reference/workloads.md)
	workloads/gen.sh tsv > workloads/index.tsv
	workloads/gen.sh md > docs/reference/workloads.md
