SELECT p_partkey,
       'MFGR#' || substr(p_brand, 7, 1) AS p_mfgr,
       'MFGR#' || substr(p_brand, 7, 2) AS p_category,
       'MFGR#' || substr(p_brand, 7, 2) || CAST(p_partkey % 40 + 1 AS VARCHAR) AS p_brand1
FROM part
ORDER BY 1
