-- Of every machine of composition.yaml: workloads that gain or lose more than 0.5 %, and workloads on which it is the
-- fastest of all (to three digits; of equals the one with fewer designs, then the one named first).
WITH runs AS (
  SELECT workload, scheme, ipc, row_number() OVER (PARTITION BY workload, scheme) AS copy, ordinal FROM results
  WHERE study = 'composition' AND status = 'done'),
speed AS (
  SELECT r.workload, r.scheme, r.ordinal, r.ipc / b.ipc AS speed FROM runs r
  JOIN runs b ON b.workload = r.workload AND b.scheme = 'none' AND b.copy = 1 WHERE r.copy = 1),
ranked AS (
  SELECT *, row_number() OVER (PARTITION BY workload ORDER BY round(speed, 3) DESC,
    length(scheme) - length(replace(scheme, ',', '')), ordinal) AS place FROM speed)
SELECT scheme AS machine, sum(speed > 1.005) AS gain, sum(speed < 0.995) AS lose, sum(place = 1) AS best
FROM ranked GROUP BY scheme ORDER BY min(ordinal)
