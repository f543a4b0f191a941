//! Tables and views of `pg_catalog`, as PostgreSQL 15 has them: names, numbers, columns and types.

/// Name, number, and columns, each with its type; without one it is a NAME.
pub(crate) const TABLES: [(&str, i64, &str); 139] = [
    (
        "pg_aggregate",
        2_600,
        "aggfnoid:regproc aggkind:char aggnumdirectargs:int2 aggtransfn:regproc \
         aggfinalfn:regproc aggcombinefn:regproc aggserialfn:regproc \
         aggdeserialfn:regproc aggmtransfn:regproc aggminvtransfn:regproc \
         aggmfinalfn:regproc aggfinalextra:bool aggmfinalextra:bool aggfinalmodify:char \
         aggmfinalmodify:char aggsortop:oid aggtranstype:oid aggtransspace:int4 \
         aggmtranstype:oid aggmtransspace:int4 agginitval:text aggminitval:text",
    ),
    (
        "pg_am",
        2_601,
        "oid:oid amname amhandler:regproc amtype:char",
    ),
    (
        "pg_amop",
        2_602,
        "oid:oid amopfamily:oid amoplefttype:oid amoprighttype:oid amopstrategy:int2 \
         amoppurpose:char amopopr:oid amopmethod:oid amopsortfamily:oid",
    ),
    (
        "pg_amproc",
        2_603,
        "oid:oid amprocfamily:oid amproclefttype:oid amprocrighttype:oid amprocnum:int2 \
         amproc:regproc",
    ),
    (
        "pg_attrdef",
        2_604,
        "oid:oid adrelid:oid adnum:int2 adbin:pg_node_tree",
    ),
    (
        "pg_attribute",
        1_249,
        "attrelid:oid attname atttypid:oid attstattarget:int4 attlen:int2 attnum:int2 \
         attndims:int4 attcacheoff:int4 atttypmod:int4 attbyval:bool attalign:char \
         attstorage:char attcompression:char attnotnull:bool atthasdef:bool \
         atthasmissing:bool attidentity:char attgenerated:char attisdropped:bool \
         attislocal:bool attinhcount:int4 attcollation:oid attacl:_aclitem \
         attoptions:_text attfdwoptions:_text attmissingval:anyarray",
    ),
    (
        "pg_auth_members",
        1_261,
        "roleid:oid member:oid grantor:oid admin_option:bool",
    ),
    (
        "pg_authid",
        1_260,
        "oid:oid rolname rolsuper:bool rolinherit:bool rolcreaterole:bool \
         rolcreatedb:bool rolcanlogin:bool rolreplication:bool rolbypassrls:bool \
         rolconnlimit:int4 rolpassword:text rolvaliduntil:timestamptz",
    ),
    (
        "pg_available_extension_versions",
        12_085,
        "name version:text installed:bool superuser:bool trusted:bool relocatable:bool \
         schema requires:_name comment:text",
    ),
    (
        "pg_available_extensions",
        12_081,
        "name default_version:text installed_version:text comment:text",
    ),
    (
        "pg_backend_memory_contexts",
        12_138,
        "name:text ident:text parent:text level:int4 total_bytes:int8 \
         total_nblocks:int8 free_bytes:int8 free_chunks:int8 used_bytes:int8",
    ),
    (
        "pg_cast",
        2_605,
        "oid:oid castsource:oid casttarget:oid castfunc:oid castcontext:char \
         castmethod:char",
    ),
    (
        "pg_class",
        1_259,
        "oid:oid relname relnamespace:oid reltype:oid reloftype:oid relowner:oid \
         relam:oid relfilenode:oid reltablespace:oid relpages:int4 reltuples:float4 \
         relallvisible:int4 reltoastrelid:oid relhasindex:bool relisshared:bool \
         relpersistence:char relkind:char relnatts:int2 relchecks:int2 relhasrules:bool \
         relhastriggers:bool relhassubclass:bool relrowsecurity:bool \
         relforcerowsecurity:bool relispopulated:bool relreplident:char \
         relispartition:bool relrewrite:oid relfrozenxid:xid relminmxid:xid \
         relacl:_aclitem reloptions:_text relpartbound:pg_node_tree",
    ),
    (
        "pg_collation",
        3_456,
        "oid:oid collname collnamespace:oid collowner:oid collprovider:char \
         collisdeterministic:bool collencoding:int4 collcollate:text collctype:text \
         colliculocale:text collversion:text",
    ),
    ("pg_config", 12_130, "name:text setting:text"),
    (
        "pg_constraint",
        2_606,
        "oid:oid conname connamespace:oid contype:char condeferrable:bool \
         condeferred:bool convalidated:bool conrelid:oid contypid:oid conindid:oid \
         conparentid:oid confrelid:oid confupdtype:char confdeltype:char \
         confmatchtype:char conislocal:bool coninhcount:int4 connoinherit:bool \
         conkey:_int2 confkey:_int2 conpfeqop:_oid conppeqop:_oid conffeqop:_oid \
         confdelsetcols:_int2 conexclop:_oid conbin:pg_node_tree",
    ),
    (
        "pg_conversion",
        2_607,
        "oid:oid conname connamespace:oid conowner:oid conforencoding:int4 \
         contoencoding:int4 conproc:regproc condefault:bool",
    ),
    (
        "pg_cursors",
        12_077,
        "name:text statement:text is_holdable:bool is_binary:bool is_scrollable:bool \
         creation_time:timestamptz",
    ),
    (
        "pg_database",
        1_262,
        "oid:oid datname datdba:oid encoding:int4 datlocprovider:char \
         datistemplate:bool datallowconn:bool datconnlimit:int4 datfrozenxid:xid \
         datminmxid:xid dattablespace:oid datcollate:text datctype:text \
         daticulocale:text datcollversion:text datacl:_aclitem",
    ),
    (
        "pg_db_role_setting",
        2_964,
        "setdatabase:oid setrole:oid setconfig:_text",
    ),
    (
        "pg_default_acl",
        826,
        "oid:oid defaclrole:oid defaclnamespace:oid defaclobjtype:char \
         defaclacl:_aclitem",
    ),
    (
        "pg_depend",
        2_608,
        "classid:oid objid:oid objsubid:int4 refclassid:oid refobjid:oid \
         refobjsubid:int4 deptype:char",
    ),
    (
        "pg_description",
        2_609,
        "objoid:oid classoid:oid objsubid:int4 description:text",
    ),
    (
        "pg_enum",
        3_501,
        "oid:oid enumtypid:oid enumsortorder:float4 enumlabel",
    ),
    (
        "pg_event_trigger",
        3_466,
        "oid:oid evtname evtevent evtowner:oid evtfoid:oid evtenabled:char \
         evttags:_text",
    ),
    (
        "pg_extension",
        3_079,
        "oid:oid extname extowner:oid extnamespace:oid extrelocatable:bool \
         extversion:text extconfig:_oid extcondition:_text",
    ),
    (
        "pg_file_settings",
        12_110,
        "sourcefile:text sourceline:int4 seqno:int4 name:text setting:text applied:bool \
         error:text",
    ),
    (
        "pg_foreign_data_wrapper",
        2_328,
        "oid:oid fdwname fdwowner:oid fdwhandler:oid fdwvalidator:oid fdwacl:_aclitem \
         fdwoptions:_text",
    ),
    (
        "pg_foreign_server",
        1_417,
        "oid:oid srvname srvowner:oid srvfdw:oid srvtype:text srvversion:text \
         srvacl:_aclitem srvoptions:_text",
    ),
    (
        "pg_foreign_table",
        3_118,
        "ftrelid:oid ftserver:oid ftoptions:_text",
    ),
    ("pg_group", 12_010, "groname grosysid:oid grolist:_oid"),
    (
        "pg_hba_file_rules",
        12_114,
        "line_number:int4 type:text database:_text user_name:_text address:text \
         netmask:text auth_method:text options:_text error:text",
    ),
    (
        "pg_ident_file_mappings",
        12_118,
        "line_number:int4 map_name:text sys_name:text pg_username:text error:text",
    ),
    (
        "pg_index",
        2_610,
        "indexrelid:oid indrelid:oid indnatts:int2 indnkeyatts:int2 indisunique:bool \
         indnullsnotdistinct:bool indisprimary:bool indisexclusion:bool \
         indimmediate:bool indisclustered:bool indisvalid:bool indcheckxmin:bool \
         indisready:bool indislive:bool indisreplident:bool indkey:int2vector \
         indcollation:oidvector indclass:oidvector indoption:int2vector \
         indexprs:pg_node_tree indpred:pg_node_tree",
    ),
    (
        "pg_indexes",
        12_043,
        "schemaname tablename indexname tablespace indexdef:text",
    ),
    (
        "pg_inherits",
        2_611,
        "inhrelid:oid inhparent:oid inhseqno:int4 inhdetachpending:bool",
    ),
    (
        "pg_init_privs",
        3_394,
        "objoid:oid classoid:oid objsubid:int4 privtype:char initprivs:_aclitem",
    ),
    (
        "pg_language",
        2_612,
        "oid:oid lanname lanowner:oid lanispl:bool lanpltrusted:bool lanplcallfoid:oid \
         laninline:oid lanvalidator:oid lanacl:_aclitem",
    ),
    ("pg_largeobject", 2_613, "loid:oid pageno:int4 data:bytea"),
    (
        "pg_largeobject_metadata",
        2_995,
        "oid:oid lomowner:oid lomacl:_aclitem",
    ),
    (
        "pg_locks",
        12_073,
        "locktype:text database:oid relation:oid page:int4 tuple:int2 virtualxid:text \
         transactionid:xid classid:oid objid:oid objsubid:int2 virtualtransaction:text \
         pid:int4 mode:text granted:bool fastpath:bool waitstart:timestamptz",
    ),
    (
        "pg_matviews",
        12_038,
        "schemaname matviewname matviewowner tablespace hasindexes:bool \
         ispopulated:bool definition:text",
    ),
    (
        "pg_namespace",
        2_615,
        "oid:oid nspname nspowner:oid nspacl:_aclitem",
    ),
    (
        "pg_opclass",
        2_616,
        "oid:oid opcmethod:oid opcname opcnamespace:oid opcowner:oid opcfamily:oid \
         opcintype:oid opcdefault:bool opckeytype:oid",
    ),
    (
        "pg_operator",
        2_617,
        "oid:oid oprname oprnamespace:oid oprowner:oid oprkind:char oprcanmerge:bool \
         oprcanhash:bool oprleft:oid oprright:oid oprresult:oid oprcom:oid \
         oprnegate:oid oprcode:regproc oprrest:regproc oprjoin:regproc",
    ),
    (
        "pg_opfamily",
        2_753,
        "oid:oid opfmethod:oid opfname opfnamespace:oid opfowner:oid",
    ),
    (
        "pg_parameter_acl",
        6_243,
        "oid:oid parname:text paracl:_aclitem",
    ),
    (
        "pg_partitioned_table",
        3_350,
        "partrelid:oid partstrat:char partnatts:int2 partdefid:oid partattrs:int2vector \
         partclass:oidvector partcollation:oidvector partexprs:pg_node_tree",
    ),
    (
        "pg_policies",
        12_018,
        "schemaname tablename policyname permissive:text roles:_name cmd:text qual:text \
         with_check:text",
    ),
    (
        "pg_policy",
        3_256,
        "oid:oid polname polrelid:oid polcmd:char polpermissive:bool polroles:_oid \
         polqual:pg_node_tree polwithcheck:pg_node_tree",
    ),
    (
        "pg_prepared_statements",
        12_095,
        "name:text statement:text prepare_time:timestamptz parameter_types:_regtype \
         from_sql:bool generic_plans:int8 custom_plans:int8",
    ),
    (
        "pg_prepared_xacts",
        12_090,
        "transaction:xid gid:text prepared:timestamptz owner database",
    ),
    (
        "pg_proc",
        1_255,
        "oid:oid proname pronamespace:oid proowner:oid prolang:oid procost:float4 \
         prorows:float4 provariadic:oid prosupport:regproc prokind:char prosecdef:bool \
         proleakproof:bool proisstrict:bool proretset:bool provolatile:char \
         proparallel:char pronargs:int2 pronargdefaults:int2 prorettype:oid \
         proargtypes:oidvector proallargtypes:_oid proargmodes:_char proargnames:_text \
         proargdefaults:pg_node_tree protrftypes:_oid prosrc:text probin:text \
         prosqlbody:pg_node_tree proconfig:_text proacl:_aclitem",
    ),
    (
        "pg_publication",
        6_104,
        "oid:oid pubname pubowner:oid puballtables:bool pubinsert:bool pubupdate:bool \
         pubdelete:bool pubtruncate:bool pubviaroot:bool",
    ),
    (
        "pg_publication_namespace",
        6_237,
        "oid:oid pnpubid:oid pnnspid:oid",
    ),
    (
        "pg_publication_rel",
        6_106,
        "oid:oid prpubid:oid prrelid:oid prqual:pg_node_tree prattrs:int2vector",
    ),
    (
        "pg_publication_tables",
        12_068,
        "pubname schemaname tablename attnames:_name rowfilter:text",
    ),
    (
        "pg_range",
        3_541,
        "rngtypid:oid rngsubtype:oid rngmultitypid:oid rngcollation:oid rngsubopc:oid \
         rngcanonical:regproc rngsubdiff:regproc",
    ),
    ("pg_replication_origin", 6_000, "roident:oid roname:text"),
    (
        "pg_replication_origin_status",
        12_332,
        "local_id:oid external_id:text remote_lsn:pg_lsn local_lsn:pg_lsn",
    ),
    (
        "pg_replication_slots",
        12_257,
        "slot_name plugin slot_type:text datoid:oid database temporary:bool active:bool \
         active_pid:int4 xmin:xid catalog_xmin:xid restart_lsn:pg_lsn \
         confirmed_flush_lsn:pg_lsn wal_status:text safe_wal_size:int8 two_phase:bool",
    ),
    (
        "pg_rewrite",
        2_618,
        "oid:oid rulename ev_class:oid ev_type:char ev_enabled:char is_instead:bool \
         ev_qual:pg_node_tree ev_action:pg_node_tree",
    ),
    (
        "pg_roles",
        12_000,
        "rolname rolsuper:bool rolinherit:bool rolcreaterole:bool rolcreatedb:bool \
         rolcanlogin:bool rolreplication:bool rolconnlimit:int4 rolpassword:text \
         rolvaliduntil:timestamptz rolbypassrls:bool rolconfig:_text oid:oid",
    ),
    (
        "pg_rules",
        12_023,
        "schemaname tablename rulename definition:text",
    ),
    (
        "pg_seclabel",
        3_596,
        "objoid:oid classoid:oid objsubid:int4 provider:text label:text",
    ),
    (
        "pg_seclabels",
        12_099,
        "objoid:oid classoid:oid objsubid:int4 objtype:text objnamespace:oid \
         objname:text provider:text label:text",
    ),
    (
        "pg_sequence",
        2_224,
        "seqrelid:oid seqtypid:oid seqstart:int8 seqincrement:int8 seqmax:int8 \
         seqmin:int8 seqcache:int8 seqcycle:bool",
    ),
    (
        "pg_sequences",
        12_048,
        "schemaname sequencename sequenceowner data_type:regtype start_value:int8 \
         min_value:int8 max_value:int8 increment_by:int8 cycle:bool cache_size:int8 \
         last_value:int8",
    ),
    (
        "pg_settings",
        12_104,
        "name:text setting:text unit:text category:text short_desc:text extra_desc:text \
         context:text vartype:text source:text min_val:text max_val:text enumvals:_text \
         boot_val:text reset_val:text sourcefile:text sourceline:int4 \
         pending_restart:bool",
    ),
    (
        "pg_shadow",
        12_005,
        "usename usesysid:oid usecreatedb:bool usesuper:bool userepl:bool \
         usebypassrls:bool passwd:text valuntil:timestamptz useconfig:_text",
    ),
    (
        "pg_shdepend",
        1_214,
        "dbid:oid classid:oid objid:oid objsubid:int4 refclassid:oid refobjid:oid \
         deptype:char",
    ),
    (
        "pg_shdescription",
        2_396,
        "objoid:oid classoid:oid description:text",
    ),
    (
        "pg_shmem_allocations",
        12_134,
        "name:text off:int8 size:int8 allocated_size:int8",
    ),
    (
        "pg_shseclabel",
        3_592,
        "objoid:oid classoid:oid provider:text label:text",
    ),
    (
        "pg_stat_activity",
        12_222,
        "datid:oid datname pid:int4 leader_pid:int4 usesysid:oid usename \
         application_name:text client_addr:inet client_hostname:text client_port:int4 \
         backend_start:timestamptz xact_start:timestamptz query_start:timestamptz \
         state_change:timestamptz wait_event_type:text wait_event:text state:text \
         backend_xid:xid backend_xmin:xid query_id:int8 query:text backend_type:text",
    ),
    (
        "pg_stat_all_indexes",
        12_183,
        "relid:oid indexrelid:oid schemaname relname indexrelname idx_scan:int8 \
         idx_tup_read:int8 idx_tup_fetch:int8",
    ),
    (
        "pg_stat_all_tables",
        12_142,
        "relid:oid schemaname relname seq_scan:int8 seq_tup_read:int8 idx_scan:int8 \
         idx_tup_fetch:int8 n_tup_ins:int8 n_tup_upd:int8 n_tup_del:int8 \
         n_tup_hot_upd:int8 n_live_tup:int8 n_dead_tup:int8 n_mod_since_analyze:int8 \
         n_ins_since_vacuum:int8 last_vacuum:timestamptz last_autovacuum:timestamptz \
         last_analyze:timestamptz last_autoanalyze:timestamptz vacuum_count:int8 \
         autovacuum_count:int8 analyze_count:int8 autoanalyze_count:int8",
    ),
    (
        "pg_stat_archiver",
        12_285,
        "archived_count:int8 last_archived_wal:text last_archived_time:timestamptz \
         failed_count:int8 last_failed_wal:text last_failed_time:timestamptz \
         stats_reset:timestamptz",
    ),
    (
        "pg_stat_bgwriter",
        12_289,
        "checkpoints_timed:int8 checkpoints_req:int8 checkpoint_write_time:float8 \
         checkpoint_sync_time:float8 buffers_checkpoint:int8 buffers_clean:int8 \
         maxwritten_clean:int8 buffers_backend:int8 buffers_backend_fsync:int8 \
         buffers_alloc:int8 stats_reset:timestamptz",
    ),
    (
        "pg_stat_database",
        12_266,
        "datid:oid datname numbackends:int4 xact_commit:int8 xact_rollback:int8 \
         blks_read:int8 blks_hit:int8 tup_returned:int8 tup_fetched:int8 \
         tup_inserted:int8 tup_updated:int8 tup_deleted:int8 conflicts:int8 \
         temp_files:int8 temp_bytes:int8 deadlocks:int8 checksum_failures:int8 \
         checksum_last_failure:timestamptz blk_read_time:float8 blk_write_time:float8 \
         session_time:float8 active_time:float8 idle_in_transaction_time:float8 \
         sessions:int8 sessions_abandoned:int8 sessions_fatal:int8 sessions_killed:int8 \
         stats_reset:timestamptz",
    ),
    (
        "pg_stat_database_conflicts",
        12_271,
        "datid:oid datname confl_tablespace:int8 confl_lock:int8 confl_snapshot:int8 \
         confl_bufferpin:int8 confl_deadlock:int8",
    ),
    (
        "pg_stat_gssapi",
        12_253,
        "pid:int4 gss_authenticated:bool principal:text encrypted:bool",
    ),
    (
        "pg_stat_progress_analyze",
        12_297,
        "pid:int4 datid:oid datname relid:oid phase:text sample_blks_total:int8 \
         sample_blks_scanned:int8 ext_stats_total:int8 ext_stats_computed:int8 \
         child_tables_total:int8 child_tables_done:int8 current_child_table_relid:oid",
    ),
    (
        "pg_stat_progress_basebackup",
        12_317,
        "pid:int4 phase:text backup_total:int8 backup_streamed:int8 \
         tablespaces_total:int8 tablespaces_streamed:int8",
    ),
    (
        "pg_stat_progress_cluster",
        12_307,
        "pid:int4 datid:oid datname relid:oid command:text phase:text \
         cluster_index_relid:oid heap_tuples_scanned:int8 heap_tuples_written:int8 \
         heap_blks_total:int8 heap_blks_scanned:int8 index_rebuild_count:int8",
    ),
    (
        "pg_stat_progress_copy",
        12_322,
        "pid:int4 datid:oid datname relid:oid command:text type:text \
         bytes_processed:int8 bytes_total:int8 tuples_processed:int8 \
         tuples_excluded:int8",
    ),
    (
        "pg_stat_progress_create_index",
        12_312,
        "pid:int4 datid:oid datname relid:oid index_relid:oid command:text phase:text \
         lockers_total:int8 lockers_done:int8 current_locker_pid:int8 blocks_total:int8 \
         blocks_done:int8 tuples_total:int8 tuples_done:int8 partitions_total:int8 \
         partitions_done:int8",
    ),
    (
        "pg_stat_progress_vacuum",
        12_302,
        "pid:int4 datid:oid datname relid:oid phase:text heap_blks_total:int8 \
         heap_blks_scanned:int8 heap_blks_vacuumed:int8 index_vacuum_count:int8 \
         max_dead_tuples:int8 num_dead_tuples:int8",
    ),
    (
        "pg_stat_recovery_prefetch",
        12_240,
        "stats_reset:timestamptz prefetch:int8 hit:int8 skip_init:int8 skip_new:int8 \
         skip_fpw:int8 skip_rep:int8 wal_distance:int4 block_distance:int4 \
         io_depth:int4",
    ),
    (
        "pg_stat_replication",
        12_227,
        "pid:int4 usesysid:oid usename application_name:text client_addr:inet \
         client_hostname:text client_port:int4 backend_start:timestamptz \
         backend_xmin:xid state:text sent_lsn:pg_lsn write_lsn:pg_lsn flush_lsn:pg_lsn \
         replay_lsn:pg_lsn write_lag:interval flush_lag:interval replay_lag:interval \
         sync_priority:int4 sync_state:text reply_time:timestamptz",
    ),
    (
        "pg_stat_replication_slots",
        12_262,
        "slot_name:text spill_txns:int8 spill_count:int8 spill_bytes:int8 \
         stream_txns:int8 stream_count:int8 stream_bytes:int8 total_txns:int8 \
         total_bytes:int8 stats_reset:timestamptz",
    ),
    (
        "pg_stat_slru",
        12_232,
        "name:text blks_zeroed:int8 blks_hit:int8 blks_read:int8 blks_written:int8 \
         blks_exists:int8 flushes:int8 truncates:int8 stats_reset:timestamptz",
    ),
    (
        "pg_stat_ssl",
        12_249,
        "pid:int4 ssl:bool version:text cipher:text bits:int4 client_dn:text \
         client_serial:numeric issuer_dn:text",
    ),
    (
        "pg_stat_subscription",
        12_244,
        "subid:oid subname pid:int4 relid:oid received_lsn:pg_lsn \
         last_msg_send_time:timestamptz last_msg_receipt_time:timestamptz \
         latest_end_lsn:pg_lsn latest_end_time:timestamptz",
    ),
    (
        "pg_stat_subscription_stats",
        12_336,
        "subid:oid subname apply_error_count:int8 sync_error_count:int8 \
         stats_reset:timestamptz",
    ),
    (
        "pg_stat_sys_indexes",
        12_188,
        "relid:oid indexrelid:oid schemaname relname indexrelname idx_scan:int8 \
         idx_tup_read:int8 idx_tup_fetch:int8",
    ),
    (
        "pg_stat_sys_tables",
        12_152,
        "relid:oid schemaname relname seq_scan:int8 seq_tup_read:int8 idx_scan:int8 \
         idx_tup_fetch:int8 n_tup_ins:int8 n_tup_upd:int8 n_tup_del:int8 \
         n_tup_hot_upd:int8 n_live_tup:int8 n_dead_tup:int8 n_mod_since_analyze:int8 \
         n_ins_since_vacuum:int8 last_vacuum:timestamptz last_autovacuum:timestamptz \
         last_analyze:timestamptz last_autoanalyze:timestamptz vacuum_count:int8 \
         autovacuum_count:int8 analyze_count:int8 autoanalyze_count:int8",
    ),
    (
        "pg_stat_user_functions",
        12_275,
        "funcid:oid schemaname funcname calls:int8 total_time:float8 self_time:float8",
    ),
    (
        "pg_stat_user_indexes",
        12_192,
        "relid:oid indexrelid:oid schemaname relname indexrelname idx_scan:int8 \
         idx_tup_read:int8 idx_tup_fetch:int8",
    ),
    (
        "pg_stat_user_tables",
        12_161,
        "relid:oid schemaname relname seq_scan:int8 seq_tup_read:int8 idx_scan:int8 \
         idx_tup_fetch:int8 n_tup_ins:int8 n_tup_upd:int8 n_tup_del:int8 \
         n_tup_hot_upd:int8 n_live_tup:int8 n_dead_tup:int8 n_mod_since_analyze:int8 \
         n_ins_since_vacuum:int8 last_vacuum:timestamptz last_autovacuum:timestamptz \
         last_analyze:timestamptz last_autoanalyze:timestamptz vacuum_count:int8 \
         autovacuum_count:int8 analyze_count:int8 autoanalyze_count:int8",
    ),
    (
        "pg_stat_wal",
        12_293,
        "wal_records:int8 wal_fpi:int8 wal_bytes:numeric wal_buffers_full:int8 \
         wal_write:int8 wal_sync:int8 wal_write_time:float8 wal_sync_time:float8 \
         stats_reset:timestamptz",
    ),
    (
        "pg_stat_wal_receiver",
        12_236,
        "pid:int4 status:text receive_start_lsn:pg_lsn receive_start_tli:int4 \
         written_lsn:pg_lsn flushed_lsn:pg_lsn received_tli:int4 \
         last_msg_send_time:timestamptz last_msg_receipt_time:timestamptz \
         latest_end_lsn:pg_lsn latest_end_time:timestamptz slot_name:text \
         sender_host:text sender_port:int4 conninfo:text",
    ),
    (
        "pg_stat_xact_all_tables",
        12_147,
        "relid:oid schemaname relname seq_scan:int8 seq_tup_read:int8 idx_scan:int8 \
         idx_tup_fetch:int8 n_tup_ins:int8 n_tup_upd:int8 n_tup_del:int8 \
         n_tup_hot_upd:int8",
    ),
    (
        "pg_stat_xact_sys_tables",
        12_157,
        "relid:oid schemaname relname seq_scan:int8 seq_tup_read:int8 idx_scan:int8 \
         idx_tup_fetch:int8 n_tup_ins:int8 n_tup_upd:int8 n_tup_del:int8 \
         n_tup_hot_upd:int8",
    ),
    (
        "pg_stat_xact_user_functions",
        12_280,
        "funcid:oid schemaname funcname calls:int8 total_time:float8 self_time:float8",
    ),
    (
        "pg_stat_xact_user_tables",
        12_166,
        "relid:oid schemaname relname seq_scan:int8 seq_tup_read:int8 idx_scan:int8 \
         idx_tup_fetch:int8 n_tup_ins:int8 n_tup_upd:int8 n_tup_del:int8 \
         n_tup_hot_upd:int8",
    ),
    (
        "pg_statio_all_indexes",
        12_196,
        "relid:oid indexrelid:oid schemaname relname indexrelname idx_blks_read:int8 \
         idx_blks_hit:int8",
    ),
    (
        "pg_statio_all_sequences",
        12_209,
        "relid:oid schemaname relname blks_read:int8 blks_hit:int8",
    ),
    (
        "pg_statio_all_tables",
        12_170,
        "relid:oid schemaname relname heap_blks_read:int8 heap_blks_hit:int8 \
         idx_blks_read:int8 idx_blks_hit:int8 toast_blks_read:int8 toast_blks_hit:int8 \
         tidx_blks_read:int8 tidx_blks_hit:int8",
    ),
    (
        "pg_statio_sys_indexes",
        12_201,
        "relid:oid indexrelid:oid schemaname relname indexrelname idx_blks_read:int8 \
         idx_blks_hit:int8",
    ),
    (
        "pg_statio_sys_sequences",
        12_214,
        "relid:oid schemaname relname blks_read:int8 blks_hit:int8",
    ),
    (
        "pg_statio_sys_tables",
        12_175,
        "relid:oid schemaname relname heap_blks_read:int8 heap_blks_hit:int8 \
         idx_blks_read:int8 idx_blks_hit:int8 toast_blks_read:int8 toast_blks_hit:int8 \
         tidx_blks_read:int8 tidx_blks_hit:int8",
    ),
    (
        "pg_statio_user_indexes",
        12_205,
        "relid:oid indexrelid:oid schemaname relname indexrelname idx_blks_read:int8 \
         idx_blks_hit:int8",
    ),
    (
        "pg_statio_user_sequences",
        12_218,
        "relid:oid schemaname relname blks_read:int8 blks_hit:int8",
    ),
    (
        "pg_statio_user_tables",
        12_179,
        "relid:oid schemaname relname heap_blks_read:int8 heap_blks_hit:int8 \
         idx_blks_read:int8 idx_blks_hit:int8 toast_blks_read:int8 toast_blks_hit:int8 \
         tidx_blks_read:int8 tidx_blks_hit:int8",
    ),
    (
        "pg_statistic",
        2_619,
        "starelid:oid staattnum:int2 stainherit:bool stanullfrac:float4 stawidth:int4 \
         stadistinct:float4 stakind1:int2 stakind2:int2 stakind3:int2 stakind4:int2 \
         stakind5:int2 staop1:oid staop2:oid staop3:oid staop4:oid staop5:oid \
         stacoll1:oid stacoll2:oid stacoll3:oid stacoll4:oid stacoll5:oid \
         stanumbers1:_float4 stanumbers2:_float4 stanumbers3:_float4 \
         stanumbers4:_float4 stanumbers5:_float4 stavalues1:anyarray \
         stavalues2:anyarray stavalues3:anyarray stavalues4:anyarray \
         stavalues5:anyarray",
    ),
    (
        "pg_statistic_ext",
        3_381,
        "oid:oid stxrelid:oid stxname stxnamespace:oid stxowner:oid stxstattarget:int4 \
         stxkeys:int2vector stxkind:_char stxexprs:pg_node_tree",
    ),
    (
        "pg_statistic_ext_data",
        3_429,
        "stxoid:oid stxdinherit:bool stxdndistinct:pg_ndistinct \
         stxddependencies:pg_dependencies stxdmcv:pg_mcv_list stxdexpr:_pg_statistic",
    ),
    (
        "pg_stats",
        12_053,
        "schemaname tablename attname inherited:bool null_frac:float4 avg_width:int4 \
         n_distinct:float4 most_common_vals:anyarray most_common_freqs:_float4 \
         histogram_bounds:anyarray correlation:float4 most_common_elems:anyarray \
         most_common_elem_freqs:_float4 elem_count_histogram:_float4",
    ),
    (
        "pg_stats_ext",
        12_058,
        "schemaname tablename statistics_schemaname statistics_name statistics_owner \
         attnames:_name exprs:_text kinds:_char inherited:bool n_distinct:pg_ndistinct \
         dependencies:pg_dependencies most_common_vals:_text \
         most_common_val_nulls:_bool most_common_freqs:_float8 \
         most_common_base_freqs:_float8",
    ),
    (
        "pg_stats_ext_exprs",
        12_063,
        "schemaname tablename statistics_schemaname statistics_name statistics_owner \
         expr:text inherited:bool null_frac:float4 avg_width:int4 n_distinct:float4 \
         most_common_vals:anyarray most_common_freqs:_float4 histogram_bounds:anyarray \
         correlation:float4 most_common_elems:anyarray most_common_elem_freqs:_float4 \
         elem_count_histogram:_float4",
    ),
    (
        "pg_subscription",
        6_100,
        "oid:oid subdbid:oid subskiplsn:pg_lsn subname subowner:oid subenabled:bool \
         subbinary:bool substream:bool subtwophasestate:char subdisableonerr:bool \
         subconninfo:text subslotname subsynccommit:text subpublications:_text",
    ),
    (
        "pg_subscription_rel",
        6_102,
        "srsubid:oid srrelid:oid srsubstate:char srsublsn:pg_lsn",
    ),
    (
        "pg_tables",
        12_033,
        "schemaname tablename tableowner tablespace hasindexes:bool hasrules:bool \
         hastriggers:bool rowsecurity:bool",
    ),
    (
        "pg_tablespace",
        1_213,
        "oid:oid spcname spcowner:oid spcacl:_aclitem spcoptions:_text",
    ),
    (
        "pg_timezone_abbrevs",
        12_122,
        "abbrev:text utc_offset:interval is_dst:bool",
    ),
    (
        "pg_timezone_names",
        12_126,
        "name:text abbrev:text utc_offset:interval is_dst:bool",
    ),
    (
        "pg_transform",
        3_576,
        "oid:oid trftype:oid trflang:oid trffromsql:regproc trftosql:regproc",
    ),
    (
        "pg_trigger",
        2_620,
        "oid:oid tgrelid:oid tgparentid:oid tgname tgfoid:oid tgtype:int2 \
         tgenabled:char tgisinternal:bool tgconstrrelid:oid tgconstrindid:oid \
         tgconstraint:oid tgdeferrable:bool tginitdeferred:bool tgnargs:int2 \
         tgattr:int2vector tgargs:bytea tgqual:pg_node_tree tgoldtable tgnewtable",
    ),
    (
        "pg_ts_config",
        3_602,
        "oid:oid cfgname cfgnamespace:oid cfgowner:oid cfgparser:oid",
    ),
    (
        "pg_ts_config_map",
        3_603,
        "mapcfg:oid maptokentype:int4 mapseqno:int4 mapdict:oid",
    ),
    (
        "pg_ts_dict",
        3_600,
        "oid:oid dictname dictnamespace:oid dictowner:oid dicttemplate:oid \
         dictinitoption:text",
    ),
    (
        "pg_ts_parser",
        3_601,
        "oid:oid prsname prsnamespace:oid prsstart:regproc prstoken:regproc \
         prsend:regproc prsheadline:regproc prslextype:regproc",
    ),
    (
        "pg_ts_template",
        3_764,
        "oid:oid tmplname tmplnamespace:oid tmplinit:regproc tmpllexize:regproc",
    ),
    (
        "pg_type",
        1_247,
        "oid:oid typname typnamespace:oid typowner:oid typlen:int2 typbyval:bool \
         typtype:char typcategory:char typispreferred:bool typisdefined:bool \
         typdelim:char typrelid:oid typsubscript:regproc typelem:oid typarray:oid \
         typinput:regproc typoutput:regproc typreceive:regproc typsend:regproc \
         typmodin:regproc typmodout:regproc typanalyze:regproc typalign:char \
         typstorage:char typnotnull:bool typbasetype:oid typtypmod:int4 typndims:int4 \
         typcollation:oid typdefaultbin:pg_node_tree typdefault:text typacl:_aclitem",
    ),
    (
        "pg_user",
        12_014,
        "usename usesysid:oid usecreatedb:bool usesuper:bool userepl:bool \
         usebypassrls:bool passwd:text valuntil:timestamptz useconfig:_text",
    ),
    (
        "pg_user_mapping",
        1_418,
        "oid:oid umuser:oid umserver:oid umoptions:_text",
    ),
    (
        "pg_user_mappings",
        12_327,
        "umid:oid srvid:oid srvname umuser:oid usename umoptions:_text",
    ),
    (
        "pg_views",
        12_028,
        "schemaname viewname viewowner definition:text",
    ),
];
