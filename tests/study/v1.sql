PRAGMA foreign_keys=OFF;
BEGIN TRANSACTION;
CREATE TABLE studies(
  id INTEGER PRIMARY KEY,
  name TEXT NOT NULL UNIQUE,
  file TEXT NOT NULL,
  text TEXT NOT NULL);
INSERT INTO studies VALUES(1,'old','old.yaml',replace('name: old\nresults: old.db\nprograms: ["nn --size small"]\nschemes: [none, bucl]\nlines: true\n','\n',char(10)));
CREATE TABLE configurations(
  id INTEGER PRIMARY KEY,
  hash TEXT NOT NULL UNIQUE,
  gpu TEXT NOT NULL);
INSERT INTO configurations VALUES(1,'18daaf19e3f71a3d','GTX480 (fermi)');
CREATE TABLE knobs(
  configuration_id INTEGER NOT NULL REFERENCES configurations(id) ON DELETE CASCADE,
  key TEXT NOT NULL,
  value NOT NULL,
  PRIMARY KEY(configuration_id, key)) WITHOUT ROWID;
INSERT INTO knobs VALUES(1,'l1d.allocate','on-miss');
INSERT INTO knobs VALUES(1,'l1d.bypass_segment',32);
INSERT INTO knobs VALUES(1,'l1d.enabled',1);
INSERT INTO knobs VALUES(1,'l1d.index','fermi-hash');
INSERT INTO knobs VALUES(1,'l1d.latency',1);
INSERT INTO knobs VALUES(1,'l1d.line_bytes',128);
INSERT INTO knobs VALUES(1,'l1d.miss_queue',8);
INSERT INTO knobs VALUES(1,'l1d.mshr_merges',8);
INSERT INTO knobs VALUES(1,'l1d.mshrs',32);
INSERT INTO knobs VALUES(1,'l1d.perfect',0);
INSERT INTO knobs VALUES(1,'l1d.replacement','lru');
INSERT INTO knobs VALUES(1,'l1d.sets',32);
INSERT INTO knobs VALUES(1,'l1d.ways',4);
CREATE TABLE runs(
  id INTEGER PRIMARY KEY,
  hash TEXT NOT NULL UNIQUE,
  configuration_id INTEGER REFERENCES configurations(id),
  program TEXT NOT NULL,
  program_hash TEXT,
  gpu TEXT NOT NULL,
  scheme TEXT NOT NULL,
  mode TEXT NOT NULL,
  status TEXT NOT NULL CHECK(status IN ('done', 'failed')),
  exit_code INTEGER NOT NULL,
  error TEXT,
  log TEXT,
  command TEXT NOT NULL,
  simulator TEXT,
  host TEXT,
  finished TEXT NOT NULL DEFAULT (strftime('%Y-%m-%dT%H:%M:%SZ', 'now')),
  seconds REAL,
  cpu_seconds REAL,
  peak_kb INTEGER);
INSERT INTO runs VALUES(1,'14bc4491760873ae92bac1d71a4b8417d9ae9efbfb81c678e862b05070063096',1,'nn --size small','1d37f0022d1de5621a7c5e028f30e633e0d6194ec18fe28518605f42cea43d06','fermi','bucl','timing','done',0,NULL,NULL,'sluice run --scheme bucl --gpu fermi --mode timing --lines -- nn --size small','s','host','2026-01-01T00:00:00Z',1.0,1.0,1);
INSERT INTO runs VALUES(2,'349e72e72fd32053bab7c0813d2ff6a65b4d5178c3b3844eeb1340902231fe53',1,'nn --size small','1d37f0022d1de5621a7c5e028f30e633e0d6194ec18fe28518605f42cea43d06','fermi','baseline','timing','done',0,NULL,NULL,'sluice run --scheme baseline --gpu fermi --mode timing --lines -- nn --size small','s','host','2026-01-01T00:00:00Z',1.0,1.0,1);
CREATE TABLE plan(
  study_id INTEGER NOT NULL REFERENCES studies(id) ON DELETE CASCADE,
  ordinal INTEGER NOT NULL,
  hash TEXT NOT NULL,
  workload TEXT,
  suite TEXT,
  "group" TEXT,
  size TEXT,
  gpu TEXT,
  scheme TEXT,
  parameters TEXT NOT NULL DEFAULT '{}',
  replica INTEGER NOT NULL DEFAULT 0,
  PRIMARY KEY(study_id, ordinal)) WITHOUT ROWID;
INSERT INTO "plan" VALUES(1,0,'349e72e72fd32053bab7c0813d2ff6a65b4d5178c3b3844eeb1340902231fe53','nn',NULL,NULL,NULL,'fermi','none','{}',0);
INSERT INTO "plan" VALUES(1,1,'14bc4491760873ae92bac1d71a4b8417d9ae9efbfb81c678e862b05070063096','nn',NULL,NULL,NULL,'fermi','bucl','{}',0);
CREATE TABLE counters(
  key TEXT PRIMARY KEY,
  unit TEXT NOT NULL,
  meaning TEXT NOT NULL,
  kind TEXT NOT NULL) WITHOUT ROWID;
