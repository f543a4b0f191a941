// The JDBC driver against the server: values, batches, keys, cursors, metadata.

import java.math.BigDecimal;
import java.sql.*;
import java.util.*;

public class Check {
    interface Test { void run(Connection c) throws Exception; }

    static final String URL = "jdbc:postgresql://127.0.0.1:" + System.getenv("FREESTONE_PORT") + "/freestone?user=tester";

    static void same(Object found, Object wanted) {
        if (!Objects.deepEquals(found, wanted)) throw new AssertionError("found " + found + ", wanted " + wanted);
    }

    static void run(Connection c, String... texts) throws SQLException {
        try (Statement s = c.createStatement()) {
            for (String text : texts) s.execute(text);
        }
    }

    static Object one(Connection c, String sql) throws SQLException {
        try (Statement s = c.createStatement(); ResultSet r = s.executeQuery(sql)) {
            r.next();
            return r.getObject(1);
        }
    }

    static List<String> listed(ResultSet r, String... columns) throws SQLException {
        List<String> all = new ArrayList<>();
        while (r.next()) {
            List<String> row = new ArrayList<>();
            for (String column : columns) row.add(r.getString(column));
            all.add(String.join(" ", row));
        }
        return all;
    }

    static void values(Connection c) throws Exception {
        run(c, "DROP TABLE IF EXISTS jv", "CREATE TABLE jv (k INT, l BIGINT, t TEXT, b BOOLEAN, f DOUBLE PRECISION, "
            + "n DECIMAL(12,3), d DATE, s TIMESTAMP, y BYTEA, u UUID)");
        Object[] row = {1, 1L << 40, "wörd 'q'", true, 0.125, new BigDecimal("-1234.500"), java.sql.Date.valueOf("1999-12-31"),
            Timestamp.valueOf("2024-02-29 01:02:03.004"), new byte[] {0, -1}, UUID.fromString("00112233-4455-6677-8899-aabbccddeeff")};
        try (PreparedStatement p = c.prepareStatement("INSERT INTO jv VALUES (?,?,?,?,?,?,?,?,?,?)")) {
            for (int at = 0; at < row.length; at++) p.setObject(at + 1, row[at]);
            same(p.executeUpdate(), 1);
        }
        // Often enough that the driver prepares it and goes over to binary.
        try (PreparedStatement p = c.prepareStatement("SELECT * FROM jv WHERE k = ?")) {
            for (int time = 0; time < 12; time++) {
                p.setInt(1, 1);
                try (ResultSet r = p.executeQuery()) {
                    r.next();
                    for (int at = 0; at < row.length; at++) same(r.getObject(at + 1), row[at]);
                    same(r.next(), false);
                }
            }
        }
    }

    static void batches(Connection c) throws Exception {
        run(c, "DROP TABLE IF EXISTS jb", "CREATE TABLE jb (k INT PRIMARY KEY, v TEXT)");
        c.setAutoCommit(false);
        try (PreparedStatement p = c.prepareStatement("INSERT INTO jb VALUES (?, ?)")) {
            for (int number = 0; number < 500; number++) {
                p.setInt(1, number);
                p.setString(2, "v" + number);
                p.addBatch();
            }
            same(Arrays.stream(p.executeBatch()).sum(), 500);
        }
        c.commit();
        same(one(c, "SELECT count(*) FROM jb"), 500L);
        try (Statement s = c.createStatement()) {
            s.addBatch("UPDATE jb SET v = 'x' WHERE k < 10");
            s.addBatch("INSERT INTO jb VALUES (1, 'twice')");
            s.executeBatch();
            throw new AssertionError("a key twice");
        } catch (BatchUpdateException known) {
            same(known.getSQLState(), "23505");
        }
        c.rollback();
        same(one(c, "SELECT count(*) FROM jb WHERE v = 'x'"), 0L);
    }

    static void parts(Connection c) throws Exception {
        c.setAutoCommit(false);
        try (PreparedStatement p = c.prepareStatement("SELECT value FROM generate_series(1, 1000) AS g(value) WHERE value <= ? ORDER BY 1")) {
            p.setFetchSize(50);
            p.setLong(1, 1000);
            try (ResultSet r = p.executeQuery()) {
                for (long wanted = 1; wanted <= 1000; wanted++) {
                    same(r.next(), true);
                    same(r.getLong(1), wanted);
                }
                same(r.next(), false);
            }
        }
        c.commit();
    }

    static void keys(Connection c) throws Exception {
        run(c, "DROP TABLE IF EXISTS jk", "CREATE TABLE jk (id SERIAL PRIMARY KEY, v TEXT)");
        for (int time = 1; time <= 3; time++) {
            try (PreparedStatement p = c.prepareStatement("INSERT INTO jk (v) VALUES (?)", Statement.RETURN_GENERATED_KEYS)) {
                p.setString(1, "a");
                p.executeUpdate();
                try (ResultSet r = p.getGeneratedKeys()) {
                    r.next();
                    same(r.getInt("id"), time);
                }
            }
        }
        try (PreparedStatement p = c.prepareStatement("INSERT INTO jk (v) VALUES (?)", new String[] {"id"})) {
            p.setString(1, "b");
            p.executeUpdate();
            try (ResultSet r = p.getGeneratedKeys()) {
                r.next();
                same(r.getInt(1), 4);
            }
        }
    }

