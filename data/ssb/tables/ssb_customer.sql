SELECT c_custkey,
       substr(n_name || '          ', 1, 9) || CAST(c_custkey % 10 AS VARCHAR) AS c_city,
       n_name AS c_nation,
       r_name AS c_region
FROM customer
JOIN nation ON c_nationkey = n_nationkey
JOIN region ON n_regionkey = r_regionkey
ORDER BY 1
