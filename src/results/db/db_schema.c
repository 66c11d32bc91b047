/* db_schema.c - the tables, as the list of steps from an empty file to the present version.
 *
 * A step is never changed once released: a new version is a new step. tests/study keeps a file of every version.
 */
#include "results/db/db_impl.h"

static const char to_1[] =
    /* A study with its file as read. */
    "CREATE TABLE studies(\n"
    "  id INTEGER PRIMARY KEY,\n"
    "  name TEXT NOT NULL UNIQUE,\n"
    "  file TEXT NOT NULL,\n"
    "  text TEXT NOT NULL);\n"
    /* A machine: every knob of it. */
    "CREATE TABLE configurations(\n"
    "  id INTEGER PRIMARY KEY,\n"
    "  hash TEXT NOT NULL UNIQUE,\n"
    "  gpu TEXT NOT NULL);\n"
    "CREATE TABLE knobs(\n"
    "  configuration_id INTEGER NOT NULL REFERENCES configurations(id) ON DELETE CASCADE,\n"
    "  key TEXT NOT NULL,\n"
    "  value NOT NULL,\n"
    "  PRIMARY KEY(configuration_id, key)) WITHOUT ROWID;\n"
    /* One ended simulation. */
    "CREATE TABLE runs(\n"
    "  id INTEGER PRIMARY KEY,\n"
    "  hash TEXT NOT NULL UNIQUE,\n"
    "  configuration_id INTEGER REFERENCES configurations(id),\n"
    "  program TEXT NOT NULL,\n"
    "  program_hash TEXT,\n"
    "  gpu TEXT NOT NULL,\n"
    "  scheme TEXT NOT NULL,\n"
    "  mode TEXT NOT NULL,\n"
    "  status TEXT NOT NULL CHECK(status IN ('done', 'failed')),\n"
    "  exit_code INTEGER NOT NULL,\n"
    "  error TEXT,\n"
    "  log TEXT,\n"
    "  command TEXT NOT NULL,\n"
    "  simulator TEXT,\n"
    "  host TEXT,\n"
    "  finished TEXT NOT NULL DEFAULT (strftime('%Y-%m-%dT%H:%M:%SZ', 'now')),\n"
    "  seconds REAL,\n"
    "  cpu_seconds REAL,\n"
    "  peak_kb INTEGER);\n"
    /* Rows of a study's plan; several rows may name one run. */
    "CREATE TABLE plan(\n"
    "  study_id INTEGER NOT NULL REFERENCES studies(id) ON DELETE CASCADE,\n"
    "  ordinal INTEGER NOT NULL,\n"
    "  hash TEXT NOT NULL,\n"
    "  workload TEXT,\n"
    "  suite TEXT,\n"
    "  \"group\" TEXT,\n"
    "  size TEXT,\n"
    "  gpu TEXT,\n"
    "  scheme TEXT,\n"
    "  parameters TEXT NOT NULL DEFAULT '{}',\n"
    "  replica INTEGER NOT NULL DEFAULT 0,\n"
    "  PRIMARY KEY(study_id, ordinal)) WITHOUT ROWID;\n"
    "CREATE INDEX plan_hash ON plan(hash);\n"
    /* Names, units and meanings of the counter columns. */
    "CREATE TABLE counters(\n"
    "  key TEXT PRIMARY KEY,\n"
    "  unit TEXT NOT NULL,\n"
    "  meaning TEXT NOT NULL,\n"
    "  kind TEXT NOT NULL) WITHOUT ROWID;\n"
    /* A column per counter is added to these two by db_sync_counters. */
    "CREATE TABLE totals(\n"
    "  run_id INTEGER PRIMARY KEY REFERENCES runs(id) ON DELETE CASCADE);\n"
    "CREATE TABLE kernels(\n"
    "  id INTEGER PRIMARY KEY,\n"
    "  run_id INTEGER NOT NULL REFERENCES runs(id) ON DELETE CASCADE,\n"
    "  launch INTEGER NOT NULL,\n"
    "  name TEXT NOT NULL,\n"
    "  grid TEXT NOT NULL,\n"
    "  block TEXT NOT NULL,\n"
    "  shared_bytes INTEGER NOT NULL,\n"
    "  registers INTEGER NOT NULL,\n"
    "  UNIQUE(run_id, launch));\n"
    /* Of a run in total. */
    "CREATE TABLE scheme_counters(\n"
    "  run_id INTEGER NOT NULL REFERENCES runs(id) ON DELETE CASCADE,\n"
    "  key TEXT NOT NULL,\n"
    "  value INTEGER NOT NULL,\n"
    "  PRIMARY KEY(run_id, key)) WITHOUT ROWID;\n"
    /* Of a launch, with `characterise`: loads by un-coalescing degree, lines by how much of them was used. */
    "CREATE TABLE histograms(\n"
    "  kernel_id INTEGER NOT NULL REFERENCES kernels(id) ON DELETE CASCADE,\n"
    "  name TEXT NOT NULL,\n"
    "  bucket INTEGER NOT NULL,\n"
    "  label TEXT NOT NULL,\n"
    "  value REAL NOT NULL,\n"
    "  PRIMARY KEY(kernel_id, name, bucket)) WITHOUT ROWID;\n"
    /* Of a launch, with `sample`: counters of every so many cycles; `cycle` is the end of the interval. */
    "CREATE TABLE samples(\n"
    "  kernel_id INTEGER NOT NULL REFERENCES kernels(id) ON DELETE CASCADE,\n"
    "  counter TEXT NOT NULL,\n"
    "  cycle INTEGER NOT NULL,\n"
    "  value REAL NOT NULL,\n"
    "  PRIMARY KEY(kernel_id, counter, cycle)) WITHOUT ROWID;\n"
    /* The record itself, zstd over JSON: includes data not in tables (source lines, units). */
    "CREATE TABLE records(\n"
    "  run_id INTEGER PRIMARY KEY REFERENCES runs(id) ON DELETE CASCADE,\n"
    "  zstd BLOB NOT NULL);\n"
    /* The view for most queries: labels, status and totals of every planned run. */
    "CREATE VIEW results AS SELECT s.name AS study, p.ordinal, p.workload, p.suite, p.\"group\", p.size, p.gpu, "
    "p.scheme, p.parameters, p.replica, p.hash, r.id AS run, coalesce(r.status, 'missing') AS status, r.exit_code, "
    "r.error, "
    "r.program, r.mode, r.command, r.simulator, r.seconds, r.cpu_seconds, r.peak_kb, r.configuration_id, t.* "
    "FROM plan p JOIN studies s ON s.id = p.study_id LEFT JOIN runs r ON r.hash = p.hash "
    "LEFT JOIN totals t ON t.run_id = r.id;\n";

