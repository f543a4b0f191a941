"""What SQLAlchemy's dialect suite may ask for: all that it can of PostgreSQL, but for `ABSENT`."""

from sqlalchemy.testing import exclusions
from sqlalchemy.testing.requirements import SuiteRequirements

# Off by default in the suite, and there in PostgreSQL.
PRESENT = """
    aggregate_order_by autocommit boolean_col_expressions check_constraint_reflection
    comment_reflection comment_reflection_full_unicode constraint_comment_reflection
    unique_constraints_reflect_as_index
    create_or_replace_view create_table_as 
    cross_schema_fk_reflection ctes ctes_with_values
    date_historic datetime_historic datetime_interval datetime_literals datetime_timezone
    delete_from except_ expression_server_defaults
    fetch_expression fetch_first fetch_no_order_by fetch_offset_with_options fetch_ties
    fk_constraint_option_reflection_ondelete_noaction
    fk_constraint_option_reflection_ondelete_restrict
    fk_constraint_option_reflection_onupdate_restrict
    foreign_key_constraint_name_reflection foreign_key_constraint_option_reflection_ondelete
    foreign_key_constraint_option_reflection_onupdate identity_columns
    identity_columns_standard implicit_default_schema index_ddl_if_exists
    indexes_check_column_order 
    infinity_floats inline_check_constraint_reflection intersect isolation_level 
    mod_operator_as_percent_sign nullsordering order_by_label_with_expression
    percent_schema_names precision_numerics_enotation_small
    precision_numerics_many_significant_digits precision_numerics_retains_significant_digits
    reflects_pk_names regexp_match
    regexp_replace savepoints schema_create_delete schemas server_defaults server_side_cursors
    skip_autocommit_rollback supports_bitwise_and supports_bitwise_not supports_bitwise_or
    supports_bitwise_shift supports_bitwise_xor supports_distinct_on table_ddl_if_exists
    table_value_constructor timestamp_microseconds
    tuple_in unicode_ddl
    update_from uuid_data_type views window_functions window_range window_range_non_numeric
    window_range_numeric
""".split()


class Requirements(SuiteRequirements):
    """The suite's own, and those."""


for name in PRESENT:
    setattr(Requirements, name, property(lambda self: exclusions.open()))

# There in PostgreSQL, and on by default in the suite, and not in Freestone.
for name in ["temporary_tables", "temp_table_reflection"]:
    setattr(Requirements, name, property(lambda self: exclusions.closed()))
