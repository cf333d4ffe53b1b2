package postgres_test

import (
	"context"
	"fmt"
	"os"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/petrigate/petrigate/gate"
	"github.com/petrigate/petrigate/internal/runtime/admission"
	"github.com/petrigate/petrigate/internal/runtime/store/backend"
	"github.com/petrigate/petrigate/internal/runtime/store/postgres"
	"github.com/petrigate/petrigate/internal/runtime/store/postgres/postgrestest"
	"github.com/petrigate/petrigate/rules"
)

// BenchmarkReplicas makes calls of 24 clients through one, two and three replicas, by a policy
// of twenty rules. Each client has a session and stays at one replica (pinned), or its calls go to
// the replicas in turn (roaming), or all clients are in one session (common), or they have a
// session each and spend one budget of a user (shared). It reports the processor time a call of
// this process and of the server, and how many commits, steps, stale steps and loads a call takes.
func BenchmarkReplicas(b *testing.B) {
	for _, kind := range []string{"pinned", "roaming", "common", "shared"} {
		for replicas := 1; replicas <= 3; replicas++ {
			b.Run(fmt.Sprintf("%s/replicas=%d", kind, replicas), func(b *testing.B) { benchReplicas(b, kind, replicas) })
		}
	}
}

func benchReplicas(b *testing.B, kind string, replicas int) {
	const clients = 24
	dsn, p, count := postgrestest.NewSchema(b), twentyRules(b, kind == "shared"), &counter{}
	var all []*replica
	for range replicas {
		d := open(b, postgres.Options{DSN: dsn})
		all = append(all, newReplica(b, d.Writer(), p, &counting{d, count}))
	}
	keys := sessionsOf(b, all, clients, kind == "common")
	server := serverPID(b, dsn)
	own, theirs := ownTime(b), serverTime(b, server)
	count.reset()
	b.ResetTimer()
	var wait sync.WaitGroup
	for i, k := range keys {
		wait.Go(func() {
			for n := i; n < b.N; n += clients {
				at := i
				if kind == "roaming" {
					at = i + n/clients
				}
				if !oneCall(b, all[at%replicas], k, fmt.Sprint("t", n%10)) {
					return
				}
			}
		})
	}
	wait.Wait()
	b.StopTimer()
	calls := float64(b.N)
	b.ReportMetric(calls/b.Elapsed().Seconds(), "calls/s")
	b.ReportMetric(float64((ownTime(b)-own).Microseconds())/calls, "cpu-us/call")
	b.ReportMetric(float64((serverTime(b, server)-theirs).Microseconds())/calls, "server-cpu-us/call")
	b.ReportMetric(float64(count.commits.Load())/calls, "commits/call")
	b.ReportMetric(float64(count.ops.Load())/calls, "steps/call")
	b.ReportMetric(float64(count.stale.Load())/calls, "stale/call")
	b.ReportMetric(float64(count.loads.Load())/calls, "loads/call")
}

// sessionsOf opens a session for each client at all replicas, or one for all clients.
func sessionsOf(b *testing.B, all []*replica, clients int, common bool) []admission.Key {
	b.Helper()
	keys := make([]admission.Key, clients)
	for i := range keys {
		if keys[i] = (admission.Key{Session: fmt.Sprint("session ", i), Principal: "ann"}); common {
			keys[i] = keys[0]
		}
		for _, r := range all {
			if err := r.Open(b.Context(), admission.SessionInfo{Key: keys[i], Since: time.Now(), Lasting: true, About: []byte("{}")}); err != nil {
				b.Fatal(err)
			}
		}
	}
	return keys
}

func twentyRules(b *testing.B, user bool) *gate.Policy {
	b.Helper()
	var text []string
	for i := range 10 {
		text = append(text, fmt.Sprintf("limit t%d to 1000000000 per session", i), fmt.Sprintf("require t%d before u%d", i, i))
	}
	if user {
		text = append(text, "limit t0, t1, t2, t3, t4, t5, t6, t7, t8, t9 to 1000000000 per user")
	}
	f, errs := rules.Parse("r", []byte(strings.Join(text, "\n")+"\n"))
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
	return p
}

// oneCall decides and settles a call.
func oneCall(b *testing.B, r *replica, k admission.Key, tool string) bool {
	number, err := r.admit(b.Context(), k, gate.Call{Tool: tool})
	if err == nil && number != 0 {
		err = r.settle(b.Context(), k, number, gate.Success)
	}
	if err != nil || number == 0 {
		b.Error(number, err)
	}
	return err == nil && number != 0
}

// A counter counts the requests of replicas to their database.
type counter struct{ commits, ops, stale, loads atomic.Int64 }

func (c *counter) reset() {
	for _, n := range []*atomic.Int64{&c.commits, &c.ops, &c.stale, &c.loads} {
		n.Store(0)
	}
}

type counting struct {
	backend.Backend
	count *counter
}

func (c *counting) Commit(ctx context.Context, ops []*backend.Op) error {
	c.count.commits.Add(1)
	c.count.ops.Add(int64(len(ops)))
	err := c.Backend.Commit(ctx, ops)
	for _, op := range ops {
		if op.Err != nil {
			c.count.stale.Add(1)
		}
	}
	return err
}

func (c *counting) Load(ctx context.Context, ids ...backend.PartID) ([]backend.Part, error) {
	c.count.loads.Add(1)
	return c.Backend.Load(ctx, ids...)
}

// ownTime returns the processor time of this process so far.
func ownTime(b *testing.B) time.Duration {
	b.Helper()
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		b.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// serverPID returns the main process of the server, or 0 if it does not run on this machine.
func serverPID(b *testing.B, dsn string) (pid int) {
	b.Helper()
	conn, err := pgx.Connect(b.Context(), dsn)
	if err != nil {
		b.Fatal(err)
	}
	defer conn.Close(b.Context())
	var backend int
	if err := conn.QueryRow(b.Context(), `SELECT pg_backend_pid()`).Scan(&backend); err != nil {
		b.Fatal(err)
	}
	_, parent, _ := processTime(backend)
	return parent
}

// serverTime returns the processor time of the running processes of the server.
func serverTime(b *testing.B, server int) (all time.Duration) {
	b.Helper()
	entries, err := os.ReadDir("/proc")
	if err != nil {
		b.Fatal(err)
	}
	for _, e := range entries {
		pid, err := strconv.Atoi(e.Name())
		if err != nil {
			continue
		}
		if t, parent, ok := processTime(pid); ok && (pid == server || parent == server) {
			all += t
		}
	}
	return all
}

// processTime reads the processor time and the parent of a process.
func processTime(pid int) (t time.Duration, parent int, ok bool) {
	data, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	_, rest, found := strings.Cut(string(data), ") ")
	fields := strings.Fields(rest)
	if err != nil || !found || len(fields) < 13 {
		return 0, 0, false
	}
	parent, _ = strconv.Atoi(fields[1])
	user, _ := strconv.Atoi(fields[11])
	system, _ := strconv.Atoi(fields[12])
	return time.Duration(user+system) * 10 * time.Millisecond, parent, true
}
