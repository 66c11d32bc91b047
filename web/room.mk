# The report page. npm fetches ECharts and esbuild once (web/node_modules), and for the tests and the linter a driver of
# browsers and prettier; the lock file pins all.
ALL += $(DATA)/report.html $(DATA)/paper.mjs

WEB_TOOLS := web/node_modules/.sluice-tools
web/node_modules/.sluice: web/package.json web/package-lock.json
	$(call say,NPM,web/package.json)
	cd web && npm ci --silent --no-audit --no-fund $(if $(wildcard $(WEB_TOOLS)),,--omit=dev)
	@touch $@ $(wildcard $(WEB_TOOLS))
$(WEB_TOOLS): web/package.json web/package-lock.json
	$(call say,NPM,web/package.json with tools)
	cd web && npm ci --silent --no-audit --no-fund
	@touch web/node_modules/.sluice $@
.PHONY: web-tools
web-tools: $(WEB_TOOLS)

# A source distribution has what npm makes.
ifneq ($(wildcard web/built/report.html),)
$(DATA)/report.html $(DATA)/paper.mjs: $(DATA)/%: web/built/%
	@mkdir -p $(@D)
	@cp $< $@
else
$(DATA)/report.html: $(wildcard web/*.js) $(wildcard web/*.css) web/report.html web/build.mjs web/node_modules/.sluice
	$(call say,WEB,$@)
	node web/build.mjs $@

$(DATA)/paper.mjs: web/paper.mjs web/intervals.js web/spread.js web/dom.js web/build.mjs web/node_modules/.sluice
	$(call say,WEB,$@)
	node web/build.mjs $@
endif

# The gallery: a static site in $(B)/gallery (docs/how-to/gallery.md). The papers' reports are made when what they come
# from has changed.
$(B)/papers/.done: $(B)/sluice $(TABLES) $(DATA)/report.html $(DATA)/paper.mjs
	$(call say,PAPER,$(@D))
	@mkdir -p $(@D)
	$(B)/sluice paper all --stored -o $(@D) >$(@D)/log 2>&1 || { cat $(@D)/log; false; }
	@touch $@
.PHONY: gallery
gallery: $(B)/papers/.done web/node_modules/.sluice
	$(call say,GALLERY,$(B)/gallery)
	node web/gallery/build.mjs $(B) $(B)/papers $(B)/gallery
