SELECT s_suppkey,
       substr(n_name || '          ', 1, 9) || CAST(s_suppkey % 10 AS VARCHAR) AS s_city,
       n_name AS s_nation,
       r_name AS s_region
FROM supplier
JOIN nation ON s_nationkey = n_nationkey
JOIN region ON n_regionkey = r_regionkey
ORDER BY 1
