-- What statements may call: functions, aggregates and window functions, operators and casts.
-- Left out are functions that are there for operators, types, casts, aggregates, index methods,
-- encodings, languages and the planner: their users are in the list.
WITH used AS (
    SELECT oprcode::oid AS f FROM pg_operator
    UNION SELECT unnest(ARRAY[oprrest::oid, oprjoin]) FROM pg_operator
    UNION SELECT unnest(ARRAY[typinput::oid, typoutput, typreceive, typsend, typmodin, typmodout,
        typanalyze, typsubscript]) FROM pg_type
    UNION SELECT castfunc FROM pg_cast
    UNION SELECT unnest(ARRAY[aggtransfn::oid, aggfinalfn, aggcombinefn, aggserialfn,
        aggdeserialfn, aggmtransfn, aggminvtransfn, aggmfinalfn]) FROM pg_aggregate
    UNION SELECT amproc FROM pg_amproc
    UNION SELECT amhandler FROM pg_am
    UNION SELECT prosupport FROM pg_proc
    UNION SELECT conproc FROM pg_conversion
    UNION SELECT unnest(ARRAY[lanplcallfoid, laninline, lanvalidator]) FROM pg_language
    UNION SELECT unnest(ARRAY[rngcanonical::oid, rngsubdiff]) FROM pg_range
    UNION SELECT unnest(ARRAY[prsstart::oid, prstoken, prsend, prsheadline, prslextype])
        FROM pg_ts_parser
    UNION SELECT unnest(ARRAY[tmplinit::oid, tmpllexize]) FROM pg_ts_template
),
listed (kind, name, arguments, returns) AS (
    SELECT CASE prokind WHEN 'a' THEN 'aggregate' WHEN 'w' THEN 'window' WHEN 'p' THEN 'procedure'
            ELSE 'function' END,
        proname::text,
        (SELECT string_agg(format_type(ty, NULL), ',' ORDER BY at)
            FROM unnest(proargtypes) WITH ORDINALITY AS types (ty, at)),
        format_type(prorettype, NULL)
    FROM pg_proc
    LEFT JOIN pg_description d ON d.objoid = pg_proc.oid AND d.classoid = 'pg_proc'::regclass
    WHERE pronamespace = 'pg_catalog'::regnamespace
        AND pg_proc.oid NOT IN (SELECT f FROM used WHERE f IS NOT NULL)
        AND coalesce(d.description, '') NOT LIKE 'implementation of %'
    UNION ALL
    SELECT 'operator', oprname::text,
        concat_ws(',', CASE WHEN oprleft <> 0 THEN format_type(oprleft, NULL) END,
            format_type(oprright, NULL)),
        format_type(oprresult, NULL)
    FROM pg_operator
    UNION ALL
    SELECT 'cast', format_type(castsource, NULL), format_type(castsource, NULL),
        format_type(casttarget, NULL)
    FROM pg_cast
)
SELECT kind, name, coalesce(arguments, '') AS arguments, returns
FROM listed
ORDER BY kind COLLATE "C", name COLLATE "C", arguments COLLATE "C", returns COLLATE "C"