INSERT INTO counters VALUES('ctas','CTA','thread blocks run','sum');
INSERT INTO counters VALUES('cycles','core cycle','from the start of the launch to the end of its last thread','sum');
INSERT INTO counters VALUES('dram.activates','command','row activations','sum');
INSERT INTO counters VALUES('dram.busy_cycles','command cycle','command cycles in which a channel''s data bus moved data','sum');
INSERT INTO counters VALUES('dram.bytes','B','bytes moved by read and write commands of 64 B','derived');
INSERT INTO counters VALUES('dram.cycles','command cycle','command cycles of all channels while the kernel ran','sum');
INSERT INTO counters VALUES('dram.precharges','command','precharges','sum');
INSERT INTO counters VALUES('dram.reads','command','64-byte read commands','sum');
INSERT INTO counters VALUES('dram.requests','request','requests queued at the channels','sum');
INSERT INTO counters VALUES('dram.row_hit_rate','','dram.row_hits / dram.requests','derived');
INSERT INTO counters VALUES('dram.row_hits','request','requests that found their row open','sum');
INSERT INTO counters VALUES('dram.utilisation','','dram.busy_cycles / dram.cycles','derived');
INSERT INTO counters VALUES('dram.writes','command','64-byte write commands','sum');
INSERT INTO counters VALUES('energy.dram','uJ','of it: DRAM','derived');
INSERT INTO counters VALUES('energy.efficiency','instruction/cycle/J','ipc / energy.total','derived');
INSERT INTO counters VALUES('energy.exec','uJ','of it: execution units','derived');
INSERT INTO counters VALUES('energy.front','uJ','of it: fetch, instruction buffer, scheduler, pipeline registers','derived');
INSERT INTO counters VALUES('energy.icnt','uJ','of it: interconnect','derived');
INSERT INTO counters VALUES('energy.idle_core','uJ','of it: SMs without work','derived');
INSERT INTO counters VALUES('energy.l1d','uJ','of it: L1 data cache','derived');
INSERT INTO counters VALUES('energy.l2','uJ','of it: L2','derived');
INSERT INTO counters VALUES('energy.mem_ctrl','uJ','of it: memory controllers','derived');
INSERT INTO counters VALUES('energy.regfile','uJ','of it: register file and collectors','derived');
INSERT INTO counters VALUES('energy.shared','uJ','of it: shared memory','derived');
INSERT INTO counters VALUES('energy.total','uJ','dynamic energy: events times the table of energies, leakage left out','derived');
INSERT INTO counters VALUES('icnt.flits_down','flit','flits from memory to SMs','sum');
INSERT INTO counters VALUES('icnt.flits_up','flit','flits from SMs to memory','sum');
INSERT INTO counters VALUES('icnt.latency_down.mean','core cycle','of those, in the reply network, queueing included','mean');
INSERT INTO counters VALUES('icnt.latency_up.mean','core cycle','of those, in the request network, queueing included','mean');
INSERT INTO counters VALUES('icnt.packets_down','packet','packets from memory to SMs','sum');
INSERT INTO counters VALUES('icnt.packets_up','packet','packets from SMs to memory','sum');
INSERT INTO counters VALUES('insts.float32_add','instruction','of thread_insts: single-precision addition, minimum, maximum','sum');
INSERT INTO counters VALUES('insts.float32_division','instruction','of thread_insts: single-precision division','sum');
INSERT INTO counters VALUES('insts.float32_multiply','instruction','of thread_insts: single-precision multiplication, with addition or without','sum');
INSERT INTO counters VALUES('insts.float64','instruction','of thread_insts: double precision, division included','sum');
INSERT INTO counters VALUES('insts.integer_add','instruction','of thread_insts: integer addition, minimum, maximum','sum');
INSERT INTO counters VALUES('insts.integer_division','instruction','of thread_insts: integer division and remainder','sum');
INSERT INTO counters VALUES('insts.integer_multiply','instruction','of thread_insts: integer multiplication, with addition or without','sum');
INSERT INTO counters VALUES('insts.memory','instruction','of thread_insts: loads, stores, atomics, fences','sum');
INSERT INTO counters VALUES('insts.simple','instruction','of thread_insts: moves, logic, conversions, control, shuffles','sum');
INSERT INTO counters VALUES('insts.special','instruction','of thread_insts: special functions','sum');
INSERT INTO counters VALUES('ipc','instruction/cycle','thread instructions per core cycle','derived');
INSERT INTO counters VALUES('issue.barrier','slot','all warps wait at a barrier or fence','sum');
INSERT INTO counters VALUES('issue.control','slot','instruction buffers are empty: fetch after a branch or a cache miss','sum');
INSERT INTO counters VALUES('issue.data_hazard','slot','a warp had an instruction, but operands were pending','sum');
INSERT INTO counters VALUES('issue.idle','slot','no warp to issue from','sum');
INSERT INTO counters VALUES('issue.issued','slot','an instruction issued','sum');
INSERT INTO counters VALUES('issue.memory_stall','slot','a ready memory instruction found the memory pipe blocked','sum');
INSERT INTO counters VALUES('issue.pipe_busy','slot','a ready instruction found its pipe''s stage taken','sum');
INSERT INTO counters VALUES('issue.slots','slot','all of the above','sum');
INSERT INTO counters VALUES('kernels','launch','kernel launches','sum');
INSERT INTO counters VALUES('l1c.accesses','access','constant and parameter reads','sum');
INSERT INTO counters VALUES('l1c.misses','access','constant and parameter reads that missed','sum');
INSERT INTO counters VALUES('l1d.evictions','line','valid lines replaced','sum');
INSERT INTO counters VALUES('l1d.fetch_bytes','B','bytes asked for by misses','sum');
INSERT INTO counters VALUES('l1d.fill_bytes','B','bytes filled','sum');
INSERT INTO counters VALUES('l1d.local_read.accesses','access','local loads presented to the L1','sum');
INSERT INTO counters VALUES('l1d.local_read.hits','access','data present','sum');
INSERT INTO counters VALUES('l1d.local_read.misses','access','line reserved and fetched','sum');
INSERT INTO counters VALUES('l1d.local_read.partial_misses','access','some of the data was present or on its way, the rest is fetched','sum');
INSERT INTO counters VALUES('l1d.local_read.pending_hits','access','line still being fetched','sum');
INSERT INTO counters VALUES('l1d.local_read.rejections','cycle','refused and retried','sum');
INSERT INTO counters VALUES('l1d.local_write.accesses','access','local stores presented to the L1','sum');
INSERT INTO counters VALUES('l1d.local_write.hits','access','line present','sum');
INSERT INTO counters VALUES('l1d.local_write.rejections','cycle','refused and retried','sum');
INSERT INTO counters VALUES('l1d.read.accesses','access','global loads presented to the L1 after coalescing','sum');
INSERT INTO counters VALUES('l1d.read.bypass_rate','','bypassing loads among loads that used or bypassed the L1','derived');
INSERT INTO counters VALUES('l1d.read.bypasses','access','global loads that a scheme or cache operator sent past the L1','sum');
INSERT INTO counters VALUES('l1d.read.hit_rate','','l1d.read.hits / l1d.read.accesses','derived');
INSERT INTO counters VALUES('l1d.read.hits','access','data present','sum');
INSERT INTO counters VALUES('l1d.read.miss_rate','','l1d.read.misses / l1d.read.accesses','derived');
INSERT INTO counters VALUES('l1d.read.misses','access','line reserved and fetched','sum');
INSERT INTO counters VALUES('l1d.read.partial_misses','access','organisations with chunks: some of the data was present or on its way, the rest is fetched','sum');
INSERT INTO counters VALUES('l1d.read.pending_hits','access','line still being fetched; the load merges','sum');
INSERT INTO counters VALUES('l1d.read.pending_rate','','l1d.read.pending_hits / l1d.read.accesses','derived');
INSERT INTO counters VALUES('l1d.read.rejections','cycle','the access at the head was refused and is retried','sum');
INSERT INTO counters VALUES('l1d.read.rejections.line','cycle','no line to reserve','sum');
INSERT INTO counters VALUES('l1d.read.rejections.miss_queue','cycle','miss queue full','sum');
INSERT INTO counters VALUES('l1d.read.rejections.mshr','cycle','no free MSHR','sum');
INSERT INTO counters VALUES('l1d.read.rejections.mshr_merge','cycle','merge list of the MSHR full','sum');
INSERT INTO counters VALUES('l1d.read.second_requests','request','lines longer than the L2''s: further requests of misses that span two L2 lines','sum');
INSERT INTO counters VALUES('l1d.write.accesses','access','global stores presented to the L1','sum');
INSERT INTO counters VALUES('l1d.write.hits','access','global stores that invalidated a line','sum');
INSERT INTO counters VALUES('l1d.write.rejections','cycle','the store at the head was refused and is retried','sum');
INSERT INTO counters VALUES('l1i.accesses','access','instruction fetches','sum');
INSERT INTO counters VALUES('l1i.misses','access','instruction fetches that missed','sum');
INSERT INTO counters VALUES('l1t.accesses','access','texture reads','sum');
INSERT INTO counters VALUES('l1t.misses','access','texture reads that missed','sum');
INSERT INTO counters VALUES('l2.accesses','access','accesses of every kind at all sub-partitions','sum');
INSERT INTO counters VALUES('l2.bypasses','access','accesses that a scheme sent past the L2','sum');
INSERT INTO counters VALUES('l2.evictions','line','valid lines replaced','sum');
INSERT INTO counters VALUES('l2.hit_rate','','l2.hits / l2.accesses','derived');
INSERT INTO counters VALUES('l2.hits','access','data present','sum');
INSERT INTO counters VALUES('l2.misses','access','line reserved and fetched','sum');
INSERT INTO counters VALUES('l2.pending_hits','access','line still being fetched','sum');
INSERT INTO counters VALUES('l2.queue_delay.mean','L2 cycle','time in the queue in front of the L2','mean');
INSERT INTO counters VALUES('l2.read.accesses','access','global reads arriving at the L2','sum');
INSERT INTO counters VALUES('l2.read.hits','access','global reads that hit','sum');
INSERT INTO counters VALUES('l2.rejections','cycle','the access at the head was refused and is retried','sum');
INSERT INTO counters VALUES('l2.write.accesses','access','global writes arriving at the L2','sum');
INSERT INTO counters VALUES('l2.write.hits','access','global writes that hit','sum');
INSERT INTO counters VALUES('l2.writebacks','line','dirty lines written back','sum');
INSERT INTO counters VALUES('loads.degree_1','load','global load instructions that made one access','sum');
INSERT INTO counters VALUES('loads.degree_11_20','load','global load instructions that made 11 to 20 accesses','sum');
INSERT INTO counters VALUES('loads.degree_2','load','global load instructions that made 2 accesses','sum');
INSERT INTO counters VALUES('loads.degree_21_up','load','global load instructions that made 21 accesses or more','sum');
INSERT INTO counters VALUES('loads.degree_3_10','load','global load instructions that made 3 to 10 accesses','sum');
INSERT INTO counters VALUES('mem.atomic_requests','request','atomic requests that left the SMs','sum');
INSERT INTO counters VALUES('mem.latency.max','core cycle','longest of those','maximum');
INSERT INTO counters VALUES('mem.latency.mean','core cycle','data requests, stores included: from the SM''s memory unit to the response','mean');
INSERT INTO counters VALUES('mem.read_requests','request','global read requests that left the SMs','sum');
INSERT INTO counters VALUES('mem.requests_answered','request','answers that reached the SMs','sum');
INSERT INTO counters VALUES('mem.requests_awaited','request','requests of every kind that left the SMs and expect an answer','sum');
INSERT INTO counters VALUES('mem.write_requests','request','global write requests that left the SMs','sum');
INSERT INTO counters VALUES('registers.read','operand','register operands read by warp instructions, addresses included','sum');
INSERT INTO counters VALUES('registers.written','operand','register operands written by warp instructions','sum');
INSERT INTO counters VALUES('shared.accesses','instruction','shared-memory instructions','sum');
INSERT INTO counters VALUES('shared.bank_conflicts','cycle','extra cycles of shared-memory instructions','sum');
INSERT INTO counters VALUES('simt_efficiency','','active lanes of an executed warp instruction, as a fraction of 32','derived');
INSERT INTO counters VALUES('sm.empty_cycles','cycle','cycles of SMs that held no block, summed over SMs','sum');
INSERT INTO counters VALUES('stall.bypass','cycle','memory pipe held by a bypassing access that found no room','sum');
INSERT INTO counters VALUES('stall.constant','cycle','memory pipe held by the constant cache','sum');
INSERT INTO counters VALUES('stall.interconnect','cycle','an L1 miss waited for the interconnect','sum');
INSERT INTO counters VALUES('stall.l1d','cycle','memory pipe held by an L1 refusal','sum');
INSERT INTO counters VALUES('stall.shared_conflict','cycle','memory pipe held by a shared-memory bank conflict','sum');
INSERT INTO counters VALUES('stall.texture','cycle','memory pipe held by the texture cache','sum');
INSERT INTO counters VALUES('stall.uncoalesced','cycle','memory pipe held because the instruction has further accesses','sum');
INSERT INTO counters VALUES('thread_insts','instruction','executed instructions, one per active lane (predicated-off lanes are not active)','sum');
INSERT INTO counters VALUES('warp_insts','instruction','executed warp instructions','sum');
CREATE TABLE totals(
  run_id INTEGER PRIMARY KEY REFERENCES runs(id) ON DELETE CASCADE, "kernels" INTEGER, "cycles" INTEGER, "thread_insts" INTEGER, "warp_insts" INTEGER, "insts.simple" INTEGER, "insts.integer_add" INTEGER, "insts.integer_multiply" INTEGER, "insts.float32_add" INTEGER, "insts.float32_multiply" INTEGER, "insts.float32_division" INTEGER, "insts.float64" INTEGER, "insts.integer_division" INTEGER, "insts.special" INTEGER, "insts.memory" INTEGER, "registers.read" INTEGER, "registers.written" INTEGER, "sm.empty_cycles" INTEGER, "ctas" INTEGER, "issue.issued" INTEGER, "issue.data_hazard" INTEGER, "issue.memory_stall" INTEGER, "issue.pipe_busy" INTEGER, "issue.barrier" INTEGER, "issue.control" INTEGER, "issue.idle" INTEGER, "issue.slots" INTEGER, "stall.shared_conflict" INTEGER, "stall.constant" INTEGER, "stall.texture" INTEGER, "stall.l1d" INTEGER, "stall.bypass" INTEGER, "stall.uncoalesced" INTEGER, "stall.interconnect" INTEGER, "loads.degree_1" INTEGER, "loads.degree_2" INTEGER, "loads.degree_3_10" INTEGER, "loads.degree_11_20" INTEGER, "loads.degree_21_up" INTEGER, "l1d.read.accesses" INTEGER, "l1d.read.hits" INTEGER, "l1d.read.pending_hits" INTEGER, "l1d.read.misses" INTEGER, "l1d.read.partial_misses" INTEGER, "l1d.read.second_requests" INTEGER, "l1d.read.bypasses" INTEGER, "l1d.read.rejections" INTEGER, "l1d.write.accesses" INTEGER, "l1d.write.hits" INTEGER, "l1d.write.rejections" INTEGER, "l1d.local_read.accesses" INTEGER, "l1d.local_read.hits" INTEGER, "l1d.local_read.pending_hits" INTEGER, "l1d.local_read.misses" INTEGER, "l1d.local_read.partial_misses" INTEGER, "l1d.local_read.rejections" INTEGER, "l1d.local_write.accesses" INTEGER, "l1d.local_write.hits" INTEGER, "l1d.local_write.rejections" INTEGER, "l1d.read.rejections.line" INTEGER, "l1d.read.rejections.miss_queue" INTEGER, "l1d.read.rejections.mshr" INTEGER, "l1d.read.rejections.mshr_merge" INTEGER, "l1d.evictions" INTEGER, "l1d.fetch_bytes" INTEGER, "l1d.fill_bytes" INTEGER, "l1i.accesses" INTEGER, "l1i.misses" INTEGER, "l1c.accesses" INTEGER, "l1c.misses" INTEGER, "l1t.accesses" INTEGER, "l1t.misses" INTEGER, "shared.accesses" INTEGER, "shared.bank_conflicts" INTEGER, "l2.accesses" INTEGER, "l2.hits" INTEGER, "l2.pending_hits" INTEGER, "l2.misses" INTEGER, "l2.bypasses" INTEGER, "l2.rejections" INTEGER, "l2.read.accesses" INTEGER, "l2.read.hits" INTEGER, "l2.write.accesses" INTEGER, "l2.write.hits" INTEGER, "l2.evictions" INTEGER, "l2.writebacks" INTEGER, "l2.queue_delay.mean" REAL, "dram.requests" INTEGER, "dram.reads" INTEGER, "dram.writes" INTEGER, "dram.activates" INTEGER, "dram.precharges" INTEGER, "dram.row_hits" INTEGER, "dram.busy_cycles" INTEGER, "dram.cycles" INTEGER, "icnt.flits_up" INTEGER, "icnt.flits_down" INTEGER, "icnt.packets_up" INTEGER, "icnt.packets_down" INTEGER, "mem.read_requests" INTEGER, "mem.write_requests" INTEGER, "mem.atomic_requests" INTEGER, "mem.requests_awaited" INTEGER, "mem.requests_answered" INTEGER, "mem.latency.mean" REAL, "mem.latency.max" INTEGER, "icnt.latency_up.mean" REAL, "icnt.latency_down.mean" REAL, "ipc" REAL, "simt_efficiency" REAL, "l1d.read.hit_rate" REAL, "l1d.read.pending_rate" REAL, "l1d.read.miss_rate" REAL, "l1d.read.bypass_rate" REAL, "l2.hit_rate" REAL, "dram.row_hit_rate" REAL, "dram.utilisation" REAL, "energy.total" REAL, "energy.front" REAL, "energy.regfile" REAL, "energy.exec" REAL, "energy.l1d" REAL, "energy.shared" REAL, "energy.l2" REAL, "energy.mem_ctrl" REAL, "energy.icnt" REAL, "energy.dram" REAL, "energy.idle_core" REAL, "energy.efficiency" REAL, "dram.bytes" REAL);
