package chaos

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"
)

// patience is longer than the longest possible call with a lost upstream, and longer than petrigate
// takes to start and to end, even on a busy machine.
const patience = 3 * time.Minute

// A load consists of the clients and their observations.
type load struct {
	options *options
	plant   *plant
	ledger  *ledger

	reached  sync.Map // names of the upstreams that have executed something
	nonces   atomic.Int64
	sessions atomic.Int64

	rest    sync.RWMutex // held for writing during pauses
	resting atomic.Bool
}

func newLoad(o *options, p *plant) *load {
	return &load{options: o, plant: p, ledger: newLedger()}
}

// run lets the clients work except during three pauses. It returns the figures measured in the
// pauses.
func (l *load) run(ctx context.Context) []figure {
	ctx, stop := context.WithCancel(ctx)
	var actors sync.WaitGroup
	for i := range l.options.clients {
		actors.Go(func() { l.act(ctx, i) })
	}
	var figures []figure
	part := l.options.duration / 10
	for _, phase := range []struct {
		when string
		span time.Duration
	}{{"start", 2 * part}, {"middle", 4 * part}, {"end", 4 * part}} {
		if !wait(ctx, phase.span) {
			break
		}
		if phase.when == "end" {
			l.awaitReached(ctx)
		}
		l.resting.Store(true)
		l.rest.Lock()
		figures = append(figures, l.plant.measure(ctx, phase.when))
		l.resting.Store(false)
		if phase.when == "end" {
			stop()
		}
		l.rest.Unlock()
	}
	stop()
	actors.Wait()
	return figures
}

// awaitReached lets the clients continue until each upstream has executed something. On a slow
// machine, this may exceed the intended duration of the load.
func (l *load) awaitReached(ctx context.Context) {
	began := time.Now()
	for i := range l.options.upstreams {
		for time.Since(began) < patience {
			if _, ok := l.reached.Load(name(i)); ok || !wait(ctx, 100*time.Millisecond) {
				break
			}
		}
	}
}

// act is a client: it runs one session after another until ctx ends.
func (l *load) act(ctx context.Context, i int) {
	a := &actor{load: l, dice: newDice(l.options.seed, "client", fmt.Sprint(i)), stdio: i < l.options.stdio, modern: i%2 == 1}
	for wait(ctx, a.dice.about(l.options.pause)) {
		l.rest.RLock()
		if ctx.Err() == nil {
			a.session(ctx, fmt.Sprintf("client%d", i))
		}
		l.rest.RUnlock()
	}
}

// An actor is a client with its habits.
type actor struct {
	load          *load
	dice          *dice
	stdio, modern bool
	client        client
	group         string // identifies the calls that share budgets
	ids           atomic.Int64
}

// session runs one session from start to end.
func (a *actor) session(ctx context.Context, label string) {
	l := a.load
	var err error
	a.group = fmt.Sprintf("%s-%d", label, l.sessions.Add(1))
	if a.stdio {
		a.client, err = dialStdio(ctx, l.plant, label, a.modern, l.ledger.wrong)
	} else {
		a.client, err = dialHTTP(ctx, l.plant.url, a.modern)
		if a.modern {
			a.group = "modern" // all of these clients share one principal and have no sessions
		}
	}
	if err != nil {
		l.ledger.wrong(fmt.Sprintf("%s: %v", label, err))
		return
	}
	steps := 10 + a.dice.n(100)
	if a.stdio {
		steps *= 5 // each of these sessions is a process with children of its own
	}
	for range steps {
		if l.resting.Load() || !wait(ctx, a.dice.about(l.options.pause)) {
			break
		}
		a.step(ctx)
	}
	if err := a.client.close(); err != nil {
		l.ledger.wrong(fmt.Sprintf("%s: %v", label, err))
	}
}

// step makes one call, sometimes several at once, or sometimes requests a list.
func (a *actor) step(ctx context.Context) {
	switch n := a.dice.n(20); {
	case n == 0:
		a.list()
	case n < 3:
		var calls sync.WaitGroup
		for range 2 + a.dice.n(4) {
			calls.Go(func() { a.call(a.pick()) })
		}
		calls.Wait()
	default:
		a.call(a.pick())
	}
}

// pick returns a random tool by its exposed name.
func (a *actor) pick() (upstream, tool string) {
	n := a.load.options.upstreams
	any, last := name(a.dice.n(n)), name(n-1)
	of := map[string]string{
		toolSend: "u1", toolRefresh: last, toolBackup: "u2", toolDelete: "u2",
		toolBuild: "u3", toolTest: "u3", toolDeploy: "u3",
	}
	tools := []string{
		toolEcho, toolEcho, toolEcho, toolEcho, toolPay, toolForbidden, toolSend, toolSend, toolRefresh, toolTick, toolTick,
		toolBackup, toolDelete, toolDelete, toolBuild, toolTest, toolDeploy,
	}
	tool = tools[a.dice.n(len(tools))]
	upstream = of[tool]
	switch {
	case upstream == "":
		upstream = any
	case (tool == toolBackup || tool == toolDelete) && a.dice.n(2) == 0:
		upstream = last
	}
	return upstream, tool
}

func (a *actor) list() {
	ctx, stop := context.WithTimeout(context.Background(), patience)
	defer stop()
	r, err := a.client.request(ctx, int(a.ids.Add(1)), "tools/list", "", "")
	if err != nil || r.Result == nil {
		a.load.ledger.wrong(fmt.Sprintf("tools/list: %v %s", err, r.Error))
	}
}

// call makes a call, which the client may cancel, and records what the client is told.
func (a *actor) call(upstream, tool string) {
	c := &call{nonce: fmt.Sprintf("n%d", a.load.nonces.Add(1)), group: a.group, upstream: upstream, tool: tool}
	args := fmt.Sprintf(`{"nonce":%q}`, c.nonce)
	a.load.ledger.book(c, args)
	ctx, stop := context.WithTimeout(context.Background(), patience)
	if a.dice.n(25) == 0 {
		c.impatient = true
		ctx, stop = context.WithTimeout(context.Background(), a.dice.span(time.Millisecond, 50*time.Millisecond))
	}
	defer stop()
	exposed := upstream + "_" + tool
	r, err := a.client.request(ctx, int(a.ids.Add(1)), "tools/call", exposed, fmt.Sprintf(`"name":%q,"arguments":%s`, exposed, args))
	switch {
	case err != nil && c.impatient && errors.Is(err, context.DeadlineExceeded) && !errors.Is(err, errWrong):
		c.fate = cancelled
	case err != nil:
		c.fate = lost
		a.load.ledger.wrong(fmt.Sprintf("%s %s of %s: %v", c.nonce, exposed, c.group, err))
	default:
		if wrong := c.told(r); wrong != "" {
			a.load.ledger.wrong(fmt.Sprintf("%s %s of %s: %s", c.nonce, exposed, c.group, wrong))
		}
		if c.fate == succeeded {
			a.load.reached.Store(upstream, true)
		}
	}
}
