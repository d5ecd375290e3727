-- The relations that cards read, made from `raw` (live and rewritten rows of a batch of runs, metrics under
-- their canonical keys), `validations`, `non_finite`, `log_lines` and `runs`. Statements end with a semicolon at the end of a line.
--
-- steps     one row per live training row of a run, in the order of steps. Rows that only carry a
--           validation are in `evals` alone. Of more than 50 000 rows every k-th is here, and the last one.
--   run, row (1-based), segment, step, time (Unix s), cut (the record lost its end: absent metrics are
--   unknown there), every glossary key as a column (NULL = not logged), and
--   stride        median distance between logged steps          d_step  distance to the row before
--   n, frac       rows planned (else rows there are; also where less than a tenth of the plan is there: nobody
--                 means to run 56 000 steps at four minutes each); position in the run, 0-1
--   r10 r20 r50   10, 20, 50 steps in rows: the same number unless steps were logged with a stride. Then at least 10, 16,
--                 20 rows, for a spread of fewer is noise itself, or a tenth, an eighth, a sixth of a short run; at least 5
--   w             5 % of the run in rows, between r20 and 2 x r50
--   warm          first r20 rows, learning-rate warm-up or critic warm-up; the two at most for a quarter of the run,
--                 or a learning rate that rises to the end would silence every rule
--   quantized     the log prints 3 decimals: 0.000 is not zero
--   batch         sequences per step = total tokens / (response + prompt length)
--   time_step_net, throughput_net  without validation and checkpoints
--   score10, score20      trailing means of the score over r10, r20 rows
--   score_start           median of the first r20 rows; entropy_start likewise
--   score_best            best score20 so far
--   score_sd              residual sd of the r50 rows that ended r10 rows ago: noise, whatever the trend
--   score_z               (score20 - score20 of r20 rows ago) / (score_sd sqrt(2 / r20)): flat < 1.4, rising > 3
--   d_score               score20 - score20 of r20 rows ago
--   speed                 the better of total and response tokens/s: median of 10 rows / own best so far
--
-- evals     one row per validation: run, name (as logged), dataset, idx (1-based), row, step, val, val_best (best so
--           far, this one included), val_before (best before this one), n_evals, train (mean score of the r10 rows on both
--           sides of that row, NULL before training), scale (highest score_max - lowest score_min, at least 1: train /
--           scale is comparable with an accuracy), best_of_n (best of the N answers that val is the mean of), sd (noise of one validation, from those before it: against train or
--           against its own two neighbours, whichever is calmer; at least 0.015), last
-- events    one row per non-finite value or line of the log that matters: run, idx (1-based), kind ("non_finite" or the
--           kind of the line), name (as logged), metric, raw, level, text, path, line, segment, row (NULL before the first row), step,
--           past (a later attempt logged steps beyond the last one of the attempt that ends here)
-- runs      run, title, project, experiment, algorithm, model, verl_version, hardware, gpus, planned (steps), finished, growing,
--           steps, first_step, last_step, segments, started_at, ended_at, wall_s, gpu_hours, has_log (a text log was read), and
--           settings as numbers (NULL = not in the config): lr_warmup_steps, critic_warmup, test_freq, save_freq, rollout_n,
--           train_batch_size, max_response_length
-- segments  run, number, first, last, rows, source, reason        config    run, key, setting (text)
-- facts     run, key, setting: what the files mention in passing, such as commit, verl_version, torch_version
-- problems  run, path, line, kind, message                        summary   run, metric, name, n, first, last, min, max, …
-- spans     for cards with `after`: run, code, n, first_row, last_row, first, last, grade (1 info - 4 critical), open
-- moves     for cards of phases: where the score goes from one level to another, looked at as a whole: run, first_row,
--           last_row, before, after (the levels), noise (sd of a row). A bent move begins and ends 7.5 % inside its
--           height. A run whose score stays has one row, with noise alone
-- presets   run, preset: the sets of absolute bands the run is held against

-- Sorting whole rows of a hundred metrics is slow: they are numbered by what tells them apart, and joined.
CREATE TABLE live AS
WITH told AS (
    SELECT row_number() OVER () AS place, run, step, trains, live FROM raw
), kept AS (
    SELECT place, row_number() OVER (PARTITION BY run ORDER BY step) AS row FROM told
    WHERE live AND (trains OR run NOT IN (SELECT run FROM told WHERE live AND trains))
)
SELECT run::run_id AS run, row, * EXCLUDE (run, row, live, trains, place)
FROM (SELECT row_number() OVER () AS place, * FROM raw) JOIN kept USING (place);

