// Libraries of node that make schemas and write statements: Knex, Sequelize and TypeORM.
"use strict";
require("reflect-metadata");
const assert = require("node:assert");
const { Sequelize, DataTypes, Op } = require("sequelize");
const { DataSource, EntitySchema } = require("typeorm");

const where = { host: "127.0.0.1", port: Number(process.env.FREESTONE_PORT), database: "freestone" };

async function withKnex() {
  const knex = require("knex")({ client: "pg", connection: { ...where, user: "tester" } });
  try {
    await knex.schema.dropTableIfExists("kx_posts");
    await knex.schema.dropTableIfExists("kx_users");
    await knex.schema.createTable("kx_users", (t) => {
      t.increments("id");
      t.string("name").notNullable().index();
      t.decimal("paid", 10, 2).defaultTo(0);
      t.boolean("ok").defaultTo(true);
      t.timestamps(true, true);
      t.jsonb("meta");
      t.uuid("mark").defaultTo(knex.fn.uuid());
      t.enu("kind", ["a", "b"]);
      t.specificType("tags", "text[]");
      t.unique(["name", "kind"]);
    });
    await knex.schema.createTable("kx_posts", (t) => {
      t.bigIncrements("id");
      t.integer("user_id").references("id").inTable("kx_users").onDelete("CASCADE");
      t.string("title", 50).comment("the title");
    });
    await knex.schema.alterTable("kx_users", (t) => {
      t.string("email").unique();
      t.renameColumn("ok", "active");
      t.string("name", 100).notNullable().alter();
    });
    const about = await knex("kx_users").columnInfo();
    assert.strictEqual(about.name.maxLength, 100);
    assert.ok(await knex.schema.hasColumn("kx_users", "active"));
    const added = await knex("kx_users").insert([
      { name: "ann", kind: "a", meta: { x: 1 }, tags: ["p", "q"] },
      { name: "bob", kind: "b" },
    ]).returning(["id", "tags"]);
    assert.deepStrictEqual(added, [{ id: 1, tags: ["p", "q"] }, { id: 2, tags: null }]);
    await knex("kx_users").insert({ id: 1, name: "eve", kind: "a" }).onConflict("id").merge(["name"]);
    await knex("kx_posts").insert([{ user_id: 1, title: "t1" }, { user_id: 1, title: "t2" }]);
    const counted = await knex("kx_users as u").leftJoin("kx_posts as p", "p.user_id", "u.id")
      .select("u.name", knex.raw("count(p.id)::int as n")).groupBy("u.id").orderBy("n", "desc");
    assert.deepStrictEqual(counted, [{ name: "eve", n: 2 }, { name: "bob", n: 0 }]);
    assert.deepStrictEqual(await knex("kx_users").whereJsonSupersetOf("meta", { x: 1 }).select("id"), [{ id: 1 }]);
    await knex.transaction(async (t) => {
      await t("kx_users").forUpdate().where("id", 1).first();
      await t.transaction((inner) => inner("kx_users").where("id", 1).update({ name: "inner" }));
    });
    const ranked = await knex("kx_posts").select("id").rank("rank", ["title"], ["user_id"]).orderBy("id");
    assert.deepStrictEqual(ranked.map((row) => row.rank), ["1", "2"]);
  } finally {
    await knex.destroy();
  }
}

async function withSequelize() {
  const db = new Sequelize(where.database, "tester", "", { ...where, dialect: "postgres", logging: false });
  try {
    const User = db.define("SqUser", {
      name: { type: DataTypes.STRING(30), allowNull: false, unique: true },
      kind: DataTypes.ENUM("a", "b"),
      tags: DataTypes.ARRAY(DataTypes.STRING),
      meta: DataTypes.JSONB,
      born: DataTypes.DATEONLY,
      paid: DataTypes.DECIMAL(10, 2),
    }, { indexes: [{ fields: ["kind", "born"] }] });
    const Post = db.define("SqPost", { title: { type: DataTypes.TEXT, comment: "the title" } }, { paranoid: true });
    Post.belongsTo(User);
    User.hasMany(Post);
    // Enumerations are created by blocks of DO.
    await db.sync();
    await db.sync({ alter: true });
    const ann = await User.create({ name: "ann", kind: "a", tags: ["x"], meta: { q: [1] }, born: "2024-01-01", paid: "1.5" });
    await User.bulkCreate([{ name: "bob" }, { name: "ann", kind: "b" }], { updateOnDuplicate: ["kind"] });
    assert.strictEqual((await User.findByPk(ann.id)).kind, "b");
    await Post.create({ title: "t", SqUserId: ann.id });
    const found = await User.findAll({ include: Post, where: { tags: { [Op.contains]: ["x"] } } });
    assert.deepStrictEqual(found.map((user) => user.SqPosts.length), [1]);
    assert.strictEqual(await User.count({ where: { "meta.q": { [Op.ne]: null } } }), 1);
    await db.transaction(async (transaction) => {
      await User.findOne({ lock: transaction.LOCK.UPDATE, skipLocked: true, transaction });
      await User.update({ paid: 2 }, { where: { name: "ann" }, transaction });
    });
    const tables = db.getQueryInterface();
    const described = await tables.describeTable("SqUsers");
    assert.deepStrictEqual(described.kind.special, ["a", "b"]);
    // Each `alter` adds the key of a unique column once more.
    const indexes = (await tables.showIndex("SqUsers")).map((index) => index.name).sort();
    assert.deepStrictEqual(indexes, ["SqUsers_name_key", "SqUsers_name_key1", "SqUsers_pkey", "sq_users_kind_born"]);
    await tables.addColumn("SqUsers", "more", { type: DataTypes.INTEGER, defaultValue: 3, allowNull: false });
    await tables.changeColumn("SqUsers", "kind", { type: DataTypes.ENUM("a", "b", "c") });
    await tables.removeColumn("SqUsers", "more");
    await Post.destroy({ where: { title: "t" } });
    assert.strictEqual(await Post.count(), 0);
  } finally {
    await db.close();
  }
}