INSERT INTO totals VALUES(1,2,7606,1769472,57344,589824,131072,262144,131072,131072,0,0,0,65536,458752,59392,53248,4285,256,57344,59503,55950,779,0,11224,34810,219610,0,3356,0,38994,0,2048,48383,0,2048,0,0,0,2031,0,0,2031,0,0,2065,14226,2048,0,26933,0,0,0,0,0,0,0,0,0,0,7004,7222,0,16,259968,259968,28672,960,10240,480,0,0,0,0,6189,3105,9,3075,0,5287,4096,2048,2048,1024,0,0,37.991759569999999257,4099,6150,2048,99,3,4000,16396,60228,14381,22723,6189,6189,4096,2048,0,6189,6189,575.05195649999996023,1616,199.22633540000001061,24.728852090000000174,232.64159870000000295,0.96428571429999998532,0.0,0.0,1.0,0.50415039059999999793,0.50169655840000004776,0.97584776770000003498,0.27223218440000002127,473.45430290000001605,72.770109439999998814,70.558165299999998864,52.092862459999999201,7.3886070000000003688,0.0,36.690098200000001327,23.897161499999999278,72.538319999999998797,127.79202899999999943,9.7269500000000004291,491370.75599999999395,524672.0);
INSERT INTO totals VALUES(2,2,7590,1769472,57344,589824,131072,262144,131072,131072,0,0,0,65536,458752,59392,53248,6631,256,57344,48936,66691,856,0,11197,29414,214438,0,3356,0,38929,0,2048,30331,0,2048,0,0,0,4096,0,0,4096,0,0,0,35022,2048,0,5392,0,0,0,0,0,0,0,0,0,0,13284,21738,0,464,524288,524288,28672,960,10240,480,0,0,0,0,6189,3105,9,3075,0,2470,4096,2048,2048,1024,0,0,28.413313939999998325,4099,6150,2048,99,3,4000,16396,60102,14381,22723,6189,6189,4096,2048,0,6189,6189,456.28202629999998407,1554,113.65448940000000277,26.069167069999998886,233.1320158000000049,0.96428571429999998532,0.0,0.0,1.0,0.0,0.50169655840000004776,0.97584776770000003498,0.27280290169999998894,483.570205900000019,72.770109439999998814,70.874316800000002557,52.092862459999999201,11.190272000000000218,0.0,36.690098200000001327,24.569828000000001112,72.538319999999998797,127.79202899999999943,15.052369999999999806,482105.83069999999135,524672.0);
CREATE TABLE kernels(
  id INTEGER PRIMARY KEY,
  run_id INTEGER NOT NULL REFERENCES runs(id) ON DELETE CASCADE,
  launch INTEGER NOT NULL,
  name TEXT NOT NULL,
  grid TEXT NOT NULL,
  block TEXT NOT NULL,
  shared_bytes INTEGER NOT NULL,
  registers INTEGER NOT NULL, "kernels" INTEGER, "cycles" INTEGER, "thread_insts" INTEGER, "warp_insts" INTEGER, "insts.simple" INTEGER, "insts.integer_add" INTEGER, "insts.integer_multiply" INTEGER, "insts.float32_add" INTEGER, "insts.float32_multiply" INTEGER, "insts.float32_division" INTEGER, "insts.float64" INTEGER, "insts.integer_division" INTEGER, "insts.special" INTEGER, "insts.memory" INTEGER, "registers.read" INTEGER, "registers.written" INTEGER, "sm.empty_cycles" INTEGER, "ctas" INTEGER, "issue.issued" INTEGER, "issue.data_hazard" INTEGER, "issue.memory_stall" INTEGER, "issue.pipe_busy" INTEGER, "issue.barrier" INTEGER, "issue.control" INTEGER, "issue.idle" INTEGER, "issue.slots" INTEGER, "stall.shared_conflict" INTEGER, "stall.constant" INTEGER, "stall.texture" INTEGER, "stall.l1d" INTEGER, "stall.bypass" INTEGER, "stall.uncoalesced" INTEGER, "stall.interconnect" INTEGER, "loads.degree_1" INTEGER, "loads.degree_2" INTEGER, "loads.degree_3_10" INTEGER, "loads.degree_11_20" INTEGER, "loads.degree_21_up" INTEGER, "l1d.read.accesses" INTEGER, "l1d.read.hits" INTEGER, "l1d.read.pending_hits" INTEGER, "l1d.read.misses" INTEGER, "l1d.read.partial_misses" INTEGER, "l1d.read.second_requests" INTEGER, "l1d.read.bypasses" INTEGER, "l1d.read.rejections" INTEGER, "l1d.write.accesses" INTEGER, "l1d.write.hits" INTEGER, "l1d.write.rejections" INTEGER, "l1d.local_read.accesses" INTEGER, "l1d.local_read.hits" INTEGER, "l1d.local_read.pending_hits" INTEGER, "l1d.local_read.misses" INTEGER, "l1d.local_read.partial_misses" INTEGER, "l1d.local_read.rejections" INTEGER, "l1d.local_write.accesses" INTEGER, "l1d.local_write.hits" INTEGER, "l1d.local_write.rejections" INTEGER, "l1d.read.rejections.line" INTEGER, "l1d.read.rejections.miss_queue" INTEGER, "l1d.read.rejections.mshr" INTEGER, "l1d.read.rejections.mshr_merge" INTEGER, "l1d.evictions" INTEGER, "l1d.fetch_bytes" INTEGER, "l1d.fill_bytes" INTEGER, "l1i.accesses" INTEGER, "l1i.misses" INTEGER, "l1c.accesses" INTEGER, "l1c.misses" INTEGER, "l1t.accesses" INTEGER, "l1t.misses" INTEGER, "shared.accesses" INTEGER, "shared.bank_conflicts" INTEGER, "l2.accesses" INTEGER, "l2.hits" INTEGER, "l2.pending_hits" INTEGER, "l2.misses" INTEGER, "l2.bypasses" INTEGER, "l2.rejections" INTEGER, "l2.read.accesses" INTEGER, "l2.read.hits" INTEGER, "l2.write.accesses" INTEGER, "l2.write.hits" INTEGER, "l2.evictions" INTEGER, "l2.writebacks" INTEGER, "l2.queue_delay.mean" REAL, "dram.requests" INTEGER, "dram.reads" INTEGER, "dram.writes" INTEGER, "dram.activates" INTEGER, "dram.precharges" INTEGER, "dram.row_hits" INTEGER, "dram.busy_cycles" INTEGER, "dram.cycles" INTEGER, "icnt.flits_up" INTEGER, "icnt.flits_down" INTEGER, "icnt.packets_up" INTEGER, "icnt.packets_down" INTEGER, "mem.read_requests" INTEGER, "mem.write_requests" INTEGER, "mem.atomic_requests" INTEGER, "mem.requests_awaited" INTEGER, "mem.requests_answered" INTEGER, "mem.latency.mean" REAL, "mem.latency.max" INTEGER, "icnt.latency_up.mean" REAL, "icnt.latency_down.mean" REAL, "ipc" REAL, "simt_efficiency" REAL, "l1d.read.hit_rate" REAL, "l1d.read.pending_rate" REAL, "l1d.read.miss_rate" REAL, "l1d.read.bypass_rate" REAL, "l2.hit_rate" REAL, "dram.row_hit_rate" REAL, "dram.utilisation" REAL, "energy.total" REAL, "energy.front" REAL, "energy.regfile" REAL, "energy.exec" REAL, "energy.l1d" REAL, "energy.shared" REAL, "energy.l2" REAL, "energy.mem_ctrl" REAL, "energy.icnt" REAL, "energy.dram" REAL, "energy.idle_core" REAL, "energy.efficiency" REAL, "dram.bytes" REAL,
  UNIQUE(run_id, launch));
