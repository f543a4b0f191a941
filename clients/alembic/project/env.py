"""Run by Alembic: revisions run in a transaction each, and are found out for tables of the library only."""

import sqlalchemy
from alembic import context

import models

configuration = context.config
options = {
    "target_metadata": models.METADATA[configuration.attributes.get("stage", "none")],
    "compare_type": True,
    "compare_server_default": True,
    "include_name": lambda name, kind, parents: kind != "table" or name.startswith("lib_"),
    "transaction_per_migration": True,
    "version_table": "lib_version",
    **configuration.attributes.get("options", {}),
}

if context.is_offline_mode():
    context.configure(url="postgresql+psycopg://", literal_binds=True, **options)
    with context.begin_transaction():
        context.run_migrations()
else:
    engine = sqlalchemy.create_engine("postgresql+psycopg://", poolclass=sqlalchemy.NullPool)
    with engine.connect() as connection:
        context.configure(connection=connection, **options)
        with context.begin_transaction():
            context.run_migrations()
