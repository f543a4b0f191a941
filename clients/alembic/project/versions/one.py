"""Tables, an enumeration and the first rows."""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

revision = "one"
down_revision = None


def upgrade():
    room = op.create_table(
        "lib_room",
        sa.Column("id", sa.Integer, primary_key=True),
        sa.Column("name", sa.String(20), nullable=False),
        sa.Column("floor", sa.String(5), nullable=False, server_default="0"),
        sa.Column("kind", sa.Enum("reading", "store", name="lib_room_kind")),
    )
    op.create_table(
        "lib_shelf",
        sa.Column("id", sa.Integer, primary_key=True),
        sa.Column("room_id", sa.Integer),
        sa.Column("length", sa.Float),
        sa.Column("opened", sa.String(10), comment="a day"),
    )
    op.bulk_insert(
        room,
        [
            {"id": 1, "name": "big", "floor": "2", "kind": "reading"},
            {"id": 2, "name": "small", "floor": "-1", "kind": "store"},
        ],
    )
    op.execute("SELECT setval('lib_room_id_seq', 2)")
    op.execute("INSERT INTO lib_shelf (room_id, length, opened) VALUES (1, 1.25, '2024-02-29'), (NULL, NULL, NULL)")


def downgrade():
    op.drop_table("lib_shelf")
    op.drop_table("lib_room")
    postgresql.ENUM(name="lib_room_kind").drop(op.get_bind())
