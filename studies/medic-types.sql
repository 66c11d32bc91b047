-- Warps at the L2, MeDiC's Table II; its Fig 6 (kept), 7 and 8: the programs of medic.yaml on the baseline.
WITH waits AS (
  SELECT r.run AS of, sum(w.value) AS requests, sum(CASE WHEN w.key > 5 THEN w.value END) AS long -- 2^5 cycles and more
  FROM results r, json_each(record(r.run), '$.kernels') k, json_each(k.value, '$.warps_at_l2.requests_by_log2_wait') w
  WHERE r.study = 'medic' AND r.scheme = 'none' AND r.status = 'done' GROUP BY r.run),
seen AS (
  SELECT r.*, json_extract(record(run), '$.totals') AS t FROM results r
  WHERE study = 'medic' AND scheme = 'none' AND status = 'done')
SELECT workload,
  printf('%.0f %%', 100 * (t ->> '$."character.warps.all_hit"')) AS AH,
  printf('%.0f %%', 100 * (t ->> '$."character.warps.mostly_hit"')) AS MH,
  printf('%.0f %%', 100 * (t ->> '$."character.warps.balanced"')) AS BL,
  printf('%.0f %%', 100 * (t ->> '$."character.warps.mostly_miss"')) AS MM,
  printf('%.0f %%', 100 * (t ->> '$."character.warps.all_miss"')) AS AM,
  printf('%.0f', 1.0 * "l2.accesses" / max(1, t ->> '$."character.warps"')) AS "accesses a warp",
  printf('%.0f %%', 100 * (t ->> '$."character.warps.type_kept"')) AS kept,
  printf('%.0f %%', 100 * "l2.hit_rate") AS "L2 hits",
  printf('%.0f %%', 100 * (t ->> '$."character.l2_misses.first"')) AS "its misses: first access",
  printf('%.1f', "l2.queue_delay.mean") AS "wait, mean",
  printf('%.0f %%', 100 * ifnull(1.0 * long / requests, 0)) AS "32 cycles or more",
  printf('%.0f', t ->> '$."character.divergence_penalty.mean"') AS "penalty, mean",
  printf('%.0f %%', 100 * "dram.utilisation") AS "DRAM busy"
FROM seen LEFT JOIN waits ON waits.of = seen.run ORDER BY ordinal