-- Distance of logged steps, and whether the log prints 3 decimals: most values need the third and none a
-- fourth. Twenty different values must say so, or a few round numbers would.
CREATE TABLE pace AS
WITH told AS (
    SELECT run, unnest([score, entropy, grad_norm, pg_loss, ppo_kl, kl_ref, response_clip_ratio]) AS v FROM live
), digits AS (
    SELECT run, count(DISTINCT v) >= 20 AND bool_and(abs(v * 1000 - round(v * 1000)) < 1e-6)
        AND avg((abs(v * 100 - round(v * 100)) > 1e-6)::INTEGER) > 0.5 AS quantized
    FROM told WHERE v != 0 AND abs(v) < 1000 GROUP BY run
), gaps AS (
    SELECT run, step::DOUBLE - lag(step) OVER (PARTITION BY run ORDER BY row) AS d FROM live
), strides AS (
    SELECT run, count(*) AS rows, greatest(1, coalesce(median(d), 1)) AS stride FROM gaps GROUP BY run
)
SELECT run, rows, stride, coalesce(quantized, false) AS quantized FROM strides LEFT JOIN digits USING (run);

CREATE TABLE steps AS
WITH sized AS (
    SELECT run, stride, quantized, lr_warmup_steps, critic_warmup,
        CASE WHEN planned / stride <= 10 * p.rows THEN planned END AS plan, coalesce(plan / stride, 0) AS plan_rows,
        greatest(p.rows, plan_rows) AS n,
        greatest(round(10 / stride), least(10, p.rows / 10), 5)::INTEGER AS r10,
        greatest(round(20 / stride), least(16, p.rows / 8), 5)::INTEGER AS r20,
        greatest(round(50 / stride), least(20, p.rows / 6), 5)::INTEGER AS r50
    FROM pace p JOIN runs USING (run)
), placed AS (
    -- Windows sort whole rows: the metrics that none of them looks at come back at the end.
    SELECT l.run, l.row, l.score, l.entropy, l.throughput, l.response_length, l.prompt_length, l.time_step,
        z.stride, z.quantized, z.n, z.r10, z.r20, z.r50,
        greatest(z.r20, least(2 * z.r50, round(z.n / 20)))::INTEGER AS w,
        least(1.0, CASE WHEN z.plan > 0 AND l.step <= z.plan THEN l.step / z.plan ELSE l.row / z.n END) AS frac,
        l.row <= greatest(z.r20, least(z.n / 4, coalesce(z.lr_warmup_steps, 0) / z.stride),
                          least(z.n / 4, coalesce(z.critic_warmup, 0) / z.stride)) AS warm,
        l.step::DOUBLE - lag(l.step) OVER (PARTITION BY l.run ORDER BY l.row) AS d_step,
        l.total_tokens / nullif(l.response_length + l.prompt_length, 0) AS batch,
        coalesce(l.time_testing, 0) + coalesce(l.time_save_checkpoint, 0) AS time_apart,
        coalesce(l.time_gen, 0) + coalesce(l.time_old_log_prob, 0) + coalesce(l.time_ref, 0) + coalesce(l.time_values, 0)
            + coalesce(l.time_update_critic, 0) + coalesce(l.time_update_actor, 0) AS time_parts
    FROM live l JOIN sized z USING (run)
), timed AS (
    -- Newer verl times validation and checkpoints inside the step, some forks do not: where the step would
    -- become shorter than its own parts, they were not inside.
    SELECT *, CASE WHEN time_step - time_apart >= greatest(0.8 * time_parts, 0.05 * time_step)
                   THEN time_step - time_apart ELSE time_step END AS time_step_net
    FROM placed
), paid AS (
    SELECT *, throughput * coalesce(time_step / nullif(time_step_net, 0), 1) AS throughput_net,
        tavg(score, t, t.r10) AS score10,
        tavg(score, t, t.r20) AS score20,
        rsd(score, t, t.r50, t.r10) AS score_sd,
        start(score, t) AS score_start,
        start(entropy, t) AS entropy_start
    FROM timed t
), flowing AS (
    SELECT *, best(score20, p) AS score_best, score20 - ago(score20, p, p.r20) AS d_score,
        tmed(throughput_net, p, p.r10) AS tokens_10,
        tmed(throughput_net * response_length / nullif(response_length + prompt_length, 0), p, p.r10) AS response_tokens_10
    FROM paid p
), whole AS (
    SELECT l.*, f.stride, f.quantized, f.n, f.r10, f.r20, f.r50, f.w, f.frac, f.warm, f.d_step, f.batch,
        f.time_step_net, f.throughput_net, f.score10, f.score20, f.score_sd, f.score_start, f.entropy_start, f.score_best, f.d_score,
        CASE WHEN score_sd > 0 THEN d_score / (score_sd * sqrt(2 / r20))
             WHEN score_sd = 0 AND d_score = 0 THEN 0
             WHEN score_sd = 0 THEN sign(d_score) * 99 END AS score_z,
        greatest(tokens_10 / nullif(best(tokens_10, f), 0),
                 response_tokens_10 / nullif(best(response_tokens_10, f), 0)) AS speed
    FROM live l JOIN flowing f USING (run, row)
)
-- What nobody wants is not made: DuckDB leaves windows out that no column comes from. The first ones are for evals
-- and events.
SELECT COLUMNS(lambda name: name IN ('run', 'row', 'segment', 'step', 'r10', 'score', 'score_max', 'score_min')
                            OR coalesce(name IN getvariable('wanted'), true))
