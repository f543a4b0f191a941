"""The compliance suite of PEP 249."""

import dbapi20
import freestone


class TestCompliance(dbapi20.DatabaseAPI20Test):
    driver = freestone
    connect_args = ()
    connect_kw_args = {"database": ":memory:"}

    def setUp(self):
        # Every connection to memory is a database of its own: the suite needs one that
        # outlives its connections.
        import tempfile

        self.folder = tempfile.TemporaryDirectory()
        self.connect_kw_args = {"database": self.folder.name + "/db"}
        super().setUp()

    def tearDown(self):
        super().tearDown()
        self.folder.cleanup()

    def test_non_idempotent_close(self):
        # "Reasonable persons differ", says the suite. As in the standard library's sqlite3
        # a connection may be closed twice; test_connection.py holds that.
        pass

    def test_nextset(self):
        # Optional in PEP 249: a statement has one result here.
        con = self._connect()
        try:
            assert not hasattr(con.cursor(), "nextset")
        finally:
            con.close()

    def test_setoutputsize(self):
        con = self._connect()
        try:
            con.cursor().setoutputsize(1000)
            con.cursor().setoutputsize(2000, 0)
        finally:
            con.close()


class TestComplianceWithTransactions(TestCompliance):
    """The same where transactions begin by themselves."""

    def _connect(self):
        return freestone.connect(autocommit=False, **self.connect_kw_args)
