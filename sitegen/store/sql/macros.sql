-- Words that cards share. Every macro takes the alias of its relation as `s` (DuckDB macros cannot
-- capture columns) and looks at rows of one run in the order of `row`. Windows do not nest: layer CTEs.
-- `n` and `gap` count rows; they may be columns such as s.w. A window that holds less than 80 % of its
-- values gives NULL: too little to say anything is not the same as healthy.

-- Trailing: the last n rows, this one included.
CREATE MACRO tavg(x, s, n) AS CASE WHEN
    count(x) OVER (PARTITION BY s.run ORDER BY s.row ROWS BETWEEN (n)::INTEGER - 1 PRECEDING AND CURRENT ROW) >= 0.8 * (n)
    THEN avg(x) OVER (PARTITION BY s.run ORDER BY s.row ROWS BETWEEN (n)::INTEGER - 1 PRECEDING AND CURRENT ROW) END;

CREATE MACRO tmed(x, s, n) AS CASE WHEN
    count(x) OVER (PARTITION BY s.run ORDER BY s.row ROWS BETWEEN (n)::INTEGER - 1 PRECEDING AND CURRENT ROW) >= 0.8 * (n)
    THEN median(x) OVER (PARTITION BY s.run ORDER BY s.row ROWS BETWEEN (n)::INTEGER - 1 PRECEDING AND CURRENT ROW) END;

CREATE MACRO tmax(x, s, n) AS CASE WHEN
    count(x) OVER (PARTITION BY s.run ORDER BY s.row ROWS BETWEEN (n)::INTEGER - 1 PRECEDING AND CURRENT ROW) >= 0.8 * (n)
    THEN max(x) OVER (PARTITION BY s.run ORDER BY s.row ROWS BETWEEN (n)::INTEGER - 1 PRECEDING AND CURRENT ROW) END;

CREATE MACRO tmin(x, s, n) AS CASE WHEN
    count(x) OVER (PARTITION BY s.run ORDER BY s.row ROWS BETWEEN (n)::INTEGER - 1 PRECEDING AND CURRENT ROW) >= 0.8 * (n)
    THEN min(x) OVER (PARTITION BY s.run ORDER BY s.row ROWS BETWEEN (n)::INTEGER - 1 PRECEDING AND CURRENT ROW) END;

CREATE MACRO tsd(x, s, n) AS CASE WHEN
    count(x) OVER (PARTITION BY s.run ORDER BY s.row ROWS BETWEEN (n)::INTEGER - 1 PRECEDING AND CURRENT ROW) >= 0.8 * (n)
    THEN stddev_samp(x) OVER (PARTITION BY s.run ORDER BY s.row ROWS BETWEEN (n)::INTEGER - 1 PRECEDING AND CURRENT ROW) END;

-- How many of the last n rows made `condition` true.
CREATE MACRO tcount(condition, s, n) AS
    count_if(condition) OVER (PARTITION BY s.run ORDER BY s.row ROWS BETWEEN (n)::INTEGER - 1 PRECEDING AND CURRENT ROW);

-- Previous: the n rows before this one, leaving out the newest `gap` of them.
CREATE MACRO pavg(x, s, n, gap := 0) AS CASE WHEN
    count(x) OVER (PARTITION BY s.run ORDER BY s.row
                   ROWS BETWEEN (n)::INTEGER + (gap)::INTEGER PRECEDING AND (gap)::INTEGER + 1 PRECEDING) >= 0.8 * (n)
    THEN avg(x) OVER (PARTITION BY s.run ORDER BY s.row
                      ROWS BETWEEN (n)::INTEGER + (gap)::INTEGER PRECEDING AND (gap)::INTEGER + 1 PRECEDING) END;

-- A median is worth having from 16 values, however wide the window.
CREATE MACRO pmed(x, s, n, gap := 0) AS CASE WHEN
    count(x) OVER (PARTITION BY s.run ORDER BY s.row
                   ROWS BETWEEN (n)::INTEGER + (gap)::INTEGER PRECEDING AND (gap)::INTEGER + 1 PRECEDING)
        >= least(16, 0.8 * (n))
    THEN median(x) OVER (PARTITION BY s.run ORDER BY s.row
                         ROWS BETWEEN (n)::INTEGER + (gap)::INTEGER PRECEDING AND (gap)::INTEGER + 1 PRECEDING) END;

