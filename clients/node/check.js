// node's `pg` against the server: values, statements with names, transactions, errors, cursors.
"use strict";
const assert = require("node:assert");
const pg = require("pg");
const Cursor = require("pg-cursor");

const where = { host: "127.0.0.1", port: Number(process.env.FREESTONE_PORT), user: "tester", database: "freestone" };
const tests = {
  async "values come back"(client) {
    await client.query("DROP TABLE IF EXISTS nv");
    await client.query(
      "CREATE TABLE nv (k INT PRIMARY KEY, t TEXT, b BOOLEAN, f DOUBLE PRECISION, n DECIMAL(12,3), l BIGINT, " +
        "d TIMESTAMPTZ, y BYTEA, u UUID, j JSON)");
    const when = new Date(Date.UTC(2024, 1, 29, 1, 2, 3, 4));
    const id = "00112233-4455-6677-8899-aabbccddeeff";
    const row = [1, "wörd 'q'", true, 0.125, "-1234.500", "9007199254740993", when, Buffer.from([0, 255]), id,
      { a: [1, null] }];
    await client.query("INSERT INTO nv VALUES ($1,$2,$3,$4,$5,$6,$7,$8,$9,$10)", row);
    const nulls = row.map((value, place) => (place ? null : 2));
    await client.query("INSERT INTO nv VALUES ($1,$2,$3,$4,$5,$6,$7,$8,$9,$10)", nulls);
    const found = await client.query({ text: "SELECT * FROM nv ORDER BY k", rowMode: "array" });
    // JSON comes as text, or as what it stands for.
    const json = found.rows[0][9];
    assert.deepStrictEqual(typeof json === "string" ? JSON.parse(json) : json, row[9]);
    found.rows[0][9] = row[9];
    assert.deepStrictEqual(found.rows, [row, nulls]);
    assert.deepStrictEqual(found.fields.map((f) => f.name).slice(0, 3), ["k", "t", "b"]);
  },

  async "statements with names are prepared once"(client) {
    for (let number = 0; number < 20; number++) {
      const found = await client.query({ name: "plus", text: "SELECT $1::int + 1::int AS v", values: [number] });
      assert.strictEqual(found.rows[0].v, number + 1);
    }
  },

  async "counts of rows and RETURNING"(client) {
    await client.query("DROP TABLE IF EXISTS nr");
    await client.query("CREATE TABLE nr (id SERIAL PRIMARY KEY, v INT)");
    const added = await client.query("INSERT INTO nr (v) VALUES (10), (20), (30) RETURNING id");
    assert.deepStrictEqual(added.rows, [{ id: 1 }, { id: 2 }, { id: 3 }]);
    assert.strictEqual((await client.query("UPDATE nr SET v = v + 1 WHERE v > 10")).rowCount, 2);
    assert.strictEqual((await client.query("DELETE FROM nr")).rowCount, 3);
  },

  async "transactions and errors"(client) {
    await client.query("DROP TABLE IF EXISTS nt");
    await client.query("CREATE TABLE nt (k INT PRIMARY KEY)");
    await client.query("BEGIN");
    await client.query("INSERT INTO nt VALUES (1)");
    await assert.rejects(client.query("INSERT INTO nt VALUES (1)"), { code: "23505" });
    await assert.rejects(client.query("SELECT 1"), { code: "25P02" });
    await client.query("ROLLBACK");
    assert.strictEqual((await client.query("SELECT count(*)::int AS n FROM nt")).rows[0].n, 0);
    await assert.rejects(client.query("SELECT * FROM nowhere"), { code: "42P01" });
  },

  async "several statements in one text"(client) {
    const all = await client.query("SELECT 1::int AS a; SELECT 2::int AS b");
    assert.deepStrictEqual(all.map((one) => one.rows[0]), [{ a: 1 }, { b: 2 }]);
  },

  async "a cursor reads in parts"(client) {
    const cursor = client.query(new Cursor("SELECT value AS v FROM generate_series(1, 1000) AS g(value) ORDER BY v"));
    const read = [];
    for (let part = await cursor.read(100); part.length; part = await cursor.read(100)) {
      read.push(...part.map((row) => Number(row.v)));
    }
    await cursor.close();
    assert.deepStrictEqual(read, Array.from({ length: 1000 }, (_, place) => place + 1));
  },

  async "lists of values as one parameter"(client) {
    const found = await client.query("SELECT value::int AS v FROM generate_series(1, 9) AS g(value) WHERE value = ANY($1::int[]) ORDER BY 1", [[2, 7, 11]]);
    assert.deepStrictEqual(found.rows.map((row) => row.v), [2, 7]);
  },

  async "a pool serves many at a time"() {
    const pool = new pg.Pool({ ...where, max: 4 });
    const asked = Array.from({ length: 40 }, (_, v) => pool.query("SELECT $1::int * 2::int AS v", [v]));
    const answers = (await Promise.all(asked)).map((one) => one.rows[0].v);
    await pool.end();
    assert.deepStrictEqual(answers, Array.from({ length: 40 }, (_, v) => v * 2));
  },
};

async function main() {
  let [passed, failed] = [0, 0];
  for (const [name, test] of Object.entries(tests)) {
    const client = new pg.Client(where);
    await client.connect();
    try {
      await test(client);
      passed++;
    } catch (error) {
      failed++;
      console.log(`node: ${name}: FAILED\n${error.stack}`);
    }
    await client.end();
  }
  console.log(`${passed} passed, ${failed} failed, 0 skipped`);
  process.exitCode = failed ? 1 : 0;
}

main();
