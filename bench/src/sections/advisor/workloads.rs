//! Tables and workloads that no constant of the advisor was fitted on.

/// A table, as SQL without its options.
pub struct Table {
    /// Columns between the parentheses of CREATE TABLE.
    pub columns: String,
    /// What INSERT puts into them, over `n`, which counts rows.
    pub values: String,
    /// Its rows.
    pub rows: usize,
    /// A column that blocks may be sorted on.
    pub sort: &'static str,
    /// A column that may have an index.
    pub index: &'static str,
}

/// What is asked of a table.
pub struct Workload {
    /// What it stands for.
    pub name: &'static str,
    /// The table.
    pub table: fn() -> Table,
    /// Statements, of which `@` and `#` are numbers that change from one to the next, and
    /// how often each is run, one after the other in turns.
    pub statements: &'static [(&'static str, usize)],
    /// What was asked before that, when it drifts.
    pub before: &'static [(&'static str, usize)],
}

/// Orders: 14 columns of several types.
fn orders() -> Table {
    Table {
        columns: "k INT PRIMARY KEY, day DATE, customer INT, product INT, amount DECIMAL(12,2), \
                  price DECIMAL(12,2), tax DOUBLE PRECISION, state TEXT, city TEXT, comment TEXT, \
                  a INT, b INT, c BIGINT, d BIGINT"
            .into(),
        values:
            "n, DATE '2020-01-01' + CAST(n * 7919 % 1500 AS INT), n * 31 % 40000, n * 17 % 900, \
                 n % 100000 / 100.0, n * 13 % 50000 / 100.0, n / 7.0, \
                 'state' || n % 5, 'city number ' || n * 3 % 700, \
                 'a comment that nobody reads, number ' || n * 104729 % 1000003, \
                 n % 10, n % 1000, n * 65537 % 1000000007, n * 3"
                .into(),
        rows: 200_000,
        sort: "day",
        index: "customer",
    }
}

/// Items: 40 columns, of which a row has few.
fn sparse() -> Table {
    let columns = (0..40).map(|number| format!("p{number} INT"));
    let values = (0..40).map(|number| {
        format!(
            "CASE WHEN (n * 7 + {number}) % 20 = 0 THEN n * {} % 5000 END",
            number + 3
        )
    });
    let with = |first: &str, rest: Vec<String>| format!("{first}, {}", rest.join(", "));
    Table {
        columns: with("k INT PRIMARY KEY", columns.collect()),
        values: with("n", values.collect()),
        rows: 100_000,
        sort: "p1",
        index: "p2",
    }
}

/// Measurements: 80 columns of numbers.
fn wide() -> Table {
    let columns = (0..80).map(|number| format!("m{number} BIGINT"));
    let values = (0..80).map(|number| format!("n * {} % {}", number * 2 + 1, 1000 + number * 97));
    let with = |first: &str, rest: Vec<String>| format!("{first}, {}", rest.join(", "));
    Table {
        columns: with("k INT PRIMARY KEY", columns.collect()),
        values: with("n", values.collect()),
        rows: 60_000,
        sort: "m1",
        index: "m2",
    }
}

/// All of them.
pub const WORKLOADS: [Workload; 12] = [
    Workload {
        name: "orders: analytics",
        table: orders,
        statements: &[
            (
                "SELECT state, sum(amount), avg(price) FROM t GROUP BY state",
                20,
            ),
            ("SELECT sum(amount * price) FROM t WHERE b < @", 20),
        ],
        before: &[],
    },
    Workload {
        name: "orders: ranges of days",
        table: orders,
        statements: &[(
            "SELECT sum(amount), count(*) FROM t WHERE day BETWEEN DATE '2020-01-01' + # AND DATE '2020-01-20' + #",
            100,
        )],
        before: &[],
    },
    Workload {
        name: "orders: look-ups",
        table: orders,
        statements: &[("SELECT * FROM t WHERE k = @", 8000)],
        before: &[],
    },
    Workload {
        name: "orders: of a customer",
        table: orders,
        statements: &[("SELECT day, amount, comment FROM t WHERE customer = @", 300)],
        before: &[],
    },
    Workload {
        name: "orders: mixed",
        table: orders,
        statements: &[
            ("SELECT * FROM t WHERE k = @", 2000),
            (
                "SELECT state, sum(amount) FROM t WHERE a = 3 GROUP BY state",
                20,
            ),
            ("UPDATE t SET amount = amount + 1 WHERE k = @", 500),
        ],
        before: &[],
    },
    Workload {
        name: "orders: writes",
        table: orders,
        statements: &[
            (
                "UPDATE t SET price = price + 1, state = 'sold' WHERE k = @",
                4000,
            ),
            ("SELECT sum(price) FROM t WHERE k < @", 2),
        ],
        before: &[],
    },
    Workload {
        name: "orders: drifting to analytics",
        table: orders,
        statements: &[("SELECT city, sum(c), max(d) FROM t GROUP BY city", 60)],
        before: &[("SELECT * FROM t WHERE k = @", 3000)],
    },
    Workload {
        name: "sparse: analytics",
        table: sparse,
        statements: &[
            ("SELECT count(*), sum(p3) FROM t WHERE p3 IS NOT NULL", 50),
            ("SELECT p4, count(*) FROM t WHERE p5 < @ GROUP BY p4", 50),
        ],
        before: &[],
    },
    Workload {
        name: "sparse: look-ups",
        table: sparse,
        statements: &[("SELECT * FROM t WHERE k = @", 4000)],
        before: &[],
    },
    Workload {
        name: "wide: few columns",
        table: wide,
        statements: &[("SELECT sum(m3), sum(m4) FROM t WHERE m5 < @", 150)],
        before: &[],
    },
    Workload {
        name: "wide: whole rows of a range",
        table: wide,
        statements: &[("SELECT * FROM t WHERE m1 BETWEEN @ AND @ + 5", 60)],
        before: &[],
    },
    Workload {
        name: "wide: writes and look-ups",
        table: wide,
        statements: &[
            ("UPDATE t SET m7 = m7 + 1 WHERE k = @", 1000),
            ("SELECT * FROM t WHERE k = @", 2000),
        ],
        before: &[],
    },
];