-- Median absolute deviation x 1.4826: an sd that outliers do not move.
CREATE MACRO pmad(x, s, n, gap := 0) AS CASE WHEN
    count(x) OVER (PARTITION BY s.run ORDER BY s.row
                   ROWS BETWEEN (n)::INTEGER + (gap)::INTEGER PRECEDING AND (gap)::INTEGER + 1 PRECEDING)
        >= least(16, 0.8 * (n))
    THEN 1.4826 * mad(x) OVER (PARTITION BY s.run ORDER BY s.row
                               ROWS BETWEEN (n)::INTEGER + (gap)::INTEGER PRECEDING AND (gap)::INTEGER + 1 PRECEDING) END;

-- Residual sd about the least-squares line: noise, whatever the trend. sqrt((Syy - Sxy^2 / Sxx) / (k - 2)).
CREATE MACRO rsd(x, s, n, gap := 0) AS CASE WHEN
    count(x) OVER (PARTITION BY s.run ORDER BY s.row
                   ROWS BETWEEN (n)::INTEGER + (gap)::INTEGER PRECEDING AND (gap)::INTEGER + 1 PRECEDING)
        >= greatest(3, least(16, 0.8 * (n)))
    THEN sqrt(greatest(0,
        regr_syy(x, s.row) OVER (PARTITION BY s.run ORDER BY s.row
                   ROWS BETWEEN (n)::INTEGER + (gap)::INTEGER PRECEDING AND (gap)::INTEGER + 1 PRECEDING)
        - pow(regr_sxy(x, s.row) OVER (PARTITION BY s.run ORDER BY s.row
                   ROWS BETWEEN (n)::INTEGER + (gap)::INTEGER PRECEDING AND (gap)::INTEGER + 1 PRECEDING), 2)
        / nullif(regr_sxx(x, s.row) OVER (PARTITION BY s.run ORDER BY s.row
                   ROWS BETWEEN (n)::INTEGER + (gap)::INTEGER PRECEDING AND (gap)::INTEGER + 1 PRECEDING), 0))
        / (count(x) OVER (PARTITION BY s.run ORDER BY s.row
                   ROWS BETWEEN (n)::INTEGER + (gap)::INTEGER PRECEDING AND (gap)::INTEGER + 1 PRECEDING) - 2)) END;

-- That line, extended to this row.
CREATE MACRO forecast(x, s, n, gap := 0) AS CASE WHEN
    count(x) OVER (PARTITION BY s.run ORDER BY s.row
                   ROWS BETWEEN (n)::INTEGER + (gap)::INTEGER PRECEDING AND (gap)::INTEGER + 1 PRECEDING)
        >= greatest(3, least(16, 0.8 * (n)))
    THEN regr_intercept(x, s.row) OVER (PARTITION BY s.run ORDER BY s.row
                   ROWS BETWEEN (n)::INTEGER + (gap)::INTEGER PRECEDING AND (gap)::INTEGER + 1 PRECEDING)
       + s.row * regr_slope(x, s.row) OVER (PARTITION BY s.run ORDER BY s.row
                   ROWS BETWEEN (n)::INTEGER + (gap)::INTEGER PRECEDING AND (gap)::INTEGER + 1 PRECEDING) END;

-- Distance from the median of the n rows before, in robust sd of the logarithm, floor 0.10. For
-- positive, heavy-tailed metrics (norms, KL, times). Values that are not positive count as missing.
CREATE MACRO lz(x, s, n := 50, gap := 0) AS
    (ln(CASE WHEN (x) > 0 THEN x END) - pmed(ln(CASE WHEN (x) > 0 THEN x END), s, n, gap))
    / greatest(pmad(ln(CASE WHEN (x) > 0 THEN x END), s, n, gap), 0.10);

-- Least-squares slope per row over the last n rows, and its t value (0 for a constant).
CREATE MACRO slope(x, s, n) AS CASE WHEN
    count(x) OVER (PARTITION BY s.run ORDER BY s.row ROWS BETWEEN (n)::INTEGER - 1 PRECEDING AND CURRENT ROW)
        >= greatest(3, 0.8 * (n))
    THEN regr_slope(x, s.row) OVER (PARTITION BY s.run ORDER BY s.row
                                    ROWS BETWEEN (n)::INTEGER - 1 PRECEDING AND CURRENT ROW) END;

