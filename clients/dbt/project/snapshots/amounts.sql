{% snapshot amounts %}
{{ config(target_schema='shop', unique_key='id', strategy='check', check_cols=['amount']) }}
select id, amount from {{ ref('orders') }}
{% endsnapshot %}
