SELECT l_orderkey AS lo_orderkey,
       l_linenumber AS lo_linenumber,
       o_custkey AS lo_custkey,
       l_partkey AS lo_partkey,
       l_suppkey AS lo_suppkey,
       CAST(extract(year FROM o_orderdate) * 10000 + extract(month FROM o_orderdate) * 100 + extract(day FROM o_orderdate) AS INTEGER) AS lo_orderdate,
       o_orderpriority AS lo_orderpriority,
       CAST(l_quantity AS INTEGER) AS lo_quantity,
       CAST(l_extendedprice * 100 AS INTEGER) AS lo_extendedprice,
       CAST(l_discount * 100 AS INTEGER) AS lo_discount,
       CAST(l_extendedprice * (1 - l_discount) * 100 AS INTEGER) AS lo_revenue,
       CAST(ps_supplycost * 100 AS INTEGER) AS lo_supplycost,
       CAST(l_tax * 100 AS INTEGER) AS lo_tax,
       l_shipmode AS lo_shipmode
FROM lineitem
JOIN orders ON l_orderkey = o_orderkey
JOIN partsupp ON l_partkey = ps_partkey AND l_suppkey = ps_suppkey
ORDER BY 1, 2
