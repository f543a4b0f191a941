-- Q4.3
SELECT d_year, s_city, p_brand1, sum(lo_revenue - lo_supplycost) AS profit
FROM ssb_lineorder, ssb_date, ssb_customer, ssb_supplier, ssb_part
WHERE lo_orderdate = d_datekey
  AND lo_custkey = c_custkey
  AND lo_suppkey = s_suppkey
  AND lo_partkey = p_partkey
  AND c_region = 'AMERICA'
  AND s_nation = 'UNITED STATES'
  AND d_year IN (1997, 1998)
  AND p_category = 'MFGR#14'
GROUP BY d_year, s_city, p_brand1
ORDER BY d_year, s_city, p_brand1
