select customer, count(*) as orders, sum(amount) as spent, min(ordered_on) as since from {{ ref('staged') }} group by 1