    static void transactions(Connection c) throws Exception {
        run(c, "DROP TABLE IF EXISTS jt", "CREATE TABLE jt (k INT PRIMARY KEY)");
        c.setAutoCommit(false);
        run(c, "INSERT INTO jt VALUES (1)");
        Savepoint point = c.setSavepoint("p");
        try {
            run(c, "INSERT INTO jt VALUES (1)");
            throw new AssertionError("a key twice");
        } catch (SQLException known) {
            same(known.getSQLState(), "23505");
        }
        c.rollback(point);
        c.commit();
        same(one(c, "SELECT count(*) FROM jt"), 1L);
        c.commit();
        c.setTransactionIsolation(Connection.TRANSACTION_SERIALIZABLE);
        same(one(c, "SELECT count(*) FROM jt"), 1L);
        c.rollback();
        c.setReadOnly(true);
        try {
            run(c, "INSERT INTO jt VALUES (2)");
            throw new AssertionError("changed while reading only");
        } catch (SQLException known) {
            same(known.getSQLState(), "25006");
        }
    }

    static void metadata(Connection c) throws Exception {
        run(c, "DROP VIEW IF EXISTS jmv", "DROP TABLE IF EXISTS jmc", "DROP TABLE IF EXISTS jmp",
            "CREATE TABLE jmp (a INT, b VARCHAR(20) NOT NULL DEFAULT 'x', c DECIMAL(9,2), PRIMARY KEY (a))",
            "CREATE TABLE jmc (id INT PRIMARY KEY, p INT REFERENCES jmp(a) ON DELETE CASCADE)",
            "CREATE INDEX jmc_p ON jmc (p)", "CREATE VIEW jmv AS SELECT a FROM jmp");
        DatabaseMetaData m = c.getMetaData();
        same(m.getDatabaseProductName(), "PostgreSQL");
        same(listed(m.getTables(null, null, "jm%", new String[] {"TABLE", "VIEW"}), "TABLE_NAME", "TABLE_TYPE"), List.of("jmc TABLE", "jmp TABLE", "jmv VIEW"));

        same(listed(m.getTables(null, null, "jm%", new String[] {"VIEW"}), "TABLE_NAME"), List.of("jmv"));
        same(listed(m.getColumns(null, null, "jmp", null), "COLUMN_NAME", "TYPE_NAME", "COLUMN_SIZE", "IS_NULLABLE"),
            List.of("a int4 10 NO", "b varchar 20 NO", "c numeric 9 YES"));
        same(listed(m.getPrimaryKeys(null, null, "jmp"), "COLUMN_NAME", "KEY_SEQ", "PK_NAME"), List.of("a 1 jmp_pkey"));
        same(listed(m.getIndexInfo(null, null, "jmc", false, false), "INDEX_NAME", "COLUMN_NAME", "NON_UNIQUE"),
            List.of("jmc_pkey id f", "jmc_p p t"));
        same(listed(m.getImportedKeys(null, null, "jmc"), "PKTABLE_NAME", "PKCOLUMN_NAME", "FKCOLUMN_NAME", "DELETE_RULE"),
            List.of("jmp a p 0"));
        same(listed(m.getExportedKeys(null, null, "jmp"), "FKTABLE_NAME"), List.of("jmc"));
        same(listed(m.getSchemas(), "TABLE_SCHEM").contains("information_schema"), true);
        same(m.getTypeInfo().next(), true);
        same(m.getCatalogs().next(), true);
        try (Statement s = c.createStatement(); ResultSet r = s.executeQuery("SELECT a, b FROM jmp")) {
            ResultSetMetaData columns = r.getMetaData();
            // A VARCHAR stays one in results.
            same(columns.getColumnTypeName(2), "varchar");
            same(columns.getColumnCount(), 2);
        }
    }

    static void cancelled(Connection c) throws Exception {
        try (Statement s = c.createStatement()) {
            s.setQueryTimeout(1);
            s.executeQuery("SELECT count(*) FROM generate_series(1, 1000000000000) AS g(value) WHERE value % 7 = 8");
            throw new AssertionError("not stopped");
        } catch (SQLException known) {
            same(known.getSQLState(), "57014");
        }
        same(one(c, "SELECT 1::int"), 1);
    }

    public static void main(String[] arguments) throws Exception {
        Map<String, Test> tests = new LinkedHashMap<>();
        tests.put("values come back, as text and in binary", Check::values);
        tests.put("batches", Check::batches);
        tests.put("a fetch size reads in parts", Check::parts);
        tests.put("generated keys", Check::keys);
        tests.put("transactions and errors", Check::transactions);
        tests.put("metadata", Check::metadata);
        tests.put("a time limit", Check::cancelled);
        int passed = 0, failed = 0;
        for (var test : tests.entrySet()) {
            try (Connection c = DriverManager.getConnection(URL)) {
                test.getValue().run(c);
                passed++;
            } catch (Throwable error) {
                failed++;
                System.out.println("jdbc: " + test.getKey() + ": FAILED: " + error);
                Arrays.stream(error.getStackTrace()).filter(f -> f.getClassName().startsWith("Check")).limit(3)
                    .forEach(f -> System.out.println("    " + f));
            }
        }
        System.out.println(passed + " passed, " + failed + " failed, 0 skipped");
        System.exit(failed > 0 ? 1 : 0);
    }
}
