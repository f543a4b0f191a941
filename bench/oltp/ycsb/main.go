// YCSB's core workloads against a server of PostgreSQL's protocol, by the packages of go-ycsb.
//
// Its own program brings the drivers of some twenty databases with it, which take minutes to build.
// This one has PostgreSQL's alone.
//
//	ycsb load pg.port=5432 recordcount=100000
//	ycsb run pg.port=5432 recordcount=100000 readproportion=0.5 updateproportion=0.5
//
// The last lines are go-ycsb's: one for each kind of operation, and TOTAL.
package main

import (
	"context"
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/magiconair/properties"
	_ "github.com/pingcap/go-ycsb/db/pg"
	"github.com/pingcap/go-ycsb/pkg/client"
	"github.com/pingcap/go-ycsb/pkg/measurement"
	"github.com/pingcap/go-ycsb/pkg/prop"
	_ "github.com/pingcap/go-ycsb/pkg/workload"
	"github.com/pingcap/go-ycsb/pkg/ycsb"
)

// run does the work that the properties describe.
func run(command string, given []string) error {
	settings := properties.NewProperties()
	for _, setting := range given {
		name, value, ok := strings.Cut(setting, "=")
		if !ok {
			return fmt.Errorf("%q is not name=value", setting)
		}
		if _, _, err := settings.Set(name, value); err != nil {
			return err
		}
	}
	settings.Set(prop.TableName, settings.GetString(prop.TableName, prop.TableNameDefault))
	settings.Set(prop.DoTransactions, strconv.FormatBool(command == "run"))
	settings.Set(prop.Command, command)
	measurement.InitMeasure(settings)
	measurement.EnableWarmUp(false)
	workload, err := ycsb.GetWorkloadCreator("core").Create(settings)
	if err != nil {
		return err
	}
	defer workload.Close()
	database, err := ycsb.GetDBCreator("pg").Create(settings)
	if err != nil {
		return err
	}
	database = client.DbWrapper{DB: database}
	defer database.Close()
	ctx := context.Background()
	if seconds := settings.GetInt64(prop.MaxExecutiontime, 0); seconds > 0 {
		limited, cancel := context.WithTimeout(ctx, time.Duration(seconds)*time.Second)
		defer cancel()
		ctx = limited
	}
	client.NewClient(settings, workload, database).Run(ctx)
	measurement.Output()
	return nil
}

func main() {
	if len(os.Args) < 2 || os.Args[1] != "load" && os.Args[1] != "run" {
		fmt.Fprintln(os.Stderr, "usage: ycsb load|run [name=value]…")
		os.Exit(2)
	}
	if err := run(os.Args[1], os.Args[2:]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
