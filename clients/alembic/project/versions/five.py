"""Other names of tables, comments, and columns that the database fills."""

import sqlalchemy as sa
from alembic import op

revision = "five"
down_revision = "four"


def upgrade():
    op.rename_table("lib_shelf", "lib_rack")
    op.execute("ALTER SEQUENCE lib_shelf_id_seq RENAME TO lib_rack_id_seq")
    op.execute("ALTER INDEX lib_shelf_long RENAME TO lib_rack_long")
    op.execute("ALTER TABLE lib_rack RENAME CONSTRAINT lib_shelf_length TO lib_rack_length")
    op.create_table_comment("lib_rack", "holds books", existing_comment=None)
    op.create_table_comment("lib_room", "it's a room")
    op.drop_table_comment("lib_room", existing_comment="it's a room")
    op.alter_column("lib_rack", "boards", comment="how many")
    op.add_column("lib_rack", sa.Column("area", sa.Numeric, sa.Computed("length * boards", persisted=True)))
    op.add_column("lib_rack", sa.Column("number", sa.Integer, sa.Identity(start=10, increment=5), nullable=False))
    op.add_column("lib_room", sa.Column("changed", sa.DateTime(timezone=True), server_default=sa.func.now()))
    op.add_column("lib_room", sa.Column("parent", sa.Integer, sa.ForeignKey("lib_room.id", name="lib_room_parent")))
    op.execute(sa.schema.CreateSequence(sa.Sequence("lib_numbers", start=7)))
    op.alter_column("lib_room", "parent", server_default=sa.text("NULL"))
    op.execute("CREATE VIEW lib_halls AS SELECT name FROM lib_room WHERE kind = 'hall'")


def downgrade():
    op.execute("DROP VIEW lib_halls")
    op.execute(sa.schema.DropSequence(sa.Sequence("lib_numbers")))
    op.drop_column("lib_room", "parent")
    op.drop_column("lib_room", "changed")
    op.drop_column("lib_rack", "number")
    op.drop_column("lib_rack", "area")
    op.alter_column("lib_rack", "boards", comment=None)
    op.drop_table_comment("lib_rack", existing_comment="holds books")
    op.execute("ALTER TABLE lib_rack RENAME CONSTRAINT lib_rack_length TO lib_shelf_length")
    op.execute("ALTER INDEX lib_rack_long RENAME TO lib_shelf_long")
    op.execute("ALTER SEQUENCE lib_rack_id_seq RENAME TO lib_shelf_id_seq")
    op.rename_table("lib_rack", "lib_shelf")
