{{ config(materialized='view') }}
select id, customer, cast(amount as numeric(10,2)) as amount, ordered_on, note from {{ ref('orders') }}
