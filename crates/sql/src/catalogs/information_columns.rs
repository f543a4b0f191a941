//! Views of `information_schema`, as PostgreSQL 15 has them: names, numbers, columns and types.

/// Name, number, and columns, each with its type; without one it is a NAME.
pub(crate) const VIEWS: [(&str, i64, &str); 69] = [
    (
        "_pg_foreign_data_wrappers",
        13_507,
        "oid:oid fdwowner:oid fdwoptions:_text foreign_data_wrapper_catalog \
         foreign_data_wrapper_name authorization_identifier \
         foreign_data_wrapper_language:varchar",
    ),
    (
        "_pg_foreign_servers",
        13_519,
        "oid:oid srvoptions:_text foreign_server_catalog foreign_server_name \
         foreign_data_wrapper_catalog foreign_data_wrapper_name \
         foreign_server_type:varchar foreign_server_version:varchar \
         authorization_identifier",
    ),
    (
        "_pg_foreign_table_columns",
        13_498,
        "nspname relname attname attfdwoptions:_text",
    ),
    (
        "_pg_foreign_tables",
        13_532,
        "foreign_table_catalog foreign_table_schema foreign_table_name ftoptions:_text \
         foreign_server_catalog foreign_server_name authorization_identifier",
    ),
    (
        "_pg_user_mappings",
        13_545,
        "oid:oid umoptions:_text umuser:oid authorization_identifier \
         foreign_server_catalog foreign_server_name srvowner",
    ),
    (
        "administrable_role_authorizations",
        13_241,
        "grantee role_name is_grantable:varchar",
    ),
    (
        "applicable_roles",
        13_236,
        "grantee role_name is_grantable:varchar",
    ),
    (
        "attributes",
        13_245,
        "udt_catalog udt_schema udt_name attribute_name ordinal_position:int4 \
         attribute_default:varchar is_nullable:varchar data_type:varchar \
         character_maximum_length:int4 character_octet_length:int4 \
         character_set_catalog character_set_schema character_set_name \
         collation_catalog collation_schema collation_name numeric_precision:int4 \
         numeric_precision_radix:int4 numeric_scale:int4 datetime_precision:int4 \
         interval_type:varchar interval_precision:int4 attribute_udt_catalog \
         attribute_udt_schema attribute_udt_name scope_catalog scope_schema scope_name \
         maximum_cardinality:int4 dtd_identifier is_derived_reference_attribute:varchar",
    ),
    (
        "character_sets",
        13_250,
        "character_set_catalog character_set_schema character_set_name \
         character_repertoire form_of_use default_collate_catalog \
         default_collate_schema default_collate_name",
    ),
    (
        "check_constraint_routine_usage",
        13_255,
        "constraint_catalog constraint_schema constraint_name specific_catalog \
         specific_schema specific_name",
    ),
    (
        "check_constraints",
        13_260,
        "constraint_catalog constraint_schema constraint_name check_clause:varchar",
    ),
    (
        "collation_character_set_applicability",
        13_270,
        "collation_catalog collation_schema collation_name character_set_catalog \
         character_set_schema character_set_name",
    ),
    (
        "collations",
        13_265,
        "collation_catalog collation_schema collation_name pad_attribute:varchar",
    ),
    (
        "column_column_usage",
        13_275,
        "table_catalog table_schema table_name column_name dependent_column",
    ),
    (
        "column_domain_usage",
        13_280,
        "domain_catalog domain_schema domain_name table_catalog table_schema table_name \
         column_name",
    ),
    (
        "column_options",
        13_503,
        "table_catalog table_schema table_name column_name option_name \
         option_value:varchar",
    ),
    (
        "column_privileges",
        13_285,
        "grantor grantee table_catalog table_schema table_name column_name \
         privilege_type:varchar is_grantable:varchar",
    ),
    (
        "column_udt_usage",
        13_290,
        "udt_catalog udt_schema udt_name table_catalog table_schema table_name \
         column_name",
    ),
    (
        "columns",
        13_295,
        "table_catalog table_schema table_name column_name ordinal_position:int4 \
         column_default:varchar is_nullable:varchar data_type:varchar \
         character_maximum_length:int4 character_octet_length:int4 \
         numeric_precision:int4 numeric_precision_radix:int4 numeric_scale:int4 \
         datetime_precision:int4 interval_type:varchar interval_precision:int4 \
         character_set_catalog character_set_schema character_set_name \
         collation_catalog collation_schema collation_name domain_catalog domain_schema \
         domain_name udt_catalog udt_schema udt_name scope_catalog scope_schema \
         scope_name maximum_cardinality:int4 dtd_identifier is_self_referencing:varchar \
         is_identity:varchar identity_generation:varchar identity_start:varchar \
         identity_increment:varchar identity_maximum:varchar identity_minimum:varchar \
         identity_cycle:varchar is_generated:varchar generation_expression:varchar \
         is_updatable:varchar",
    ),
    (
        "constraint_column_usage",
        13_300,
        "table_catalog table_schema table_name column_name constraint_catalog \
         constraint_schema constraint_name",
    ),
    (
        "constraint_table_usage",
        13_305,
        "table_catalog table_schema table_name constraint_catalog constraint_schema \
         constraint_name",
    ),
    (
        "data_type_privileges",
        13_488,
        "object_catalog object_schema object_name object_type:varchar dtd_identifier",
    ),
    (
        "domain_constraints",
        13_310,
        "constraint_catalog constraint_schema constraint_name domain_catalog \
         domain_schema domain_name is_deferrable:varchar initially_deferred:varchar",
    ),
    (
        "domain_udt_usage",
        13_315,
        "udt_catalog udt_schema udt_name domain_catalog domain_schema domain_name",
    ),
    (
        "domains",
        13_320,
        "domain_catalog domain_schema domain_name data_type:varchar \
         character_maximum_length:int4 character_octet_length:int4 \
         character_set_catalog character_set_schema character_set_name \
         collation_catalog collation_schema collation_name numeric_precision:int4 \
         numeric_precision_radix:int4 numeric_scale:int4 datetime_precision:int4 \
         interval_type:varchar interval_precision:int4 domain_default:varchar \
         udt_catalog udt_schema udt_name scope_catalog scope_schema scope_name \
         maximum_cardinality:int4 dtd_identifier",
    ),
    (
        "element_types",
        13_493,
        "object_catalog object_schema object_name object_type:varchar \
         collection_type_identifier data_type:varchar character_maximum_length:int4 \
         character_octet_length:int4 character_set_catalog character_set_schema \
         character_set_name collation_catalog collation_schema collation_name \
         numeric_precision:int4 numeric_precision_radix:int4 numeric_scale:int4 \
         datetime_precision:int4 interval_type:varchar interval_precision:int4 \
         domain_default:varchar udt_catalog udt_schema udt_name scope_catalog \
         scope_schema scope_name maximum_cardinality:int4 dtd_identifier",
    ),
    ("enabled_roles", 13_325, "role_name"),
    (
        "foreign_data_wrapper_options",
        13_511,
        "foreign_data_wrapper_catalog foreign_data_wrapper_name option_name \
         option_value:varchar",
    ),
    (
        "foreign_data_wrappers",
        13_515,
        "foreign_data_wrapper_catalog foreign_data_wrapper_name \
         authorization_identifier library_name:varchar \
         foreign_data_wrapper_language:varchar",
    ),
    (
        "foreign_server_options",
        13_524,
        "foreign_server_catalog foreign_server_name option_name option_value:varchar",
    ),
    (
        "foreign_servers",
        13_528,
        "foreign_server_catalog foreign_server_name foreign_data_wrapper_catalog \
         foreign_data_wrapper_name foreign_server_type:varchar \
         foreign_server_version:varchar authorization_identifier",
    ),
    (
        "foreign_table_options",
        13_537,
        "foreign_table_catalog foreign_table_schema foreign_table_name option_name \
         option_value:varchar",
    ),
    (
        "foreign_tables",
        13_541,
        "foreign_table_catalog foreign_table_schema foreign_table_name \
         foreign_server_catalog foreign_server_name",
    ),
    ("information_schema_catalog_name", 13_227, "catalog_name"),
    (
        "key_column_usage",
        13_329,
        "constraint_catalog constraint_schema constraint_name table_catalog \
         table_schema table_name column_name ordinal_position:int4 \
         position_in_unique_constraint:int4",
    ),
    (
        "parameters",
        13_334,
        "specific_catalog specific_schema specific_name ordinal_position:int4 \
         parameter_mode:varchar is_result:varchar as_locator:varchar parameter_name \
         data_type:varchar character_maximum_length:int4 character_octet_length:int4 \
         character_set_catalog character_set_schema character_set_name \
         collation_catalog collation_schema collation_name numeric_precision:int4 \
         numeric_precision_radix:int4 numeric_scale:int4 datetime_precision:int4 \
         interval_type:varchar interval_precision:int4 udt_catalog udt_schema udt_name \
         scope_catalog scope_schema scope_name maximum_cardinality:int4 dtd_identifier \
         parameter_default:varchar",
    ),
    (
        "referential_constraints",
        13_339,
        "constraint_catalog constraint_schema constraint_name unique_constraint_catalog \
         unique_constraint_schema unique_constraint_name match_option:varchar \
         update_rule:varchar delete_rule:varchar",
    ),
    (
        "role_column_grants",
        13_344,
        "grantor grantee table_catalog table_schema table_name column_name \
         privilege_type:varchar is_grantable:varchar",
    ),
    (
        "role_routine_grants",
        13_358,
        "grantor grantee specific_catalog specific_schema specific_name routine_catalog \
         routine_schema routine_name privilege_type:varchar is_grantable:varchar",
    ),
    (
        "role_table_grants",
        13_421,
        "grantor grantee table_catalog table_schema table_name privilege_type:varchar \
         is_grantable:varchar with_hierarchy:varchar",
    ),
    (
        "role_udt_grants",
        13_450,
        "grantor grantee udt_catalog udt_schema udt_name privilege_type:varchar \
         is_grantable:varchar",
    ),
    (
        "role_usage_grants",
        13_459,
        "grantor grantee object_catalog object_schema object_name object_type:varchar \
         privilege_type:varchar is_grantable:varchar",
    ),
    (
        "routine_column_usage",
        13_348,
        "specific_catalog specific_schema specific_name routine_catalog routine_schema \
         routine_name table_catalog table_schema table_name column_name",
    ),
    (
        "routine_privileges",
        13_353,
        "grantor grantee specific_catalog specific_schema specific_name routine_catalog \
         routine_schema routine_name privilege_type:varchar is_grantable:varchar",
    ),
    (
        "routine_routine_usage",
        13_362,
        "specific_catalog specific_schema specific_name routine_catalog routine_schema \
         routine_name",
    ),
    (
        "routine_sequence_usage",
        13_367,
        "specific_catalog specific_schema specific_name routine_catalog routine_schema \
         routine_name sequence_catalog sequence_schema sequence_name",
    ),
    (
        "routine_table_usage",
        13_372,
        "specific_catalog specific_schema specific_name routine_catalog routine_schema \
         routine_name table_catalog table_schema table_name",
    ),
    (
        "routines",
        13_377,
        "specific_catalog specific_schema specific_name routine_catalog routine_schema \
         routine_name routine_type:varchar module_catalog module_schema module_name \
         udt_catalog udt_schema udt_name data_type:varchar \
         character_maximum_length:int4 character_octet_length:int4 \
         character_set_catalog character_set_schema character_set_name \
         collation_catalog collation_schema collation_name numeric_precision:int4 \
         numeric_precision_radix:int4 numeric_scale:int4 datetime_precision:int4 \
         interval_type:varchar interval_precision:int4 type_udt_catalog type_udt_schema \
         type_udt_name scope_catalog scope_schema scope_name maximum_cardinality:int4 \
         dtd_identifier routine_body:varchar routine_definition:varchar \
         external_name:varchar external_language:varchar parameter_style:varchar \
         is_deterministic:varchar sql_data_access:varchar is_null_call:varchar \
         sql_path:varchar schema_level_routine:varchar max_dynamic_result_sets:int4 \
         is_user_defined_cast:varchar is_implicitly_invocable:varchar \
         security_type:varchar to_sql_specific_catalog to_sql_specific_schema \
         to_sql_specific_name as_locator:varchar created:timestamptz \
         last_altered:timestamptz new_savepoint_level:varchar is_udt_dependent:varchar \
         result_cast_from_data_type:varchar result_cast_as_locator:varchar \
         result_cast_char_max_length:int4 result_cast_char_octet_length:int4 \
         result_cast_char_set_catalog result_cast_char_set_schema \
         result_cast_char_set_name result_cast_collation_catalog \
         result_cast_collation_schema result_cast_collation_name \
         result_cast_numeric_precision:int4 result_cast_numeric_precision_radix:int4 \
         result_cast_numeric_scale:int4 result_cast_datetime_precision:int4 \
         result_cast_interval_type:varchar result_cast_interval_precision:int4 \
         result_cast_type_udt_catalog result_cast_type_udt_schema \
         result_cast_type_udt_name result_cast_scope_catalog result_cast_scope_schema \
         result_cast_scope_name result_cast_maximum_cardinality:int4 \
         result_cast_dtd_identifier",
    ),
    (
        "schemata",
        13_382,
        "catalog_name schema_name schema_owner default_character_set_catalog \
         default_character_set_schema default_character_set_name sql_path:varchar",
    ),
    (
        "sequences",
        13_386,
        "sequence_catalog sequence_schema sequence_name data_type:varchar \
         numeric_precision:int4 numeric_precision_radix:int4 numeric_scale:int4 \
         start_value:varchar minimum_value:varchar maximum_value:varchar \
         increment:varchar cycle_option:varchar",
    ),
    (
        "sql_features",
        13_391,
        "feature_id:varchar feature_name:varchar sub_feature_id:varchar \
         sub_feature_name:varchar is_supported:varchar is_verified_by:varchar \
         comments:varchar",
    ),
    (
        "sql_implementation_info",
        13_396,
        "implementation_info_id:varchar implementation_info_name:varchar \
         integer_value:int4 character_value:varchar comments:varchar",
    ),
    (
        "sql_parts",
        13_401,
        "feature_id:varchar feature_name:varchar is_supported:varchar \
         is_verified_by:varchar comments:varchar",
    ),
    (
        "sql_sizing",
        13_406,
        "sizing_id:int4 sizing_name:varchar supported_value:int4 comments:varchar",
    ),
    (
        "table_constraints",
        13_411,
        "constraint_catalog constraint_schema constraint_name table_catalog \
         table_schema table_name constraint_type:varchar is_deferrable:varchar \
         initially_deferred:varchar enforced:varchar nulls_distinct:varchar",
    ),
    (
        "table_privileges",
        13_416,
        "grantor grantee table_catalog table_schema table_name privilege_type:varchar \
         is_grantable:varchar with_hierarchy:varchar",
    ),
    (
        "tables",
        13_425,
        "table_catalog table_schema table_name table_type:varchar \
         self_referencing_column_name reference_generation:varchar \
         user_defined_type_catalog user_defined_type_schema user_defined_type_name \
         is_insertable_into:varchar is_typed:varchar commit_action:varchar",
    ),
    (
        "transforms",
        13_430,
        "udt_catalog udt_schema udt_name specific_catalog specific_schema specific_name \
         group_name transform_type:varchar",
    ),
    (
        "triggered_update_columns",
        13_435,
        "trigger_catalog trigger_schema trigger_name event_object_catalog \
         event_object_schema event_object_table event_object_column",
    ),
    (
        "triggers",
        13_440,
        "trigger_catalog trigger_schema trigger_name event_manipulation:varchar \
         event_object_catalog event_object_schema event_object_table action_order:int4 \
         action_condition:varchar action_statement:varchar action_orientation:varchar \
         action_timing:varchar action_reference_old_table action_reference_new_table \
         action_reference_old_row action_reference_new_row created:timestamptz",
    ),
    (
        "udt_privileges",
        13_445,
        "grantor grantee udt_catalog udt_schema udt_name privilege_type:varchar \
         is_grantable:varchar",
    ),
    (
        "usage_privileges",
        13_454,
        "grantor grantee object_catalog object_schema object_name object_type:varchar \
         privilege_type:varchar is_grantable:varchar",
    ),
    (
        "user_defined_types",
        13_463,
        "user_defined_type_catalog user_defined_type_schema user_defined_type_name \
         user_defined_type_category:varchar is_instantiable:varchar is_final:varchar \
         ordering_form:varchar ordering_category:varchar ordering_routine_catalog \
         ordering_routine_schema ordering_routine_name reference_type:varchar \
         data_type:varchar character_maximum_length:int4 character_octet_length:int4 \
         character_set_catalog character_set_schema character_set_name \
         collation_catalog collation_schema collation_name numeric_precision:int4 \
         numeric_precision_radix:int4 numeric_scale:int4 datetime_precision:int4 \
         interval_type:varchar interval_precision:int4 source_dtd_identifier \
         ref_dtd_identifier",
    ),
    (
        "user_mapping_options",
        13_550,
        "authorization_identifier foreign_server_catalog foreign_server_name \
         option_name option_value:varchar",
    ),
    (
        "user_mappings",
        13_555,
        "authorization_identifier foreign_server_catalog foreign_server_name",
    ),
    (
        "view_column_usage",
        13_468,
        "view_catalog view_schema view_name table_catalog table_schema table_name \
         column_name",
    ),
    (
        "view_routine_usage",
        13_473,
        "table_catalog table_schema table_name specific_catalog specific_schema \
         specific_name",
    ),
    (
        "view_table_usage",
        13_478,
        "view_catalog view_schema view_name table_catalog table_schema table_name",
    ),
    (
        "views",
        13_483,
        "table_catalog table_schema table_name view_definition:varchar \
         check_option:varchar is_updatable:varchar is_insertable_into:varchar \
         is_trigger_updatable:varchar is_trigger_deletable:varchar \
         is_trigger_insertable_into:varchar",
    ),
];
