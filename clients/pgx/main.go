// Go's pgx against the server: values, batches, COPY, transactions, errors, a pool.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"reflect"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"
)

var where = "postgres://tester@127.0.0.1:" + os.Getenv("FREESTONE_PORT") + "/freestone?sslmode=disable"

type test struct {
	name string
	run  func(context.Context, *pgx.Conn) error
}

func same(found, wanted any) error {
	if reflect.DeepEqual(found, wanted) {
		return nil
	}
	return fmt.Errorf("found %#v, wanted %#v", found, wanted)
}

func code(err error, wanted string) error {
	var known *pgconn.PgError
	if errors.As(err, &known) && known.Code == wanted {
		return nil
	}
	return fmt.Errorf("wanted %s, got %v", wanted, err)
}

func run(ctx context.Context, c *pgx.Conn, texts ...string) error {
	for _, text := range texts {
		if _, err := c.Exec(ctx, text); err != nil {
			return fmt.Errorf("%s: %w", text, err)
		}
	}
	return nil
}

type row struct {
	K int32
	L int64
	S int16
	T string
	B bool
	F float64
	Y []byte
	D time.Time
	P *string
}

func values(ctx context.Context, c *pgx.Conn) error {
	err := run(ctx, c, "DROP TABLE IF EXISTS gv",
		"CREATE TABLE gv (k INT, l BIGINT, s SMALLINT, t TEXT, b BOOLEAN, f DOUBLE PRECISION, y BYTEA, d TIMESTAMP, p TEXT)")
	if err != nil {
		return err
	}
	day := time.Date(2024, 2, 29, 1, 2, 3, 4000, time.UTC)
	in := row{1, 1 << 40, -7, "wörd 'q'", true, 0.125, []byte{0, 255}, day, nil}
	for _, mode := range []pgx.QueryExecMode{pgx.QueryExecModeCacheStatement, pgx.QueryExecModeDescribeExec, pgx.QueryExecModeExec, pgx.QueryExecModeSimpleProtocol} {
		if err := run(ctx, c, "DELETE FROM gv"); err != nil {
			return err
		}
		_, err = c.Exec(ctx, "INSERT INTO gv VALUES ($1,$2,$3,$4,$5,$6,$7,$8,$9)", mode, in.K, in.L, in.S, in.T, in.B, in.F, in.Y, in.D, in.P)
		if err != nil {
			return fmt.Errorf("mode %v: %w", mode, err)
		}
		rows, err := c.Query(ctx, "SELECT * FROM gv WHERE t = $1", mode, in.T)
		if err != nil {
			return err
		}
		found, err := pgx.CollectOneRow(rows, pgx.RowToStructByPos[row])
		if err != nil {
			return fmt.Errorf("mode %v: %w", mode, err)
		}
		if err := same(found, in); err != nil {
			return fmt.Errorf("mode %v: %w", mode, err)
		}
	}
	return nil
}

func numerics(ctx context.Context, c *pgx.Conn) error {
	var text string
	var day time.Time
	var id [16]byte
	err := c.QueryRow(ctx, "SELECT CAST(-1234.500 AS DECIMAL(12,3))::text, DATE '1999-12-31', CAST('00112233-4455-6677-8899-aabbccddeeff' AS UUID)").Scan(&text, &day, &id)
	if err != nil {
		return err
	}
	if err := same(day, time.Date(1999, 12, 31, 0, 0, 0, 0, time.UTC)); err != nil {
		return err
	}
	return errors.Join(same(text, "-1234.500"), same(id[15], byte(0xff)))
}

func batches(ctx context.Context, c *pgx.Conn) error {
	if err := run(ctx, c, "DROP TABLE IF EXISTS gb", "CREATE TABLE gb (k INT PRIMARY KEY, v TEXT)"); err != nil {
		return err
	}
	batch := &pgx.Batch{}
	for number := range 100 {
		batch.Queue("INSERT INTO gb VALUES ($1, $2)", number, fmt.Sprint("v", number))
	}
	batch.Queue("SELECT count(*) FROM gb")
	results := c.SendBatch(ctx, batch)
	for range 100 {
		if _, err := results.Exec(); err != nil {
			return err
		}
	}
	var count int64
	if err := results.QueryRow().Scan(&count); err != nil {
		return err
	}
	return errors.Join(results.Close(), same(count, int64(100)))
}

