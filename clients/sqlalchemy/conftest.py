"""Takes the suite's plugin in. Its extensions of PostgreSQL, citext and hstore, are not asked for,
and tables are made without comments, which Freestone does not keep."""

import pytest

pytest.register_assert_rewrite("sqlalchemy.testing.assertions")

from sqlalchemy.testing.plugin.pytestplugin import *  # noqa: E402, F403
from sqlalchemy.dialects.postgresql import base, provision  # noqa: E402

provision.post_configure_engine.fns.pop("postgresql")
base.PGDialect.supports_comments = False
base.PGDialect.supports_constraint_comments = False
