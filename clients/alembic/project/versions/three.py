"""Constraints."""

import sqlalchemy as sa
from alembic import op

revision = "three"
down_revision = "two"


def upgrade():
    op.create_foreign_key(
        "lib_shelf_room",
        "lib_shelf",
        "lib_room",
        ["room"],
        ["id"],
        onupdate="CASCADE",
        ondelete="SET NULL",
        deferrable=True,
        initially="DEFERRED",
    )
    op.create_check_constraint("lib_shelf_length", "lib_shelf", sa.column("length") > 0)
    op.create_check_constraint("lib_shelf_boards", "lib_shelf", "boards BETWEEN 1 AND 20", postgresql_not_valid=True)
    op.execute("ALTER TABLE lib_shelf VALIDATE CONSTRAINT lib_shelf_boards")
    op.create_unique_constraint("lib_room_name", "lib_room", ["name"], deferrable=True)
    op.create_unique_constraint("lib_room_place", "lib_room", ["floor", "name"], postgresql_nulls_not_distinct=True)
    op.drop_constraint("lib_shelf_pkey", "lib_shelf", type_="primary")
    op.create_primary_key("lib_shelf_key", "lib_shelf", ["id", "boards"])


def downgrade():
    op.drop_constraint("lib_shelf_key", "lib_shelf", type_="primary")
    op.create_primary_key("lib_shelf_pkey", "lib_shelf", ["id"])
    for table, name in {
        "lib_room_place": "lib_room",
        "lib_room_name": "lib_room",
        "lib_shelf_boards": "lib_shelf",
        "lib_shelf_length": "lib_shelf",
    }.items():
        op.drop_constraint(table, name)
    op.drop_constraint("lib_shelf_room", "lib_shelf", type_="foreignkey")