/* Of a launch, with `lines`: an instruction that touches memory. Filled from the records for runs of version 1. */
static const char to_2[] = "CREATE TABLE lines(\n"
                           "  kernel_id INTEGER NOT NULL REFERENCES kernels(id) ON DELETE CASCADE,\n"
                           "  ptx_line INTEGER NOT NULL,\n"
                           "  file TEXT NOT NULL,\n"
                           "  line INTEGER NOT NULL,\n"
                           "  executions INTEGER NOT NULL,\n"
                           "  accesses INTEGER NOT NULL,\n"
                           "  l1_accesses INTEGER NOT NULL,\n"
                           "  l1_hits INTEGER NOT NULL,\n"
                           "  stall_cycles INTEGER NOT NULL,\n"
                           "  l2_bytes INTEGER NOT NULL);\n"
                           "CREATE INDEX lines_kernel ON lines(kernel_id);\n";

/* Launches that overlapped: each has its own counters in `kernels`, and together one row here with all counters.
 * Filled from the records for runs of earlier versions. */
static const char to_3[] = "ALTER TABLE kernels ADD COLUMN stream INTEGER NOT NULL DEFAULT 0;\n"
                           "ALTER TABLE kernels ADD COLUMN overlap INTEGER;\n"
                           "ALTER TABLE kernels ADD COLUMN start_cycle INTEGER;\n"
                           "ALTER TABLE kernels ADD COLUMN end_cycle INTEGER;\n"
                           "CREATE TABLE overlaps(\n"
                           "  id INTEGER PRIMARY KEY,\n"
                           "  run_id INTEGER NOT NULL REFERENCES runs(id) ON DELETE CASCADE,\n"
                           "  overlap INTEGER NOT NULL,\n"
                           "  name TEXT NOT NULL,\n"
                           "  start_cycle INTEGER NOT NULL,\n"
                           "  launch_cycles INTEGER NOT NULL,\n"
                           "  UNIQUE(run_id, overlap));\n";

/* A checksum per table (`part`) and study, machine, run or launch (`id`): db_sums.c. */
static const char to_4[] = "CREATE TABLE sums(\n"
                           "  part TEXT NOT NULL,\n"
                           "  id INTEGER NOT NULL,\n"
                           "  sum INTEGER NOT NULL,\n"
                           "  PRIMARY KEY(part, id)) WITHOUT ROWID;\n";

const char *const db_migrations[DB_VERSION] = {to_1, to_2, to_3, to_4};
