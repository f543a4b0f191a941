-- Q2.2
SELECT sum(lo_revenue) AS revenue, d_year, p_brand1
FROM ssb_lineorder, ssb_date, ssb_part, ssb_supplier
WHERE lo_orderdate = d_datekey
  AND lo_partkey = p_partkey
  AND lo_suppkey = s_suppkey
  AND p_brand1 BETWEEN 'MFGR#2221' AND 'MFGR#2228'
  AND s_region = 'ASIA'
GROUP BY d_year, p_brand1
ORDER BY d_year, p_brand1
