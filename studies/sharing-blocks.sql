-- What is shared, the sharing-aware paper's Fig 3, 5, 8 and sections III and VI-C: every study of the file that has the
-- baseline and sharing-cta=x:adpt=1 on the machine sharing-aware.
WITH seen AS (
  SELECT r.*, json_extract(record(run), '$.totals') AS t FROM results r
  WHERE scheme = 'none' AND gpu = 'sharing-aware' AND status = 'done')
SELECT workload,
  printf('%.0f %%', 100 * (t ->> '$."character.blocks.shared_by_ctas"')) AS "blocks shared by CTAs",
  printf('%.0f %%', 100 * (t ->> '$."character.blocks.shared_below_distance_5"')) AS "of them nearer than 5",
  printf('%.0f %%', 100 * (t ->> '$."character.blocks.shared_by_sms"')) AS "by SMs",
  printf('%.1f', t ->> '$."character.sharers_per_shared_block"') AS "SMs each",
  printf('%.0f %%', 100 * (t ->> '$."character.shared_loads.merged"')) AS merged,
  printf('%.0f %%', 100 * (t ->> '$."character.shared_loads.hits"')) AS hits,
  printf('%.0f %%', 100 * (t ->> '$."character.shared_loads.reused_late"')) AS "reused after 1000 cycles",
  printf('%.0f %%', 100 * (t ->> '$."character.l2_misses.first"')) AS "L2 misses: first access",
  printf('%.2f', t ->> '$."character.ctas.longest_over_mean"') AS "longest CTA over mean",
  printf('%.0f', 1.0 * ctas / max(1, kernels)) AS CTAs,
  CASE WHEN cycles = (SELECT x.cycles FROM results x WHERE x.study = seen.study AND x.workload = seen.workload
                        AND x.size IS seen.size AND x.gpu = seen.gpu AND x.scheme = 'sharing-cta=x:adpt=1')
    THEN 'no' ELSE 'yes' END AS "x of the grid matters"
FROM seen ORDER BY study, ordinal
