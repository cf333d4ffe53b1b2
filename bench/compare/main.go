// Command compare runs the benchmark of MCP proxies and prints a table in Markdown. The table shows
// what a call costs through petrigate (with default settings, and with the memory driver) and
// through a naive proxy, relative to the thinnest possible relay (floor). It also shows the goals
// and whether they are met.
//
//	compare -config petrigate.json -harness mcpbench [-rounds N] [-duration D] [-only S1,S3] [-dir DIR] [-out FILE]
//	compare flush DIR
//
// The second form measures the disk that contains DIR. For a scenario whose goal includes a flush,
// the harness runs this form in each round, so that flushes and calls are measured at about the
// same time.
package main

import (
	"flag"
	"fmt"
	"io"
	"os"
	"runtime"
	"strings"
	"time"
)

func main() {
	if err := run(os.Args[1:], os.Stdout, os.Stderr); err != nil {
		fmt.Fprintln(os.Stderr, "compare:", err)
		os.Exit(1)
	}
}

func run(args []string, stdout, stderr io.Writer) error {
	if len(args) == 2 && args[0] == "flush" {
		return writeFlush(args[1])
	}
	flags := flag.NewFlagSet("compare", flag.ContinueOnError)
	flags.SetOutput(stderr)
	h := harness{progress: stderr}
	flags.StringVar(&h.program, "harness", "mcpbench", "the `program` of the harness")
	flags.StringVar(&h.config, "config", "petrigate.json", "the `file` with the targets")
	flags.IntVar(&h.rounds, "rounds", 5, "interleaved rounds")
	flags.DurationVar(&h.duration, "duration", 2*time.Second, "measured time of each load")
	only := flags.String("only", defaultScenarios, "`scenarios`, comma-separated; S5 stands for S5a, S5b and S5c")
	dir := flags.String("dir", "/var/tmp", "where the files of the targets go: a `directory` on a disk, not in memory")
	out := flags.String("out", "", "the `file` for all samples as JSON, which the harness pools with others: mcpbench table FILE...")
	title := flags.String("title", "", "the `text` that the description of the run begins with, such as the commit")
	if err := flags.Parse(args); err != nil {
		return err
	}
	if flags.NArg() > 0 {
		return fmt.Errorf("unexpected argument %q", flags.Arg(0))
	}
	scenarios, err := choose(*only)
	if err != nil {
		return err
	}
	if err := h.prepare(*dir); err != nil {
		return err
	}
	var samples []sample
	for _, s := range scenarios {
		some, err := h.measure(s)
		if err != nil {
			return fmt.Errorf("%s: %w; logs are in %s", s.id, err, h.work)
		}
		samples = append(samples, some...)
	}
	if *out != "" {
		if err := writeSamples(*out, samples); err != nil {
			return err
		}
	}
	r := &report{samples: samples, about: fmt.Sprintf("%s%d processors, %s, %s; rounds of each scenario, interleaved: %d of %v",
		*title, runtime.NumCPU(), runtime.Version(), h.disk, h.rounds, h.duration)}
	r.write(stdout, scenarios)
	if bad := failures(samples); len(bad) > 0 {
		return fmt.Errorf("not every call succeeded, so the table is not to be trusted; logs are in %s:\n%s", h.work, strings.Join(bad, "\n"))
	}
	return os.RemoveAll(h.work)
}
