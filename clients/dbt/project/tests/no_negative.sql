select * from {{ ref('staged') }} where amount < 0
