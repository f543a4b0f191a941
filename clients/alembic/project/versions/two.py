"""Other types, defaults and names of columns."""

import sqlalchemy as sa
from alembic import op

revision = "two"
down_revision = "one"


def upgrade():
    op.alter_column("lib_room", "floor", server_default=None)
    op.alter_column("lib_room", "floor", type_=sa.Integer, postgresql_using="floor::integer")
    op.alter_column("lib_room", "floor", server_default=sa.text("0"))
    with op.batch_alter_table("lib_shelf") as batch:
        batch.alter_column("length", type_=sa.Numeric(6, 1), existing_type=sa.Float)
        batch.alter_column(
            "opened", type_=sa.Date, existing_comment="a day", postgresql_using="opened::date", comment="the day"
        )
        batch.alter_column("room_id", new_column_name="room", existing_type=sa.Integer)
        batch.add_column(sa.Column("boards", sa.SmallInteger, server_default="4", nullable=False))
    op.alter_column("lib_shelf", "boards", server_default="5")
    op.alter_column("lib_room", "name", type_=sa.Text, nullable=True, existing_type=sa.String(20))


def downgrade():
    op.execute("UPDATE lib_room SET name = 'none' WHERE name IS NULL")
    op.alter_column("lib_room", "name", type_=sa.String(20), nullable=False, existing_type=sa.Text)
    with op.batch_alter_table("lib_shelf") as batch:
        batch.drop_column("boards")
        batch.alter_column("room", new_column_name="room_id", existing_type=sa.Integer)
        batch.alter_column("opened", type_=sa.String(10), existing_comment="the day", comment="a day")
        batch.alter_column("length", type_=sa.Float, existing_type=sa.Numeric(6, 1))
    op.alter_column("lib_room", "floor", server_default=None)
    op.alter_column("lib_room", "floor", type_=sa.String(5), postgresql_using="floor::text")
    op.alter_column("lib_room", "floor", server_default="0")