CREATE MACRO t_of(k, sxx, syy, sxy) AS
    CASE WHEN sxy = 0 THEN 0.0
         ELSE sxy / sqrt(sxx) / sqrt(greatest(syy - sxy * sxy / sxx, 1e-12 * syy) / (k - 2)) END;

CREATE MACRO tval(x, s, n) AS CASE WHEN
    count(x) OVER (PARTITION BY s.run ORDER BY s.row ROWS BETWEEN (n)::INTEGER - 1 PRECEDING AND CURRENT ROW)
        >= greatest(3, 0.8 * (n))
    THEN t_of(
        count(x) OVER (PARTITION BY s.run ORDER BY s.row ROWS BETWEEN (n)::INTEGER - 1 PRECEDING AND CURRENT ROW),
        regr_sxx(x, s.row) OVER (PARTITION BY s.run ORDER BY s.row ROWS BETWEEN (n)::INTEGER - 1 PRECEDING AND CURRENT ROW),
        regr_syy(x, s.row) OVER (PARTITION BY s.run ORDER BY s.row ROWS BETWEEN (n)::INTEGER - 1 PRECEDING AND CURRENT ROW),
        regr_sxy(x, s.row) OVER (PARTITION BY s.run ORDER BY s.row ROWS BETWEEN (n)::INTEGER - 1 PRECEDING AND CURRENT ROW)
    ) END;

-- Following: this row and the n - 1 after it.
CREATE MACRO favg(x, s, n) AS CASE WHEN
    count(x) OVER (PARTITION BY s.run ORDER BY s.row ROWS BETWEEN CURRENT ROW AND (n)::INTEGER - 1 FOLLOWING) >= 0.8 * (n)
    THEN avg(x) OVER (PARTITION BY s.run ORDER BY s.row ROWS BETWEEN CURRENT ROW AND (n)::INTEGER - 1 FOLLOWING) END;

-- Since the beginning.
CREATE MACRO best(x, s) AS
    max(x) OVER (PARTITION BY s.run ORDER BY s.row ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW);

CREATE MACRO at_best(y, x, s) AS
    arg_max(y, x) OVER (PARTITION BY s.run ORDER BY s.row ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW);

-- Baselines of a run: the median of its rows 1-20 and 20-70 (fewer where steps were logged with a
-- stride, see steps.r20). They look at rows later than this one while these are being written.
CREATE MACRO start(x, s) AS CASE WHEN
    count(x) FILTER (s.row <= s.r20) OVER (PARTITION BY s.run) >= 0.8 * s.r20
    THEN median(x) FILTER (s.row <= s.r20) OVER (PARTITION BY s.run) END;

CREATE MACRO early(x, s) AS CASE WHEN
    count(x) FILTER (s.row BETWEEN s.r20 AND s.r20 + s.r50) OVER (PARTITION BY s.run) >= 0.8 * s.r50
    THEN median(x) FILTER (s.row BETWEEN s.r20 AND s.r20 + s.r50) OVER (PARTITION BY s.run) END;

-- The value n rows ago.
CREATE MACRO ago(x, s, n) AS lag(x, (n)::INTEGER) OVER (PARTITION BY s.run ORDER BY s.row);

-- Nothing learned yet, in a run that learns later: the best level so far is within a tenth of what will be gained.
-- What such rows look like (no reward, no gradient, no KL) is no baseline for what follows.
CREATE MACRO unlearned(high, low, s) AS coalesce(
    coalesce(s.score_best, s.score_start) < s.score_start + 0.1 * (max(s.score20) OVER (PARTITION BY s.run) - s.score_start)
    AND max(s.score20) OVER (PARTITION BY s.run) - s.score_start > 0.05 * greatest(abs(s.score_start), max(high) OVER (PARTITION BY s.run) - min(low) OVER (PARTITION BY s.run)), false);

-- The gradient norm where the batch taught anything: all answers with one mark leave none.
CREATE MACRO taught(norm, most, least, s) AS CASE WHEN norm >= 1e-5
    AND NOT coalesce(most = 0 AND least = 0 AND NOT s.quantized, false) THEN norm END;
