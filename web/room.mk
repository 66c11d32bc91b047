# The report page. npm fetches ECharts and esbuild once (web/node_modules); the lock file pins both.
ALL += $(DATA)/report.html $(DATA)/paper.mjs

web/node_modules/.sluice: web/package.json web/package-lock.json
	$(call say,NPM,web/package.json)
	cd web && npm ci --silent --no-audit --no-fund
	@touch $@

$(DATA)/report.html: $(wildcard web/*.js) web/report.css web/report.html web/build.mjs web/node_modules/.sluice
	$(call say,WEB,$@)
	node web/build.mjs $@

$(DATA)/paper.mjs: web/paper.mjs web/dom.js web/build.mjs web/node_modules/.sluice
	$(call say,WEB,$@)
	node web/build.mjs $@
