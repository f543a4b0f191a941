SELECT CAST(extract(year FROM d) * 10000 + extract(month FROM d) * 100 + extract(day FROM d) AS INTEGER) AS d_datekey,
       CAST(extract(year FROM d) AS INTEGER) AS d_year,
       CAST(extract(year FROM d) * 100 + extract(month FROM d) AS INTEGER) AS d_yearmonthnum,
       substr('JanFebMarAprMayJunJulAugSepOctNovDec', CAST(extract(month FROM d) AS INTEGER) * 3 - 2, 3) || CAST(CAST(extract(year FROM d) AS INTEGER) AS VARCHAR) AS d_yearmonth,
       CAST(floor((extract(doy FROM d) - 1) / 7) AS INTEGER) + 1 AS d_weeknuminyear
FROM (SELECT DISTINCT o_orderdate AS d FROM orders) AS days
ORDER BY 1
