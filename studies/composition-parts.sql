-- A combination of composition.yaml beside the best of its parts alone, workload by workload. It adds where it is faster
-- than every part, harms where it is slower than the best part, by more than 0.5 %. product is what the parts' own
-- speedups would give if they were independent.
WITH runs AS (
  SELECT workload, scheme, ipc, row_number() OVER (PARTITION BY workload, scheme) AS copy, ordinal FROM results
  WHERE study = 'composition' AND status = 'done'),
speed AS (
  SELECT r.workload, r.scheme, r.ordinal, r.ipc / b.ipc AS speed FROM runs r
  JOIN runs b ON b.workload = r.workload AND b.scheme = 'none' AND b.copy = 1 WHERE r.copy = 1),
parts AS (
  SELECT s.scheme, s.workload, s.ordinal, s.speed, max(p.speed) AS alone, sum(ln(p.speed)) AS product
  FROM speed s, json_each('["' || replace(s.scheme, ',', '","') || '"]') name
  JOIN speed p ON p.workload = s.workload AND p.scheme = name.value
  WHERE instr(s.scheme, ',') GROUP BY s.scheme, s.workload),
ranked AS (
  SELECT *, row_number() OVER (PARTITION BY scheme ORDER BY speed / alone DESC, workload) AS from_top,
    row_number() OVER (PARTITION BY scheme ORDER BY speed / alone, workload) AS from_bottom FROM parts)
SELECT replace(scheme, ',', ' + ') AS combination,
  printf('%.3f', exp(avg(ln(speed)))) AS IPC,
  printf('%.3f', exp(avg(ln(alone)))) AS "best part, each workload",
  printf('%.3f', exp(avg(product))) AS product,
  sum(speed > alone * 1.005) AS adds, sum(speed < alone * 0.995) AS harms,
  max(CASE WHEN from_top = 1 THEN printf('%s %.2f', workload, speed / alone) END) AS most,
  max(CASE WHEN from_bottom = 1 THEN printf('%s %.2f', workload, speed / alone) END) AS least
FROM ranked GROUP BY scheme ORDER BY min(ordinal)
