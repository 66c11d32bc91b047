-- The fastest machine of composition.yaml for each workload (as in composition-gains.sql), its IPC and its energy over the
-- baseline's.
WITH runs AS (
  SELECT workload, scheme, ipc, json_extract(record(run), '$.energy.whole_uj') AS energy, ordinal,
    row_number() OVER (PARTITION BY workload, scheme) AS copy FROM results WHERE study = 'composition' AND status = 'done'),
ranked AS (
  SELECT r.workload, r.scheme, r.ipc / b.ipc AS speed, r.energy / b.energy AS energy,
    row_number() OVER (PARTITION BY r.workload ORDER BY round(r.ipc / b.ipc, 3) DESC,
      length(r.scheme) - length(replace(r.scheme, ',', '')), r.ordinal) AS place
  FROM runs r JOIN runs b ON b.workload = r.workload AND b.scheme = 'none' AND b.copy = 1 WHERE r.copy = 1)
SELECT workload, replace(scheme, ',', ' + ') AS "best machine", printf('%.3f', speed) AS IPC, printf('%.3f', energy) AS "its energy"
FROM ranked WHERE place = 1 ORDER BY workload