INSERT INTO kernels VALUES(1,1,0,'_Z6euclidPK6float2Pfiff','128,1,1','256,1,1',0,9,1,4874,884736,28672,294912,65536,131072,65536,65536,0,0,0,32768,229376,29696,26624,2793,128,28672,43978,28077,224,0,11082,28601,140634,0,3356,0,21808,0,1024,24702,0,1024,0,0,0,998,0,0,998,0,0,1050,8255,1024,0,14842,0,0,0,0,0,0,0,0,0,0,3307,4948,0,1,127744,127744,14336,960,5120,480,0,0,0,0,3117,33,9,3075,0,5287,2048,0,1024,0,0,0,47.382739809999996792,4099,6150,2048,99,3,4000,16396,38598,7213,11459,3117,3117,2048,1024,0,3117,3117,746.14901199999997061,1616,224.83446710000001189,23.311953349999999574,181.52154289999998582,0.96428571429999998532,0.0,0.0,1.0,0.5126953125,0.010587102980000000565,0.97584776770000003498,0.42478884919999998492,306.63232599999997772,36.385054719999999407,35.27640339999999952,26.0464312299999996,3.6620859999999999523,0.0,15.575832600000000027,19.050619000000001079,36.503759999999999762,127.79202899999999943,6.3401100000000001344,591984.36540000000968,524672.0);
INSERT INTO kernels VALUES(2,1,1,'_Z6euclidPK6float2Pfiff','128,1,1','256,1,1',0,9,1,2732,884736,28672,294912,65536,131072,65536,65536,0,0,0,32768,229376,29696,26624,1492,128,28672,15525,27873,555,0,142,6209,78976,0,0,0,17186,0,1024,23681,0,1024,0,0,0,1033,0,0,1033,0,0,1015,5971,1024,0,12091,0,0,0,0,0,0,0,0,0,0,3697,2274,0,15,132224,132224,14336,0,5120,0,0,0,0,0,3072,3072,0,0,0,0,2048,2048,1024,1024,0,0,28.463216150000000936,0,0,0,0,0,0,0,21630,7168,11264,3072,3072,2048,1024,0,3072,3072,403.11946610000001099,978,173.49316410000000133,26.152669270000000524,323.84187409999998408,0.96428571429999998532,0.0,0.0,1.0,0.49560546880000000413,1.0,0.0,0.0,166.82197700000000396,36.385054719999999407,35.281761899999999343,26.0464312299999996,3.7265209999999999723,0.0,21.114265599999999523,4.8465424999999999755,36.034559999999999035,0.0,3.3868399999999998506,1941242.2749999999068,0.0);
INSERT INTO kernels VALUES(3,2,0,'_Z6euclidPK6float2Pfiff','128,1,1','256,1,1',0,9,1,4828,884736,28672,294912,65536,131072,65536,65536,0,0,0,32768,229376,29696,26624,3554,128,28672,38141,36165,236,0,11055,23463,137732,0,3356,0,20835,0,1024,11844,0,1024,0,0,0,2048,0,0,2048,0,0,0,18243,1024,0,3140,0,0,0,0,0,0,0,0,0,0,2703,15540,0,240,262144,262144,14336,960,5120,480,0,0,0,0,3117,33,9,3075,0,2470,2048,0,1024,0,0,0,36.796599290000003179,4099,6150,2048,99,3,4000,16396,38232,7213,11459,3117,3117,2048,1024,0,3117,3117,579.61386460000005626,1554,102.29608029999999984,20.385811470000000157,183.25103559999999448,0.96428571429999998532,0.0,0.0,1.0,0.0,0.010587102980000000565,0.97584776770000003498,0.42885540909999997349,310.73331000000001722,36.385054719999999407,35.437158400000001278,26.0464312299999996,5.5951360000000001093,0.0,15.575832600000000027,19.330328000000001509,36.503759999999999762,127.79202899999999943,8.0675799999999995293,589737.33990000002085,524672.0);
INSERT INTO kernels VALUES(4,2,1,'_Z6euclidPK6float2Pfiff','128,1,1','256,1,1',0,9,1,2762,884736,28672,294912,65536,131072,65536,65536,0,0,0,32768,229376,29696,26624,3077,128,28672,10795,30526,620,0,142,5951,76706,0,0,0,18094,0,1024,18487,0,1024,0,0,0,2048,0,0,2048,0,0,0,16779,1024,0,2252,0,0,0,0,0,0,0,0,0,0,10581,6198,0,224,262144,262144,14336,0,5120,0,0,0,0,0,3072,3072,0,0,0,0,2048,2048,1024,1024,0,0,19.907226560000001569,0,0,0,0,0,0,0,21870,7168,11264,3072,3072,2048,1024,0,3072,3072,332.34798180000001367,871,125.06835940000000562,31.780273439999998431,320.32440259999998488,0.96428571429999998532,0.0,0.0,1.0,0.0,1.0,0.0,0.0,172.83689599999999586,36.385054719999999407,35.437158400000001278,26.0464312299999996,5.5951360000000001093,0.0,21.114265599999999523,5.239499999999999602,36.034559999999999035,0.0,6.9847900000000002762,1853333.4609999998938,0.0);
CREATE TABLE scheme_counters(
  run_id INTEGER NOT NULL REFERENCES runs(id) ON DELETE CASCADE,
  key TEXT NOT NULL,
  value INTEGER NOT NULL,
  PRIMARY KEY(run_id, key)) WITHOUT ROWID;
