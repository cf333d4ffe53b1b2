package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"syscall"
	"time"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	code := run(ctx, os.Args[1:])
	stop()
	os.Exit(code)
}

// options are the flags.
type options struct {
	duration  time.Duration
	upstreams int
	clients   int
	stdio     int
	pause     time.Duration
	seed      uint64
	petrigate string
	dir       string
	keep      bool
}

func run(ctx context.Context, args []string) int {
	if len(args) > 0 && args[0] == upstreamVerb {
		return upstreamMain(ctx, args[1:])
	}
	var o options
	flags := flag.NewFlagSet("chaos", flag.ContinueOnError)
	flags.DurationVar(&o.duration, "duration", 10*time.Minute, "how long the load lasts")
	flags.IntVar(&o.upstreams, "upstreams", 8, "upstreams, half of them over stdio and half over HTTP; at least 4")
	flags.IntVar(&o.clients, "clients", 64, "clients at once")
	flags.IntVar(&o.stdio, "stdio", 4, "how many of the clients start a petrigate of their own over stdio")
	flags.DurationVar(&o.pause, "pause", 80*time.Millisecond, "of a client between two steps, on average")
	flags.Uint64Var(&o.seed, "seed", 1, "of everything that is random")
	flags.StringVar(&o.petrigate, "petrigate", "", "the binary to run; empty: built from this module")
	flags.BoolVar(&o.keep, "keep", false, "keep the directory of the run, with all logs")
	if flags.Parse(args) != nil || o.upstreams < 4 || o.clients < o.stdio {
		return 2
	}
	violations, err := o.run(ctx)
	switch {
	case err != nil:
		fmt.Fprintln(os.Stderr, "chaos:", err)
		return 1
	case violations > 0:
		return 1
	}
	return 0
}

// run prepares a directory, unleashes chaos in it, and judges what happened.
func (o *options) run(ctx context.Context) (violations int, err error) {
	if o.dir, err = os.MkdirTemp("", "petrigate-chaos-"); err != nil {
		return 0, err
	}
	defer func() {
		if o.keep || violations > 0 || err != nil {
			fmt.Println("the logs are in", o.dir)
		} else {
			_ = os.RemoveAll(o.dir)
		}
	}()
	if o.petrigate == "" {
		o.petrigate = filepath.Join(o.dir, "petrigate")
		build := exec.CommandContext(ctx, "go", "build", "-o", o.petrigate, "github.com/petrigate/petrigate/cmd/petrigate")
		if out, err := build.CombinedOutput(); err != nil {
			return 0, fmt.Errorf("building petrigate: %w\n%s", err, out)
		}
	}
	p, err := newPlant(ctx, o)
	if err != nil {
		return 0, err
	}
	defer p.close()
	l := newLoad(o, p)
	figures := l.run(ctx)
	p.close()
	v := judge(l, p, figures)
	v.print(o, l, p, figures)
	return len(v.found), nil
}