func copies(ctx context.Context, c *pgx.Conn) error {
	if err := run(ctx, c, "DROP TABLE IF EXISTS gc", "CREATE TABLE gc (k INT, v TEXT, f DOUBLE PRECISION)"); err != nil {
		return err
	}
	from := pgx.CopyFromSlice(1000, func(i int) ([]any, error) { return []any{i, fmt.Sprint("v", i), float64(i) / 2}, nil })
	count, err := c.CopyFrom(ctx, pgx.Identifier{"gc"}, []string{"k", "v", "f"}, from)
	if err != nil {
		return err
	}
	var sum float64
	if err := c.QueryRow(ctx, "SELECT sum(f) FROM gc").Scan(&sum); err != nil {
		return err
	}
	return errors.Join(same(count, int64(1000)), same(sum, 249750.0))
}

func transactions(ctx context.Context, c *pgx.Conn) error {
	if err := run(ctx, c, "DROP TABLE IF EXISTS gt", "CREATE TABLE gt (k INT PRIMARY KEY)"); err != nil {
		return err
	}
	outer, err := c.Begin(ctx)
	if err != nil {
		return err
	}
	if _, err := outer.Exec(ctx, "INSERT INTO gt VALUES (1)"); err != nil {
		return err
	}
	inner, err := outer.Begin(ctx)
	if err != nil {
		return err
	}
	_, failed := inner.Exec(ctx, "INSERT INTO gt VALUES (1)")
	if err := errors.Join(code(failed, "23505"), inner.Rollback(ctx), outer.Commit(ctx)); err != nil {
		return err
	}
	var count int64
	if err := c.QueryRow(ctx, "SELECT count(*) FROM gt").Scan(&count); err != nil {
		return err
	}
	_, missing := c.Exec(ctx, "SELECT * FROM nowhere")
	return errors.Join(same(count, int64(1)), code(missing, "42P01"))
}

func cancelled(ctx context.Context, c *pgx.Conn) error {
	short, stop := context.WithTimeout(ctx, 300*time.Millisecond)
	defer stop()
	begin := time.Now()
	_, err := c.Exec(short, "SELECT count(*) FROM generate_series(1, 1000000000000) AS g(value) WHERE value % 7 = 8")
	if err == nil || time.Since(begin) > 5*time.Second {
		return fmt.Errorf("not stopped in time: %v", err)
	}
	return nil
}

func lists(ctx context.Context, c *pgx.Conn) error {
	rows, err := c.Query(ctx, "SELECT value FROM generate_series(1, 9) AS g(value) WHERE value = ANY($1::bigint[]) ORDER BY 1", []int64{2, 7, 11})
	if err != nil {
		return err
	}
	found, err := pgx.CollectRows(rows, pgx.RowTo[int64])
	if err != nil {
		return err
	}
	return same(found, []int64{2, 7})
}

func pool(ctx context.Context, _ *pgx.Conn) error {
	pool, err := pgxpool.New(ctx, where+"&pool_max_conns=4")
	if err != nil {
		return err
	}
	defer pool.Close()
	var wait sync.WaitGroup
	failures := make(chan error, 40)
	for number := range 40 {
		wait.Add(1)
		go func() {
			defer wait.Done()
			var twice int32
			err := pool.QueryRow(ctx, "SELECT $1::int * 2::int", number).Scan(&twice)
			failures <- errors.Join(err, same(twice, int32(number*2)))
		}()
	}
	wait.Wait()
	close(failures)
	var all error
	for err := range failures {
		all = errors.Join(all, err)
	}
	return all
}

func main() {
	tests := []test{
		{"values come back in every mode", values}, {"numbers, days, identifiers", numerics}, {"batches", batches},
		{"rows are copied in, in binary", copies}, {"transactions and errors", transactions}, {"cancelling", cancelled},
		{"lists of values as one parameter", lists}, {"a pool", pool},
	}
	passed, failed := 0, 0
	for _, test := range tests {
		ctx, stop := context.WithTimeout(context.Background(), time.Minute)
		c, err := pgx.Connect(ctx, where)
		if err == nil {
			err = test.run(ctx, c)
			c.Close(ctx)
		}
		stop()
		if err != nil {
			failed++
			fmt.Printf("pgx: %s: FAILED: %v\n", test.name, err)
			continue
		}
		passed++
	}
	fmt.Printf("%d passed, %d failed, 0 skipped\n", passed, failed)
	if failed > 0 {
		os.Exit(1)
	}
}
