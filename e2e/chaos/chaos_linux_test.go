package chaos

import (
	"context"
	"flag"
	"os"
	"testing"
	"time"

	"github.com/petrigate/petrigate/internal/testbinary"
)

// options contains the flags of TestChaos and data derived from them for one run.
type options struct {
	duration  time.Duration
	upstreams int
	clients   int
	stdio     int
	pause     time.Duration
	seed      uint64
	keep      bool

	petrigate string // path of the binary
	dir       string
}

var flags = func() *options {
	o := &options{}
	flag.DurationVar(&o.duration, "duration", 0, "how long the load lasts; 0: TestChaos is skipped")
	flag.IntVar(&o.upstreams, "upstreams", 8, "upstreams, half of them over stdio and half over HTTP; at least 4")
	flag.IntVar(&o.clients, "clients", 64, "clients at once")
	flag.IntVar(&o.stdio, "stdio", 4, "how many of the clients start a petrigate of their own over stdio")
	flag.DurationVar(&o.pause, "pause", 80*time.Millisecond, "of a client between two steps, on average")
	flag.Uint64Var(&o.seed, "seed", 1, "of everything that is random")
	flag.BoolVar(&o.keep, "keep", false, "keep the directory of the run, with all logs")
	return o
}()

// TestMain runs an upstream if the test binary was started as one.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == upstreamVerb {
		os.Exit(upstreamMain(context.Background(), os.Args[2:]))
	}
	os.Exit(m.Run())
}

// TestChaos runs a load for the time given by -duration, and fails for each violation; see the
// package comment.
func TestChaos(t *testing.T) {
	o := *flags
	if o.duration == 0 {
		t.Skip("-duration 20s runs it for so long")
	}
	if o.upstreams < 4 || o.clients < o.stdio {
		t.Fatal("at least 4 upstreams, and no more clients over stdio than there are clients")
	}
	o.petrigate = testbinary.Path(t)
	var err error
	if o.dir, err = os.MkdirTemp("/tmp", "petrigate-chaos-"); err != nil { // the path must be short because the directory contains sockets
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if o.keep || t.Failed() {
			t.Log("the logs are in", o.dir)
		} else {
			_ = os.RemoveAll(o.dir)
		}
	})
	p, err := newPlant(t.Context(), &o)
	if err != nil {
		t.Fatal(err)
	}
	defer p.close()
	l := newLoad(&o, p)
	figures := l.run(t.Context())
	p.close()
	judge(l, p, figures).print(t, &o, l, p)
}
