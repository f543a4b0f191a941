{{ config(materialized='table', indexes=[{'columns': ['id'], 'unique': true}]) }}
select id, amount from {{ ref('staged') }}
