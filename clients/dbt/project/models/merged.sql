{{ config(materialized='incremental', unique_key='id', incremental_strategy='merge') }}
select id, amount from {{ ref('staged') }}
