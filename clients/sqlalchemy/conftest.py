"""Takes the suite's plugin in. Its extensions of PostgreSQL, citext and hstore, are not asked for."""

import pytest

pytest.register_assert_rewrite("sqlalchemy.testing.assertions")

from sqlalchemy.testing.plugin.pytestplugin import *  # noqa: E402, F403
from sqlalchemy.dialects.postgresql import provision  # noqa: E402

provision.post_configure_engine.fns.pop("postgresql")
