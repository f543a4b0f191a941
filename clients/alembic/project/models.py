"""The library as its program declares it: at first, and after a year."""

import sqlalchemy as sa
from sqlalchemy.dialects import postgresql as pg


def first():
    m = sa.MetaData()
    sa.Table(
        "lib_author",
        m,
        sa.Column("id", sa.Integer, primary_key=True),
        sa.Column("name", sa.String(60), nullable=False, unique=True),
        sa.Column("born", sa.Date),
        sa.Column("rating", sa.Float, server_default="0.5"),
        comment="who wrote",
    )
    sa.Table(
        "lib_book",
        m,
        sa.Column("id", sa.BigInteger, sa.Identity(start=100), primary_key=True),
        sa.Column("author_id", sa.ForeignKey("lib_author.id", ondelete="CASCADE"), nullable=False, index=True),
        sa.Column("title", sa.String(80), nullable=False, comment="as on the cover"),
        sa.Column("state", sa.Enum("shelf", "lent", name="lib_state"), nullable=False, server_default="shelf"),
        sa.Column("pages", sa.Integer, server_default="1"),
        sa.Column("price", sa.Numeric(8, 2)),
        sa.Column("seen", sa.DateTime(timezone=True), server_default=sa.func.now()),
        sa.Column("mark", pg.UUID, server_default=sa.text("gen_random_uuid()")),
        sa.Column("tags", pg.ARRAY(sa.Text), server_default=sa.text("'{}'")),
        sa.Column("meta", pg.JSONB, nullable=False, server_default=sa.text("'{}'::jsonb")),
        sa.Column("copies", sa.Integer, server_default="1"),
        sa.Column("twice", sa.Integer, sa.Computed("copies * 2", persisted=True)),
        sa.CheckConstraint("pages > 0", name="lib_pages_positive"),
        sa.UniqueConstraint("author_id", "title", name="lib_title_once"),
    )
    sa.Table(
        "lib_old",
        m,
        sa.Column("a", sa.Integer, primary_key=True, autoincrement=False),
        sa.Column("b", sa.String(3), primary_key=True),
        sa.Column("raw", sa.LargeBinary),
        sa.Column("hour", sa.Time),
        sa.Column("gap", sa.Interval),
    )
    sa.Index("lib_book_title", m.tables["lib_book"].c.title)
    return m


def later():
    m = sa.MetaData()
    sa.Table(
        "lib_author",
        m,
        sa.Column("id", sa.BigInteger, primary_key=True),
        sa.Column("name", sa.Text, nullable=False, unique=True),
        sa.Column("rating", sa.Float, server_default="0.75"),
        sa.Column("country", sa.String(2), server_default="AT", nullable=False, comment="where from"),
        comment="those who write",
    )
    book = sa.Table(
        "lib_book",
        m,
        sa.Column("id", sa.BigInteger, sa.Identity(start=100), primary_key=True),
        sa.Column(
            "author_id",
            sa.ForeignKey(
                "lib_author.id", name="lib_book_author", ondelete="RESTRICT", deferrable=True, initially="DEFERRED"
            ),
            nullable=False,
            index=True,
        ),
        sa.Column("title", sa.String(200), nullable=False, comment="the title"),
        sa.Column("state", sa.Enum("shelf", "lent", name="lib_state"), nullable=False),
        sa.Column("pages", sa.BigInteger, server_default="10", nullable=False),
        sa.Column("price", sa.Numeric(12, 3)),
        sa.Column("seen", sa.DateTime(timezone=True)),
        sa.Column("mark", pg.UUID, server_default=sa.text("gen_random_uuid()")),
        sa.Column("tags", pg.ARRAY(sa.Text), server_default=sa.text("'{}'")),
        sa.Column("meta", pg.JSONB, nullable=False, server_default=sa.text("'{}'::jsonb")),
        sa.Column("copies", sa.Integer, server_default="1"),
        sa.Column("note", sa.Text),
        sa.UniqueConstraint("title", "author_id", "price", name="lib_price_once"),
    )
    sa.Table(
        "lib_loan",
        m,
        sa.Column("book_id", sa.ForeignKey("lib_book.id"), primary_key=True),
        sa.Column("day", sa.Date, primary_key=True, server_default=sa.text("CURRENT_DATE")),
        sa.Column("kind", sa.Enum("home", "room", name="lib_kind")),
        sa.Column("by", sa.String(20), nullable=False),
    )
    sa.Index("lib_book_title", sa.func.lower(book.c.title), unique=True)
    sa.Index("lib_book_lent", book.c.price.desc(), postgresql_where=book.c.state == "lent")
    sa.Index("lib_book_meta", book.c.meta, postgresql_using="gin")
    sa.Index("lib_book_covering", book.c.pages, postgresql_include=["price"])
    return m


METADATA = {"none": sa.MetaData(), "first": first(), "later": later()}
