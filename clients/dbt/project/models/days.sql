{{ config(materialized='incremental', unique_key='id') }}
select id, ordered_on, amount from {{ ref('staged') }}
{% if is_incremental() %} where ordered_on >= (select max(ordered_on) from {{ this }}) {% endif %}