FROM whole;
DROP TABLE live;
DROP TABLE pace;

CREATE TABLE evals AS
-- A mean that trails would still rise after a steep climb, while validation is level already.
WITH trained AS (
    SELECT run, row, step, avg(score) OVER (PARTITION BY run ORDER BY row
                                            ROWS BETWEEN r10 PRECEDING AND r10 FOLLOWING) AS train,
        greatest(1, max(score_max) OVER (PARTITION BY run) - min(score_min) OVER (PARTITION BY run)) AS scale
    FROM steps WHERE run IN (SELECT run FROM validations)
), paired AS (
    SELECT e.run, e.name, e.dataset, e.step, e.val, e.best_of_n, s.row,
        row_number() OVER (PARTITION BY e.run, e.name ORDER BY e.step) AS idx, s.train, coalesce(s.scale, 1) AS scale
    FROM validations e ASOF LEFT JOIN trained s ON s.run = e.run AND s.step <= e.step
), moving AS (
    SELECT *, val - train / scale - lag(val - train / scale) OVER series AS jump,
        val - 2 * lag(val) OVER series + lag(val, 2) OVER series AS bend
    FROM paired WINDOW series AS (PARTITION BY run, name ORDER BY idx)
)
SELECT run, name, dataset, idx, row, step, val, best_of_n, train, scale,
    max(val) OVER (series ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW) AS val_best,
    max(val) OVER (series ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) AS val_before,
    count(*) OVER (PARTITION BY run, name) AS n_evals,
    idx = count(*) OVER (PARTITION BY run, name) AS last,
    -- median |difference| of successive gaps: 0.954 sd for normal noise; of second differences: 1.652 sd
    greatest(0.015, CASE WHEN count(bend) OVER before >= 3
        THEN least(median(abs(jump)) OVER before / 0.954, median(abs(bend)) OVER before / 1.652) END) AS sd
FROM moving
WINDOW series AS (PARTITION BY run, name ORDER BY idx), before AS (series ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING);
DROP TABLE validations;

CREATE TABLE events AS
WITH seen AS (
    SELECT run, 'non_finite' AS kind, name, metric, raw, 'error' AS level, NULL AS text, path, NULL AS line, segment, step, 0 AS rank,
        false AS past
    FROM non_finite
    UNION ALL
    SELECT run, kind, NULL, NULL, NULL, level, text, path, line, NULL, step, 1, past FROM log_lines
)
SELECT e.run, row_number() OVER (PARTITION BY e.run ORDER BY coalesce(e.step, -1), e.rank, e.path, e.line, e.name) AS idx,
    e.kind, e.name, e.metric, e.raw, e.level, e.text, e.path, e.line, coalesce(e.segment, s.segment) AS segment, s.row, e.step,
    e.past
FROM seen e ASOF LEFT JOIN steps s ON s.run = e.run AND s.step <= e.step;
