"""Indexes; two of them beside writers, and so outside of a transaction."""

import sqlalchemy as sa
from alembic import op

revision = "four"
down_revision = "three"


def upgrade():
    op.create_index("lib_room_lower", "lib_room", [sa.text("lower(name)"), sa.text("floor DESC NULLS LAST")])
    op.create_index("lib_shelf_long", "lib_shelf", ["room"], postgresql_where=sa.text("length > 1"), unique=True)
    op.create_index("lib_shelf_covering", "lib_shelf", ["length"], postgresql_include=["opened"])
    op.create_index("lib_shelf_hash", "lib_shelf", ["opened"], postgresql_using="hash")
    op.create_index("lib_room_like", "lib_room", ["name"], postgresql_ops={"name": "text_pattern_ops"})
    with op.get_context().autocommit_block():
        op.create_index("lib_shelf_boards", "lib_shelf", ["boards"], postgresql_concurrently=True, if_not_exists=True)
        op.create_index("lib_shelf_boards", "lib_shelf", ["boards"], postgresql_concurrently=True, if_not_exists=True)
        op.execute("ALTER TYPE lib_room_kind ADD VALUE IF NOT EXISTS 'hall' BEFORE 'store'")
    op.execute("UPDATE lib_room SET kind = 'hall' WHERE id = 2")


def downgrade():
    op.execute("UPDATE lib_room SET kind = 'store' WHERE kind = 'hall'")
    # Nothing takes a value from an enumeration; another takes its place.
    op.execute("ALTER TYPE lib_room_kind RENAME TO lib_room_kind_old")
    sa.Enum("reading", "store", name="lib_room_kind").create(op.get_bind())
    op.alter_column(
        "lib_room", "kind", type_=sa.Enum(name="lib_room_kind"), postgresql_using="kind::text::lib_room_kind"
    )
    op.execute("DROP TYPE lib_room_kind_old")
    with op.get_context().autocommit_block():
        op.drop_index("lib_shelf_boards", postgresql_concurrently=True, if_exists=True)
    op.drop_index("lib_room_like", "lib_room")
    for name in ("lib_shelf_hash", "lib_shelf_covering", "lib_shelf_long"):
        op.drop_index(name, table_name="lib_shelf")
    op.drop_index("lib_room_lower")