INSERT INTO scheme_counters VALUES(1,'bucl.bypassed_on_stall',2065);
INSERT INTO scheme_counters VALUES(1,'bucl.kept_full',17);
INSERT INTO scheme_counters VALUES(1,'bucl.periods',7);
INSERT INTO scheme_counters VALUES(1,'bucl.tucd_sum',17);
CREATE TABLE histograms(
  kernel_id INTEGER NOT NULL REFERENCES kernels(id) ON DELETE CASCADE,
  name TEXT NOT NULL,
  bucket INTEGER NOT NULL,
  label TEXT NOT NULL,
  value REAL NOT NULL,
  PRIMARY KEY(kernel_id, name, bucket)) WITHOUT ROWID;
CREATE TABLE samples(
  kernel_id INTEGER NOT NULL REFERENCES kernels(id) ON DELETE CASCADE,
  counter TEXT NOT NULL,
  cycle INTEGER NOT NULL,
  value REAL NOT NULL,
  PRIMARY KEY(kernel_id, counter, cycle)) WITHOUT ROWID;
CREATE TABLE records(
  run_id INTEGER PRIMARY KEY REFERENCES runs(id) ON DELETE CASCADE,
  zstd BLOB NOT NULL);
INSERT INTO records VALUES(1,X'28b52ffd643a3add68004a8cbc172a106ba679988bd15c13fffe5f7e23acbfaa41befa1359f7c04f0ea025959464b2d38a9f9202000000700186018a0163018cac078e711cc86399e7c0422f8c3449203ad8daa9a85279756195d62c97995807d870a5450727c822a9a492e6d9357f770a2a482bc4fbbd9bb37118e6b18c73c0a469c5c671001537ce71c077979940862aef32e542d141b4281790b2910d034fda85325619c7212ef2c2442dee311bde428409796755a4d220c661ecb395de2893842e2c30f1b841ec9d4bf3185b258234895725f36463ed448a950cf346f812c92093471b0ebd8a639cc754d89034477abdd8b971acbc0e8977c80a17f6592be3d82aaf9d0a599b712cbcf1d501655d5ce4ed14588f4eee12674acc380d2c94272b8d6821d2241ec4bbe4c649284f3630ed42e79db74226d1d8378e4de4b2c045440e952a523988c5c6b18a3d88b4cc364ea50b400539dc99cc0464607cf2368c2215b81cc439c6413299c803e31c0a324394748c4078343ec65958b8788a892c341ec409602a55220020a4e6081830c0314ec328629350e422da83388a652af31ee3c8832a077192042a16413630ed810308cb728ca3c0aaa095390836ce854aa5c8791009a471695a6acc89accd7520ef2f05af5d684c33519f9c2696d3b763b6c4b4de8546396b8509b74de24966328ca5d6c6b58f3955610370f1e085c77110cab176b88c22ffdb388bbceed133e5ba8d93c0192563fd173aed649847abc42a61e64d1a657d950a76ee9a51a645f65af6ad99b76697f90ec259f383607710e95737304ee2201460043730ce31ab024126c2a02fa409f204303866121bf909bc070daa5c388887360ed31c5232f6dd865926acf2cec7ccc43e3b54782c0d4d34e996f922bf0436b74e869920096b698dc7380e0a9a50865e3413af808404840409090909091224405040505050504048c7380c549eb5b21e075cc0c080050a1212141416285870c08204060a6d9c0204e0378e020585ab2021e1320dad8a67ab44ec02ebb595998b689bc4b148440e54846b73657d4e891d4c04dd862ab4228fde65be668656d429890ef131cd02a5c921517785e7c031cead9441dddddd1499c8ed7b638cfdd17b4e9f0a699fb590714834f51ae79049022e52da0422c6b9512255324d4d8e71ee2215196112dcdfefedd5b35f29f9423c74f29ad344b42c089605c132a18260a1d2060407c1fa39b8cc79d06099cdde7bad57c89b63b798932bf4c67932393ab56388a9b4e274fc6925e4ea8d4f914a5b6ca1d552ff23a59a95bf2714a503e92af9b3464b296465bed26a0a3dadc8b76af5e8d3a5173928aa5ce441b4f3d61af3763b93791bc69e316f8bb9e63a316b2bf16a56cb7df36294eabb73a19cd96aedef509a7122887c5799f6205cfbe25e881b1b27324a2dc7ac9062f6eeaa21ef669ad79c9c337a675536d8e59077c206f8a412a7422f948a54e44284ccf2a5811e8a9bd9e656534e3d276fa070116565e0e2772e3937a7583785981b678152410e30914777374fcd5aafc592724a3166d5f7366f5e31fd2be5334926e28c2de295c86490cdebc2b2a4d454d24bbc39afd575252b1b06647dc742a3b42f8153798a651e8b64ec9d8be69cb53246880ec8348fbb1f73e2a79a9f9455210f640f4813f35e161a0f19ad0c0f0f0f8cfd622831c5ce9773ad9a5aa81973dd5c4aeed12b96bebdf7b77609f552ebb9ad85127377891363a899f2e5ee8d5b75b3f6b6d6bbe7b43e3995167b62cd2df647ad7ab5d60cb92fa5be1b39c7eb97e395d0624b35ebe6a69cbbd3b3e51663e710532bb16bfced9d5bfdddcd3c25a694fbfe6ee74fcd2ab56aaab93bd754e277dc899b2b768c2d95965bcd5bad76caad5eac2df76eae2d77c5967bc69f9ef5413c1c843c0f2643e3c3abc5ffce9fd2628dda9bddb1b76f0aa9e52aadf6f5de90af6f6746dcdceb9b316e8c39ee86fe39a584b8b5f7957e3967678dbd21d58ab5fbefc5e8fd5939478a71638effdd312395bc59f2eff69cd473a794525afcdcea1db54eddddca59b77b76a999b9b5d8aac4dc5e7d63c6e9996bcca57e5f6b29d6d8eab5985bb1463c3c7063df119b7bd05925c31ae45d462e2cf41d0f9686c6a7c04333e5cc1c730f832da8628b94a44ca1991a499282a431520910848cb328e9a4d70312a0d1689425298c8390324621428888888888888888489224e938f96a92100b3b8b3071512ad44cae80167885727642c0980aba797854403022ea0689180e509f42025b13c52183cf476ea77010a70325930353beb7a242fb9c1220f50f5c04df2c37a0d9a5f3724805551940cdcda9dced97146cd7512ac4889531202f2b0980223033d75f40051d5b026287f9180f80dda998b6945da5d030c30a430acd509ff247a160879f18775d8112758252409f31fc316d6de024b8a861dade4f235d06718d7e840dca815a257c86819889a50849125508e916498682da636960c1d0607406b6cb5a908cc666e4399dffdcd706e17248dc7302f1dd799a4d2bb08681705606efd013dae707fa71fa6a19033686e01673f66b1783a536e7eed8101306a402858113d94b2c20e90c2575ac880b7ca4712cbd9aa7c075463842e08e1c50f8ef376b76d42a697a05cf27486b1651f84c1b7233a710c2173f6d9dd40b992b34837a03929e5dcd158cc82dec17c060d9fd18079d133f100365f852598640b9fcceea85cfc80b320ce0cd396366063d65a0186738cbbb45c3cf4943f5d520dbb061eb9d006d8308833e6c38dd9c5e0dcf890d75b152dd114fb178aba33d71363c8c6da0bd7a85eae4dd200602112da2650202455b53c74142b8211d430fb721236ed31c69b17dd3c2de551b4275ea860af006e1f8866b7cf60dd2488031a6574467d7ae211cf215975a6a9b68b93afccc4630e1c362aecc7122fa915a682ce01c9fe6dc76204b05b67b24c7f555aa3a7ce93a442f0a57a948f52dedafd7a756a4a57d9b866d340828862d9033501921a3bb2de6d68d6665f1581decd13703042b42a168ba989733758fdda024afa05a48ecbc5f9d90171bab6db4ec9b679cd781972e6701b0a2e83bff63a9b39932fb0993b2da0a837cff8a6fd1f015626740b4193229539956abd856f8cdbeab6e04f4a739bfa20edb341090ae0995d8881a459a1a9b24d9e59d1266ad528c5ede79f5d180c542ac738aaddee24d57b0e4bb8c10c488c3e88d4777c7880cd0683ce2dce8c9f97b318cb88d823b05be5355eee00901f31f8cd41c7462f3d66483c551d39856171e2f00a013bab90c4c8b2a187fdb4ed2987a01774fca8254ca04eb52031d32c96a0fb39959627e6d586fc41b1af0bbcae10d925d6a94ccf1c8171eccfc41a8b9311fcabe7fbd5c9396f8752fe9f68ef9c2e2fc8843dd45a2bb70a146cbed65ebc5f3ccc658eb25211ad62033c0850749c8e5253d6abe41d33601c0c8a8e2a4e08d359d973022f36007db0204c579bf94e01163059ef29bd6095bbfd7786ef2a7d2d6118a66c006bf746018da86057d9d280dd4d800e821e5b3d69f8235260501ce057413bad5862bc5e0a212a9548c962181b92f5380f1e65ee3a5ae098e0c23e635029fd93a020a9497ef2f14e575cb2f1c0e553217124a974ae5254215b1c1cf01fed9a2ec379e68a45b52d73d911ae705821ec0ab31b53f568d3673b541646e38b735e1a9f20e59724e43aa8b6a542572fa7bb99bedd3c3ac4e4f989447e71726f57dd0aa3049e8a9593dfb4cb66d571457c3e968f849cd7331f1594c0e62137b52e199722029a26d73d3d19abd2f2aba57f70a5121639f1159f337352df060cc9b3dea3dd867e680389b06014824a9b31ec5f00f2364d9bb4ffb0f7c4a33313ce102ed034ce4d00c32792335f31af5e2d175f6b64b57ab0492f7bfa7ceeefbd68553004ede7566b99394847dde6599c102b79f0c81460a2b74538f24def90f1423399210b7eaeac3aba213e4ff88563b5dd85a01d6f895537ebb51573816088f693bacec2f7abe89805f2a9f6a860b861ec2425504466df1ef9e99304613fb4132c11ccaaa80bbfe8402c30fe2083d51a3473ea36a0b60fc4c917c20121c855c2a40ec14b09259c6a5b856379cbc842e6610264b23854c3535733a1fda520580cd09c4308985040a3e54997a964e7c4148ac7d43040817d8223383a2dd4621f2c63ec511d331f55cf5105b7f793987ecb1ca96bd2115b02b2b78a6c73e00b5ad786b9c3cddc7c8bad45bae64cd71d094da292c52f7427317ebc1091522bd4847386d1ec843d1e11c605ab50410bd70ca589502f606ab04fe86be5e00a126bd6f576e30cbd6ea9929e60a839e66762af3770d476a9d63b039c7c017550a5fa97f58ed66c4f1ca00910aa36dcc2d23a3366511c98e1ca88c095b20ac4b21e11df2942e1b29c80a7db93a048b57dabb31381bcbd25071042e4b54cf3b8d48f26c2a5ba4c02aa8475dd7b6f8315af0765da474ff308361686981d388873544257d845e27d36c40004a3a183846fe1cfc24920d60ddb3d8daa674ee5b04b6804e138a246741aec8a2dd7627c32f6c9d8880d7c1174187d355186f83dd9ab225c84924add0efbcda9c29d0ab746ad524aced49641f89e2e30a535a28a45c5d5d5c3ce2ec5642529c849ee4ba033d80fe5ab57d946b43f771570dee9f5a502d3303ab27f4bc27e01ec08f62ed437c4240df29c2e9e174bc22ac56c8868b49');
INSERT INTO records VALUES(2,X'28b52ffd64fa38fd63005a85a0162a106ba679988bd15c13ffef5f7e23b2fcaa06f9ea4f64dd033f398096242953b2d38a9f920200000070016e017a014c01afc0bab08a6bb60eb1e1be450727c82279f2a461fc9c62ea79549076443553ed141b87611ecb38474c9a76368e83a828e31c478497ce2432d4bf743e5dd04138f90bfc37df3000dfd285b16e1c0749ffc6c417f7980d7041c6c4df5995571ac4388c85b62e577e922c0b3426203788bd933690b1f511a449c0fa0cfcc6da8914fb0cf3ca089367f8042e0d67b98a631cc8d4d890344782bdf829e3d8bf0e09787c8d0bcb5abb716cfd6ba7e2ab338e8d57323fe2d7c545aa9f12ebd1c9a572a6d48cd3c042815f178916e492c883602f29e32414f80d4c4b9779e7ad9149349619c7264f695c48e45017e59583586c1cabd8834874b671eab2405490c39dc94c44264af8b7619457223d88738c833e99c803e31c1eb921fe8f91180fc7c7380b1b17503111bac88338014ca53e020042720a01030638c66918c5419ca733791b13ca2fa43d88a3a05399f718e78f453988932451b108dfc0b4070e20507a8ca3c4aa582a73106c9c1b95ba20e7416e9b047c66328b3173e35ac88a9d1be7a8b181b880f1c6e33808b5963b5c4679c6da38f4ef6388357fddc649e294cf58c5e832ed6498477b624f9879934659acbe829f7acd28d3227b6d63ae9b72ced2099d3a087e0791d8ea06c6491c84028ce006c639665520c84418f48d4b823002181c3391cdb304e08306f5170ee2a18dc334c73f63e16d183a63fd3b213313cbd8a1c683364bc2fda3134a86496c6e9d0c334112d62e551ee33828966461968b660216909080902021212121418204080a080a0a0a0a08e91887890ab4f6eb71c4050c0c58a02021414161818205072c4860a0d0c629400066c651a0a0701524245ca659aa02dafa88a5b15e5b99b990b6491c8b48e44045b836f72be394d8c144d06d1665a9085c2e9db099592aea944807099966615992e351778de7c031cead0b83babbbb176422b7ef95523693aae75453f1165a1b19874453af718e4f1291fedb2422c6b9f291fa4c5393639c4b5f791913e6eb81631c077fd0790ed0e546b9244944075b3b1535b31b53bddc51f3f6dc5a8d25e48c033f395ea77e0db5e669c9e9da933b7af54aa8bcd2ee565b6831e7f5165adeec8aa984e43b78e516375768b9e26b37b5125b2ae2ee0d25becb450e8afaf40f829f73adec4ce66d5a63ad29b7da73af1337b71237a354e19d0bc56db956eca134e54490875799895723978c6276cb394aedc925f61a7562a6814c31e7ccd06bab7e83a5c7df191b227c454e65b9f195577e41466629dab01ccedd6c7bbbe78c936a58e2427e65e262f6927afdde62af211a5f410e31f9a3bbbba9eed5923ff7c6ec7daf53cd4bb2c7dcd54c9289286ed60b791fe9c9f049adb5b09e5a4f05268add55bb6abf61e02b3ce822dfc2244e052ae83ce833f6ce8553a9ad7d29233a22d340ee86cc89a137c3ffaaf803d9232eca3153bac8e3a5fd242e9236cb5de2e46b731dfc65cbe3b574916926adf9925867ca8fb9122ff5d245feac3526580f0f2db9432b713bd5bc57428bdb9d2fd4cd3db690ea762fa5c710f36e9d1e2366a69ab97e09f5728c5d35875253ea254eada16e6fa54e6d2177aa717a9d5cb7566e2df618a7e516a77646ee9d1ae3c71262ea39a51643cece3ab56bc496f26eddec5c71e2c4d4737667855cafc4cf31539db81753deb8956be77ebebad3f2e4ce9d2b56af3d66b61c3fc618f3e7145bcdce9853edab9fbfd5abb9a554bbe7d67aac717aabf5413cfc7930190516bb95123385dcdd97e3d7947b882de5693d6fb41433e266cf3177a81ba794107752aa5d296f9d5c43ecea2d772ca1d5dc9c63f79a72d4ee8ab5639c9ae34e29a5c416eb6ee9a1c7adda3d66dcabfbb5c69a534ebde438b1d4586b959ab15e69bd96b8b5d4ac35e2418107d758b5d7d8b1c6cc59632b25b5100f9dc0e63412518a805204744605c1425d1a101c446be8e032e741031a8308a8628396a40c21122291240549860342091084cdb328e928d70312c0e1601426318a430821a314111111110944440291204992a4037fa00288974441ca445f887ea0b494516504b12fbf81daa31945a0607f2e7ba0478f0cbc5095de7edb155d557ca05571208c5deaeffe1182e7962c5db661342dc80b366ca20098157a8b3da063fa69e4b2d6b400a3054a2371db3ad0a00ac9d91c682939d02f9749894aae99822d6fcc4d49b5008b2a8015a9b2e89fb5187f049a3f386861861015ad065883a31083a44dfa0ec907dafe5917245a815f1cd0247700acb3ca9ca38d03aad5279e3185e7beb60437a38ed98932a7e40d8385670360471e88110e201eafaf6200080cbfd30c4b66bb3407003eb4ae0eb2ebd8ff550a7ca325db3de33ada849bb34b2046aa23fc65df3153f1158c64249e3d68a614a0962c2ce099e32555c64031ce7ddd391cb06111d40bca2fec409cd6017269088c1b26888551ac803e69e08b5d9222a815147bfea580346baab03e81a52e052030294996e4baafc0085b90329dca0b6cf6053117030a2c0379674f8506603cbaca007617420ce86d19b847c5db4940e14899a376b1196c383430a9b1616ac06b0ee735a8880a6b7237c10fb4911cd2222d35efa00685beda00856e401036987983d3b2896f3c2d52421b1a6b638883deb3a306457edda43a545458e52d51f3532b1fb5addaaada6483f6d7a7574e4fd3366d1b681190ea5b686f48a143463afab2efcab03616e31cd7e2dbe7ff8e4e42c1b5c05321a287ed3ff99af04410c2f932ab406e205319d212431df5eeff0c7ef7fb4280938cfbb33933b4436008c2c46a00fb7dbf10b4846137130c732d84de1814c74d9d295a9fa6bd7ec4fa9a063f0ffa905b08d743efc0e4623518f107631853d32c92ac2b19f82c97aae4bfa1acc1446adcbc8a06bc0b4eaf36455a8ff0d770511f21ede9d366cbb8feedb18298f392733398ee5f09d6defaeb92022d23049e3ee441240be42f42abccdde96cd52432cb514cd35abd3e3e1020c67487d909855405f7b63525da7cb921de8cc09ad2c455ab192aae766835a8b3895b4aae6db834e218da9bbcc2f3e66940354aceb1e1c307aa2c42fe75c36344737fcc7713958bbc80bfd285af7b93bfe17b7287a2fb64a3e175fc05244f295af5e7b74a7eba58d0b3dd81de1234e815c7949cf95053010e99f1d349bf23c1e03591a1cfd63da62b3f2a7ffc4b8dae3da647fa15e30a905cee935e941c22a3ad8543b2a57c296021ce8af31fa65a0b446580ec105a5b632c819b094d6086000c420d3475cb14ace46255bca36444542cb127db4fa0322cd345fceb698aa63459469b4339b974f9850d7e397a7ce05cb0654de2e2a7c4b60a8202023675c685b5f4707dc75644f77f6a72906955f657200d3dfe56377595f7453711b7d7f03430df2c19ae29511738aa1c7909b6c6cdc4d303f02e5d98b9a3a708b3e30dc72f0d2621d9ec9e6c3f06664551a7e24c47df9cb6cc9d3c1f44e53936f3a655d166687fb819b2a6c38bb6ceab464214c7bccf196b2aae6e05cc88b185a28c0e164a4d21ceb560b044c88ad5711f8f67b1e2525bac43e4f7e274688567b4129808123330f29e90dc35ea39d875e7b14b67a8044ee23fc1d9119ccbe5ac530581a4f0ae57cb9dac26ecf31acb0cfeb8015d8cc6e0af1051cf62bc8b6de88ca4e48eef99b779aaa208b27e44810df56ded890c6d25a1db58d4fd8f053463c2396cfd6f4eadf792c28b7c0891ab421d58ff143178cbffc698f9abf491af3d5bc6213006cae4af1020fd8d0983893df5b132aa6f61958f2fd27922e1e220da65f83b018c32cb782b6ec90df65702c52c648a6c80904bac6675db25aa29d8e86f20b2c13b14287952d6f259f8f1b12529c7061cea174e8acc863a5fa33273c3e7e260e9ccfb337a04ade05e6628c75225275b56ca7197453fb7d93e60b30fdc1bfe125d35f3f06a2c2f6ad531b0bd72628ad31a51b37d806212552486ef69327d165540617f29c0551907486b9c8fc0230b5001a413b01ef688625659cdb9417811b8d856195acc2cfc041a0f54eada058ea0e748dce605b3b828172ea5e1a173335da01cce2de20a1476de48b65b46ccca9e13015dae44089f1bb4a5b0ec6ee114c185c7cd94be4b0efe930b4d38e2d39b4bd2316f242eeb5e8f804d9c37a6495bdccac270f55d97b39038bae224b093c0c701b3c4d7d032e0888537a425628441e55826ec0050fd00ddb87f04e282c358a8c3ad0135444aa98d6a9640d2051591c2430eb387b2a392d30b643d21c33b48c0b7b026155bd3a02ed3bbb9b2120a190698ef955218aa9db006157a6962925948a6f8f0778a5d856458abcb408f915f1b4973926282bcd8a1c1eb292c0f43f5187a323e9ff1ec1707998c1059fcdb8b8979466070219683026f161016802c2d2fa6471bad05b362');
CREATE INDEX plan_hash ON plan(hash);
CREATE VIEW results AS SELECT s.name AS study, p.ordinal, p.workload, p.suite, p."group", p.size, p.gpu, p.scheme, p.parameters, p.replica, p.hash, r.id AS run, coalesce(r.status, 'missing') AS status, r.exit_code, r.error, r.program, r.mode, r.command, r.simulator, r.seconds, r.cpu_seconds, r.peak_kb, r.configuration_id, t.* FROM plan p JOIN studies s ON s.id = p.study_id LEFT JOIN runs r ON r.hash = p.hash LEFT JOIN totals t ON t.run_id = r.id;
COMMIT;
PRAGMA user_version = 1; PRAGMA application_id = 1397511491;
