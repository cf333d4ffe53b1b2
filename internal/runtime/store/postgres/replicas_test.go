package postgres_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/anishathalye/porcupine"

	"github.com/petrigate/petrigate/gate"
	"github.com/petrigate/petrigate/internal/runtime/admission"
	"github.com/petrigate/petrigate/internal/runtime/audit"
	"github.com/petrigate/petrigate/internal/runtime/store"
	"github.com/petrigate/petrigate/internal/runtime/store/backend"
	"github.com/petrigate/petrigate/internal/runtime/store/postgres"
	"github.com/petrigate/petrigate/internal/runtime/store/postgres/postgrestest"
	"github.com/petrigate/petrigate/rules"
)

const budget = 100

// shared is a policy with a budget per user, a budget per key, and a pipeline that runs one step at a
// time.
func shared(t *testing.T) *gate.Policy {
	t.Helper()
	f, errs := rules.Parse("r", []byte("limit x to 100 per user\nlimit z to 5 per user for each env\n"))
	if len(errs) > 0 {
		t.Fatal(errs)
	}
	c, err := rules.Compile(f)
	if err != nil {
		t.Fatal(err)
	}
	pipeline := gate.Net{
		Name: "pipeline", Scope: gate.ScopeGlobal, Places: []string{"idle", "built"}, Initial: map[string]int{"idle": 1},
		Transitions: []gate.Transition{
			{Name: "build", Inputs: []string{"idle"}, Outputs: []string{"built"}, Tools: gate.Tools("build"), Deferred: true},
			{Name: "deploy", Inputs: []string{"built"}, Outputs: []string{"idle"}, Tools: gate.Tools("deploy"), Deferred: true},
		},
	}
	p, err := gate.NewPolicy(append(c.Nets, pipeline), gate.PolicyOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// A replica is a process with its own ledger.
type replica struct {
	*store.Durable
	name  string
	proxy *postgrestest.Proxy
}

func newReplica(t testing.TB, name string, p *gate.Policy, b backend.Backend) *replica {
	t.Helper()
	l := store.NewDurable(t.Context(), store.DurableOptions{Backend: b, Policy: p})
	return &replica{Durable: l, name: name}
}

// begin opens a session of ann.
func (r *replica) begin(ctx context.Context, client int) (admission.Key, error) {
	k := admission.Key{Session: fmt.Sprint(r.name, "-", client), Principal: "ann"}
	return k, r.Open(ctx, admission.SessionInfo{Key: k, Since: time.Now()})
}

// admit decides a call and returns its number, or 0 if the call is refused.
func (r *replica) admit(ctx context.Context, k admission.Key, c gate.Call) (number uint64, err error) {
	err = admission.Update(ctx, r, k, func(s *gate.State) (admission.Change, error) {
		number = 0
		d, delta := s.Policy().Decide(s, c, nil)
		if a, ok := d.(*gate.Allow); ok {
			number = a.Ticket.Number
			return admission.Change{Delta: delta, Admits: true, Events: []audit.Event{audit.Decision{Time: time.Now(), Event: "decision", Session: k.Session, Call: number, Tool: c.Tool}}}, nil
		}
		return admission.Change{Delta: delta}, nil
	})
	if err != nil {
		number = 0
	}
	return number, err
}

// settle ends a call, however long the database is unavailable.
func (r *replica) settle(ctx context.Context, k admission.Key, number uint64, o gate.Outcome) error {
	for {
		err := admission.Update(ctx, r, k, func(s *gate.State) (admission.Change, error) {
			return admission.Change{Delta: s.Policy().Settle(s, number, o), Events: []audit.Event{audit.Outcome{Time: time.Now(), Event: "outcome", Session: k.Session, Call: number}}}, nil
		})
		if err == nil || ctx.Err() != nil {
			return err
		}
		r.recover(ctx)
	}
}

// recover waits until the database is available again.
func (r *replica) recover(ctx context.Context) {
	for r.Ready() != nil && ctx.Err() == nil {
		<-time.After(10 * time.Millisecond)
	}
}

// A history has the operations of clients on the budget, for the checker.
type history struct {
	clock atomic.Int64

	mu  sync.Mutex
	ops []porcupine.Operation
}

// Outputs of an operation; an operation is one call of x.
const (
	passed  = "passed"
	refused = "refused"
	unheard = "unheard"
)

// take runs one call and records it. If a call ends with an error, it is unknown when and whether
// it takes effect.
func (h *history) take(client int, f func() (uint64, error)) (number uint64, err error) {
	op := porcupine.Operation{ClientId: client, Call: h.clock.Add(1), Output: refused}
	number, err = f()
	op.Return = h.clock.Add(1)
	switch {
	case err != nil:
		op.Output, op.Return = unheard, math.MaxInt64
	case number != 0:
		op.Output = passed
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.ops = append(h.ops, op)
	return number, err
}

func (h *history) count(output string) (n int) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, op := range h.ops {
		if op.Output == output {
			n++
		}
	}
	return n
}

// drop omits the calls with the given output.
func (h *history) drop(output string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.ops = slices.DeleteFunc(h.ops, func(op porcupine.Operation) bool { return op.Output == output })
}

// check reports whether the history is linearizable: a single budget that calls use in some order,
// each of them between its beginning and its end.
func (h *history) check() porcupine.CheckResult {
	m := porcupine.NondeterministicModel{
		Init: func() []any { return []any{budget} },
		Step: func(state, _, output any) []any {
			switch left := state.(int); output {
			case passed:
				if left > 0 {
					return []any{left - 1}
				}
			case refused:
				if left == 0 {
					return []any{0}
				}
			case unheard:
				if left > 0 {
					return []any{left, left - 1}
				}
				return []any{0}
			}
			return nil
		},
	}
	return porcupine.CheckOperationsTimeout(m.ToModel(), h.ops, time.Minute)
}

// blind is a database that does not compare versions: the last writer wins.
type blind struct{ backend.Backend }

func (b blind) Commit(ctx context.Context, ops []*backend.Op) error {
	for _, op := range ops {
		for {
			if err := b.Backend.Commit(ctx, []*backend.Op{op}); err != nil || !errors.Is(op.Err, backend.ErrStale) {
				break
			}
			for i := range op.Writes {
				v, err := b.Versions(ctx, op.Writes[i].ID)
				if err != nil {
					return err
				}
				op.Writes[i].Version = v[0]
			}
		}
	}
	return nil
}

// TestLinearizabilityChecker: the checker accepts the history of a correct database, and rejects the
// history of a database that does not compare versions.
func TestLinearizabilityChecker(t *testing.T) {
	p, dsn := shared(t), postgrestest.NewSchema(t)
	for _, broken := range []bool{false, true} {
		if broken {
			dsn = postgrestest.NewSchema(t)
		}
		var h history
		var replicas []*replica
		var keys []admission.Key
		for i := range 2 {
			var b backend.Backend = open(t, postgres.Options{DSN: dsn, NoSync: true})
			if broken {
				b = blind{b}
			}
			r := newReplica(t, strconv.Itoa(i), p, b)
			k, err := r.begin(t.Context(), i)
			if err != nil {
				t.Fatal(err)
			}
			replicas, keys = append(replicas, r), append(keys, k)
		}
		for n := range budget + 20 {
			i := n % 2
			if _, err := h.take(i, func() (uint64, error) { return replicas[i].admit(t.Context(), keys[i], gate.Call{Tool: "x"}) }); err != nil {
				t.Fatal(err)
			}
		}
		want := porcupine.Ok
		if broken {
			want = porcupine.Illegal
		}
		if got := h.check(); got != want {
			t.Errorf("broken: %v, %d calls passed, the checker says %s, want %s", broken, h.count(passed), got, want)
		}
	}
}

// TestReplicas: three replicas on one server, and 64 clients, while connections are cut and the
// server crashes and restarts: a budget of 100 is used up and never exceeded, no two steps of the
// pipeline run at the same time, and every admitted call is on record.
func TestReplicas(t *testing.T) {
	rounds := 1
	if n, err := strconv.Atoi(os.Getenv("PETRIGATE_SOAK")); err == nil {
		rounds = max(1, n/100)
	}
	s := postgrestest.Start(t)
	for round := range rounds {
		t.Run(fmt.Sprint(round), func(t *testing.T) {
			s.Run(fmt.Sprintf("CREATE DATABASE round%d", round))
			replicas(t, s, strings.Replace(s.DSN(), "dbname=postgres", fmt.Sprintf("dbname=round%d", round), 1))
		})
	}
}

// A world is shared by the clients of one round.
type world struct {
	*testing.T
	history
	replicas []*replica
	running  atomic.Int64 // steps of the pipeline
	steps    atomic.Int64 // that succeeded
	keyed    [3]atomic.Int64
	done     atomic.Int64 // calls
}

func replicas(t *testing.T, s *postgrestest.Server, dsn string) {
	const clients, calls = 64, 6
	w, p := &world{T: t}, shared(t)
	for i := range 3 {
		proxy := postgrestest.NewProxy(t, dsn)
		d := open(t, postgres.Options{DSN: proxy.DSN(), Timeout: 2 * time.Second, Poll: 20 * time.Millisecond})
		r := newReplica(t, strconv.Itoa(i), p, d)
		r.proxy = proxy
		w.replicas = append(w.replicas, r)
	}
	var wait sync.WaitGroup
	for c := range clients {
		wait.Go(func() {
			for i := range calls {
				w.call(t.Context(), c, i)
			}
		})
	}
	ended := make(chan struct{})
	go func() { wait.Wait(); close(ended) }()
	w.disturb(s, clients*calls, ended)
	<-ended
	for n := range budget { // the remaining budget
		w.x(t.Context(), w.replicas[n%3], 0)
	}
	w.verify(open(t, postgres.Options{DSN: dsn}))
}

// disturb breaks something each time a certain number of calls have been made.
func (w *world) disturb(s *postgrestest.Server, calls int, ended <-chan struct{}) {
	for n, f := range []func(){
		w.replicas[0].proxy.Cut,
		func() { w.replicas[1].proxy.Once(postgrestest.CutAnswer) },
		func() { s.Stop("immediate"); s.Start() },
		func() { w.replicas[2].proxy.Once(postgrestest.CutRequest) },
		func() { s.Stop("fast"); s.Start() },
		w.replicas[1].proxy.Cut,
	} {
		for w.done.Load() < int64((n+1)*calls/8) {
			select {
			case <-ended:
				return
			case <-time.After(time.Millisecond):
			}
		}
		f()
	}
}

// call makes one call of a client; the kinds of calls alternate.
func (w *world) call(ctx context.Context, client, i int) {
	r := w.replicas[(client+i)%3]
	switch i % 3 {
	case 0:
		w.x(ctx, r, client)
	case 1:
		w.step(ctx, r, client, [...]string{"build", "deploy"}[client%2])
	case 2:
		env := client % len(w.keyed)
		if _, number := w.pass(ctx, r, client, gate.Call{Tool: "z", Args: []byte(fmt.Sprintf(`{"env":"e%d"}`, env))}); number != 0 {
			w.keyed[env].Add(1)
		}
	}
	w.done.Add(1)
}

// x makes a call on the budget that the checker examines.
func (w *world) x(ctx context.Context, r *replica, client int) {
	k, err := r.begin(ctx, client)
	if err != nil {
		w.Error(err)
	}
	number, err := w.take(client, func() (uint64, error) { return r.admit(ctx, k, gate.Call{Tool: "x"}) })
	if err != nil {
		r.recover(ctx)
	} else if number != 0 {
		if err := r.settle(ctx, k, number, gate.Success); err != nil {
			w.Error(err)
		}
	}
}

// pass decides another call and settles it at once, except a step of the pipeline.
func (w *world) pass(ctx context.Context, r *replica, client int, c gate.Call) (admission.Key, uint64) {
	k, err := r.begin(ctx, client)
	if err != nil {
		w.Error(err)
	}
	number, err := r.admit(ctx, k, c)
	if err != nil {
		r.recover(ctx)
		return k, 0
	}
	if number != 0 && c.Tool == "z" {
		if err := r.settle(ctx, k, number, gate.Success); err != nil {
			w.Error(err)
		}
	}
	return k, number
}

func (w *world) step(ctx context.Context, r *replica, client int, tool string) {
	k, number := w.pass(ctx, r, client, gate.Call{Tool: tool})
	if number == 0 {
		return
	}
	if n := w.running.Add(1); n > 1 {
		w.Errorf("%d steps of the pipeline at once", n)
	}
	w.steps.Add(1)
	w.running.Add(-1)
	if err := r.settle(ctx, k, number, gate.Success); err != nil {
		w.Error(err)
	}
}

// verify compares the observations of clients with the records.
func (w *world) verify(d *postgres.DB) {
	w.Helper()
	decided := map[string]int{}
	heads, err := d.Heads(w.Context())
	if err != nil {
		w.Fatal(err)
	}
	for _, h := range heads {
		var hash [32]byte
		for r, err := range d.Records(w.Context(), backend.Query{Writer: h.Writer}) {
			if hash = audit.Link(hash, r.Seq, r.Object); err != nil || hash != r.Hash {
				w.Fatalf("the chain of %s is broken at %d: %v", h.Writer, r.Seq, err)
			}
			var e struct{ Event, Tool string }
			if err := json.Unmarshal(r.Object, &e); err != nil {
				w.Fatal(err)
			}
			if e.Event == "decision" {
				decided[e.Tool]++
			}
		}
	}
	seen, unknown := w.count(passed), w.count(unheard)
	w.Logf("%d passed, %d refused, %d unheard; on record %v", seen, w.count(refused), unknown, decided)
	if decided["x"] != budget || seen > budget || seen+unknown < budget {
		w.Errorf("%d calls of %d passed, of %d nothing was heard, %d are on record", seen, budget, unknown, decided["x"])
	}
	if decided["z"] > 5*len(w.keyed) || int64(decided["build"]+decided["deploy"]) < w.steps.Load() {
		w.Errorf("on record are %v; %d steps of the pipeline were taken", decided, w.steps.Load())
	}
	for env := range w.keyed {
		if n := w.keyed[env].Load(); n > 5 {
			w.Errorf("%d calls with env e%d passed a limit of 5", n, env)
		}
	}
	if decided["x"] == seen { // none of the calls without an answer took effect
		w.drop(unheard)
	}
	switch got := w.check(); {
	case got == porcupine.Unknown && w.count(unheard) > 0: // each of them doubles the number of possible histories
		w.Logf("the checker did not end in time, with %d calls of which nothing was heard", w.count(unheard))
	case got != porcupine.Ok:
		w.Errorf("the checker says %s", got)
	}
}

// TestDecisionTrips: a decision takes one round trip, and so does its outcome.
func TestDecisionTrips(t *testing.T) {
	proxy := postgrestest.NewProxy(t, postgrestest.NewSchema(t))
	d := open(t, postgres.Options{DSN: proxy.DSN() + "&pool_max_conns=1", Poll: time.Hour})
	<-d.Changes() // wait until the listener is connected
	r := newReplica(t, "0", shared(t), d)
	k, err := r.begin(t.Context(), 0)
	if err != nil {
		t.Fatal(err)
	}
	const n = 10
	before := 0
	for i := range n + 1 {
		if i == 1 {
			before = proxy.Trips() // the first call has read the state
		}
		number, err := r.admit(t.Context(), k, gate.Call{Tool: "x"})
		if number == 0 || err != nil {
			t.Fatal(number, err)
		}
		if err := r.settle(t.Context(), k, number, gate.Success); err != nil {
			t.Fatal(err)
		}
	}
	if trips := proxy.Trips() - before; trips != 2*n {
		t.Errorf("%d round trips for %d decisions and as many outcomes", trips, n)
	}
}

// BenchmarkDecision makes calls through the ledger, each with its outcome: in sessions of their
// own, or all on one budget.
func BenchmarkDecision(b *testing.B) {
	f, errs := rules.Parse("r", []byte("limit own to 1000000 per session\nlimit all to 1000000 per user\n"))
	if len(errs) > 0 {
		b.Fatal(errs)
	}
	c, err := rules.Compile(f)
	if err != nil {
		b.Fatal(err)
	}
	p, err := gate.NewPolicy(c.Nets, gate.PolicyOptions{})
	if err != nil {
		b.Fatal(err)
	}
	dsn := postgrestest.NewSchema(b)
	for _, tool := range []string{"own", "all"} {
		for _, processes := range []int{1, 3} {
			for _, clients := range []int{1, 16, 64} {
				b.Run(fmt.Sprintf("%s/processes=%d/clients=%d", tool, processes, clients), func(b *testing.B) {
					var replicas []*replica
					for range processes {
						d := open(b, postgres.Options{DSN: dsn})
						replicas = append(replicas, newReplica(b, d.Writer(), p, d))
					}
					took := make([][]time.Duration, clients)
					var wait sync.WaitGroup
					b.ResetTimer()
					for n := range clients {
						wait.Go(func() { took[n] = decide(b, replicas[n%processes], n, b.N/clients+1, tool) })
					}
					wait.Wait()
					all := slices.Concat(took...)
					slices.Sort(all)
					b.ReportMetric(float64(len(all))/b.Elapsed().Seconds(), "calls/s")
					b.ReportMetric(float64(all[len(all)/2].Microseconds()), "p50-us")
					b.ReportMetric(float64(all[len(all)*99/100].Microseconds()), "p99-us")
				})
			}
		}
	}
}

// decide makes n calls of one client, and returns the duration of each decision.
func decide(b *testing.B, r *replica, client, n int, tool string) (took []time.Duration) {
	k, err := r.begin(b.Context(), client)
	if err != nil {
		b.Error(err)
	}
	for range n {
		began := time.Now()
		number, err := r.admit(b.Context(), k, gate.Call{Tool: tool})
		took = append(took, time.Since(began))
		if number == 0 || err != nil {
			b.Error(number, err)
			return took
		}
		if err := r.settle(b.Context(), k, number, gate.Success); err != nil {
			b.Error(err)
			return took
		}
	}
	return took
}