async function withTypeOrm() {
  const Author = new EntitySchema({
    name: "to_author",
    columns: {
      id: { type: "int", primary: true, generated: true },
      name: { type: "varchar", length: 40 },
      kind: { type: "enum", enum: ["x", "y"], default: "x" },
      tags: { type: "text", array: true, nullable: true },
      meta: { type: "jsonb", nullable: true },
      born: { type: "timestamptz", createDate: true },
      mark: { type: "uuid", generated: "uuid" },
      paid: { type: "numeric", precision: 10, scale: 2, default: 0 },
    },
    indices: [{ columns: ["name"], unique: true }],
    checks: [{ expression: "paid >= 0" }],
    relations: { books: { type: "one-to-many", target: "to_book", inverseSide: "author" } },
  });
  const Book = new EntitySchema({
    name: "to_book",
    columns: { id: { type: "bigint", primary: true, generated: "identity" }, title: { type: "varchar" } },
    relations: {
      author: { type: "many-to-one", target: "to_author", inverseSide: "books", onDelete: "CASCADE" },
      tags: { type: "many-to-many", target: "to_tag", joinTable: true },
    },
  });
  const Tag = new EntitySchema({
    name: "to_tag",
    columns: { id: { type: "int", primary: true, generated: true }, name: { type: "varchar" } },
  });
  const db = new DataSource({
    ...where, type: "postgres", username: "tester", entities: [Author, Book, Tag],
    uuidExtension: "pgcrypto", installExtensions: false,
  });
  await db.initialize();
  try {
    await db.synchronize();
    // The catalog tells what was made, so that nothing is left to do.
    const left = await db.driver.createSchemaBuilder().log();
    assert.deepStrictEqual(left.upQueries.map((query) => query.query), []);
    const authors = db.getRepository("to_author");
    const ann = await authors.save({ name: "ann", tags: ["q"], meta: { z: 1 } });
    const tag = await db.getRepository("to_tag").save({ name: "red" });
    await db.getRepository("to_book").save({ title: "t", author: { id: ann.id }, tags: [tag] });
    const [found] = await authors.find({ relations: { books: { tags: true } }, take: 3, order: { id: "DESC" } });
    assert.deepStrictEqual(found.books.map((book) => book.tags.map((one) => one.name)), [["red"]]);
    const [, count] = await db.createQueryBuilder("to_author", "a").leftJoinAndSelect("a.books", "b")
      .where("a.meta @> :meta", { meta: { z: 1 } }).andWhere(":tag = ANY(a.tags)", { tag: "q" }).getManyAndCount();
    assert.strictEqual(count, 1);
    await authors.upsert({ name: "ann", paid: 3 }, ["name"]);
    await db.transaction("SERIALIZABLE", (manager) => manager.increment("to_author", { id: ann.id }, "paid", 2));
    await db.transaction((manager) =>
      manager.findOne("to_author", { where: { id: ann.id }, lock: { mode: "pessimistic_write" } }));
    assert.strictEqual((await authors.findOneBy({ id: ann.id })).paid, "5.00");
    await authors.delete({ id: ann.id });
    assert.strictEqual(await db.getRepository("to_book").count(), 0);
  } finally {
    await db.destroy();
  }
}

(async () => {
  let passed = 0, failed = 0;
  for (const [name, test] of Object.entries({ Knex: withKnex, Sequelize: withSequelize, TypeORM: withTypeOrm })) {
    try {
      await test();
      passed += 1;
      console.log(`ok ${name}`);
    } catch (error) {
      failed += 1;
      console.log(`FAILED ${name}: ${error.stack}\n${error.sql ?? error.query ?? ""}`);
    }
  }
  console.log(`${passed} passed, ${failed} failed, 0 skipped`);
  process.exit(failed ? 1 : 0);
})();
