package chaos

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"hash/fnv"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/petrigate/petrigate/internal/testserver"
)

// upstreamVerb makes the test binary run one of its own upstreams.
const upstreamVerb = "upstream"

// upstreamMain runs an upstream that misbehaves and records every execution.
func upstreamMain(ctx context.Context, args []string) int {
	flags := flag.NewFlagSet(upstreamVerb, flag.ContinueOnError)
	name := flags.String("name", "", "")
	records := flags.String("record", "", "the beginning of the names of files with records")
	addr := flags.String("http", "", "")
	seed := flags.Uint64("seed", 0, "")
	calm := flags.Duration("calm", 10*time.Second, "between two tempers, on average")
	if err := flags.Parse(args); err != nil {
		return 2
	}
	// Process IDs may be reused within ten minutes, but file names must be unique.
	f, err := os.CreateTemp(filepath.Dir(*records), filepath.Base(*records)+".*")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	b := &beast{dice: newDice(*seed, *name, fmt.Sprint(os.Getpid()))}
	write := testserver.RecordTo(f)
	b.server = testserver.New(testserver.Options{Name: *name, Tools: b.tools(), PageSize: 5, Record: func(r testserver.Record) {
		if r.Kind == testserver.Executed {
			write(r)
		}
	}})
	go b.tempers(*calm)
	if *addr == "" {
		err = b.server.ServeStdio(ctx, &pausing{in: os.Stdin, pause: &b.deaf}, os.Stdout)
	} else {
		go func() { // ends together with the program that has started it
			_, _ = io.Copy(io.Discard, os.Stdin)
			os.Exit(0)
		}()
		err = b.server.Listen(ctx, *addr, nil)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return 0
}

// A dice generates random values. It is safe for concurrent use.
type dice struct {
	mu sync.Mutex
	r  *rand.Rand
}

// newDice returns a dice that generates the same values for the same seed and names.
func newDice(seed uint64, names ...string) *dice {
	h := fnv.New64()
	_, _ = io.WriteString(h, strings.Join(names, "/"))
	return &dice{r: rand.New(rand.NewPCG(seed, h.Sum64()))}
}

func (d *dice) n(n int) int {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.r.IntN(n)
}

func (d *dice) span(least, most time.Duration) time.Duration {
	return least + time.Duration(d.n(int(most-least)))
}

// about returns a random duration with the given mean.
func (d *dice) about(mean time.Duration) time.Duration {
	d.mu.Lock()
	defer d.mu.Unlock()
	return time.Duration(d.r.ExpFloat64() * float64(mean))
}

// wait waits for span. It returns false if ctx ends first.
func wait(ctx context.Context, span time.Duration) bool {
	t := time.NewTimer(span)
	defer t.Stop()
	select {
	case <-t.C:
		return true
	case <-ctx.Done():
		return false
	}
}

// A beast is an unreliable upstream.
type beast struct {
	dice   *dice
	server *testserver.Server
	deaf   sync.Mutex // held while it does not read
}

// tools returns the same tools for each upstream. The policy determines how they are used.
func (b *beast) tools() []testserver.Tool {
	var tools []testserver.Tool
	for _, name := range []string{toolEcho, toolPay, toolForbidden, toolSend, toolRefresh, toolTick, toolBackup, toolDelete, toolBuild, toolTest, toolDeploy} {
		tools = append(tools, testserver.Tool{Name: name, Description: "Says " + name + ".", Run: b.execute})
	}
	return tools
}

// execute answers with the call's nonce, usually at once.
func (b *beast) execute(ctx context.Context, c *testserver.Call) (json.RawMessage, error) {
	result := testserver.Text(c.Text("nonce"))
	switch n := b.dice.n(1000); {
	case n < 2:
		os.Exit(1)
	case n < 5:
		<-ctx.Done() // hangs until it is canceled, if ever
		return nil, ctx.Err()
	case n < 35:
		wait(context.Background(), b.dice.span(20*time.Millisecond, 600*time.Millisecond)) // continues whatever the client says
	case n < 40:
		wait(context.Background(), b.dice.span(2*time.Second, 4*time.Second)) // longer than the timeout
	case n < 60:
		c.Send([]byte(fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":%s}`, c.ID, result)))
	case n < 70:
		for i := range 300 {
			c.Log("info", "flood")
			c.Progress(i, 300)
		}
	case n < 80:
		complain(200)
	case n < 130:
		return testserver.Failed(c.Text("nonce")), nil
	case n < 150:
		return nil, &testserver.Error{Code: -32000, Message: c.Text("nonce")}
	}
	return result, nil
}

func complain(lines int) {
	line := strings.Repeat("x", 200) + "\n"
	for range lines {
		_, _ = os.Stderr.WriteString(line)
	}
}

// tempers makes the upstream misbehave spontaneously.
func (b *beast) tempers(calm time.Duration) {
	for wait(context.Background(), b.dice.about(calm)) {
		switch b.dice.n(5) {
		case 0:
			os.Exit(1)
		case 1:
			b.deaf.Lock()
			wait(context.Background(), b.dice.span(time.Second, 4*time.Second))
			b.deaf.Unlock()
		case 2:
			complain(20_000)
		default:
			for range 50 {
				b.server.AddTool(testserver.Tool{Name: "extra", Run: b.execute})
				b.server.RemoveTool("extra")
			}
		}
	}
}

// A pausing reads from in, but waits while pause is held.
type pausing struct {
	in    io.Reader
	pause *sync.Mutex
}

func (p *pausing) Read(b []byte) (int, error) {
	n, err := p.in.Read(b)
	p.pause.Lock()
	defer p.pause.Unlock() // only waits for the lock
	return n, err
}
