package crash

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/petrigate/petrigate/internal/runtime/store/postgres/postgrestest"
	"github.com/petrigate/petrigate/internal/testbinary"
)

// TestKill starts three proxies that share a database and a session, lets them serve bursts of
// calls, and kills them with SIGKILL at random points. PETRIGATE_SOAK sets the number of calls, and
// PETRIGATE_SEED the seed for the random points.
func TestKill(t *testing.T) {
	t.Parallel()
	binary := testbinary.Path(t)
	for _, driver := range []string{"sqlite", "postgres"} {
		t.Run(driver, func(t *testing.T) {
			dir := t.TempDir()
			state := map[string]any{"driver": driver}
			if driver == "sqlite" {
				state["path"] = filepath.Join(dir, "state", "petrigate.db")
			} else {
				state["dsn"] = postgrestest.NewSchema(t)
			}
			p := newPlant(t, binary, dir, state)
			calls := p.kill(t)
			for _, violation := range p.violations(t, calls) {
				t.Error(violation)
			}
			p.recorded(t, calls)
		})
	}
}

// TestForgetful shows that the test detects proxies that forget: if states are kept in memory, each
// proxy has the whole budget.
func TestForgetful(t *testing.T) {
	t.Parallel()
	p := newPlant(t, testbinary.Path(t), t.TempDir(), map[string]any{"driver": "memory"})
	if found := p.violations(t, p.kill(t)); len(found) == 0 {
		t.Error("nothing was found")
	} else {
		t.Log(len(found), "violations, such as", found[len(found)-1])
	}
}

// A plant contains everything needed to start the proxies.
type plant struct {
	binary, config, notes string
	environment           []string
	calls, budget         int
	seed                  uint64

	sent atomic.Int64
}

func newPlant(t *testing.T, binary, dir string, state map[string]any) *plant {
	t.Helper()
	return plantAt(t, binary, dir, filepath.Join(dir, "reached"), state)
}

// plantAt returns a plant whose upstreams write their notes to the given file.
func plantAt(t *testing.T, binary, dir, notes string, state map[string]any) *plant {
	t.Helper()
	p := &plant{binary: binary, config: filepath.Join(dir, "petrigate.json"), notes: notes}
	p.environment = append(os.Environ(), "PETRIGATE_STARTUP=1m", "XDG_STATE_HOME="+dir, "PETRIGATE_RUNTIME_DIR="+filepath.Join(dir, "run"))
	p.calls, _ = strconv.Atoi(cmp.Or(os.Getenv("PETRIGATE_SOAK"), "90"))
	p.budget = p.calls / 6
	var err error
	if p.seed, err = strconv.ParseUint(cmp.Or(os.Getenv("PETRIGATE_SEED"), "1"), 10, 64); err != nil {
		t.Fatal(err)
	}
	audit := map[string]any{"arguments": "full"}
	if state["driver"] == "memory" {
		audit["file"] = filepath.Join(dir, "audit.jsonl")
	}
	config, err := json.Marshal(map[string]any{
		"version":    1,
		"mcpServers": map[string]any{"up": map[string]any{"command": os.Args[0], "args": []string{upstreamVerb, p.notes}, "prefix": ""}},
		"rules":      fmt.Sprintf("limit up.pay to %d per session\nrequire up.backup before up.delete\n", p.budget),
		"state":      state,
		"audit":      audit,
		"log":        map[string]any{"level": "error"},
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(p.config, config, 0o600); err != nil {
		t.Fatal(err)
	}
	return p
}

// kill kills proxies until enough calls were sent. It returns the calls that have reached the
// upstream.
func (p *plant) kill(t *testing.T) []reached {
	t.Helper()
	var wait sync.WaitGroup
	lives := make([]int, 3)
	for i := range lives {
		wait.Go(func() {
			random := rand.New(rand.NewPCG(p.seed, uint64(i)))
			for ; p.sent.Load() < int64(p.calls) && !t.Failed(); lives[i]++ {
				p.live(t, random, fmt.Sprintf("%d-%d", i, lives[i]))
			}
		})
	}
	wait.Wait()
	calls := readReached(t, p.notes)
	t.Logf("%d calls, %d of them reached the upstream, seed %d, lives: %v", p.sent.Load(), len(calls), p.seed, lives)
	return calls
}

// live starts a proxy and kills it after some answers.
func (p *plant) live(t *testing.T, random *rand.Rand, name string) {
	x, err := p.start()
	if err != nil {
		t.Error(err)
		return
	}
	defer x.kill()
	for left, n := 1+random.IntN(60), 0; left > 0; {
		burst := 1 + random.IntN(8)
		if _, err := io.WriteString(x.in, p.burst(random, name, n, burst)); err != nil {
			t.Error(err)
		}
		n += burst
		for range min(burst, left) {
			if x.answer() == nil {
				t.Errorf("a proxy has ended by itself: %s", x.said.String())
				return
			}
			left--
		}
	}
}

// burst returns a number of calls, encoded for sending.
func (p *plant) burst(random *rand.Rand, name string, n, size int) string {
	var b strings.Builder
	for i := range size {
		tool := []string{"pay", "backup", "delete", "delete"}[random.IntN(4)]
		fmt.Fprintf(&b, `{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":%q,"arguments":{"id":"%s-%d","fail":%v}}}`+"\n",
			n+i, tool, name, n+i, random.IntN(2) == 0)
	}
	p.sent.Add(int64(size))
	return b.String()
}

// violations compares the calls that have reached the upstream with the policy.
func (p *plant) violations(t *testing.T, calls []reached) (all []string) {
	t.Helper()
	count := map[string]int{}
	backups, seen := 0, map[string]bool{}
	for _, c := range calls {
		count[c.tool]++
		if seen[c.id] {
			all = append(all, fmt.Sprintf("call %s has reached the upstream twice", c.id))
		}
		seen[c.id] = true
		if c.tool == "backup" && c.ok {
			backups++
		}
		if c.tool == "delete" && count["delete"] > backups {
			all = append(all, fmt.Sprintf("%s is delete number %d after %d backups that succeeded", c.id, count["delete"], backups))
		}
	}
	t.Log(count, backups, "backups succeeded")
	if count["pay"] > p.budget {
		all = append(all, fmt.Sprintf("%d calls of pay, %d are allowed", count["pay"], p.budget))
	}
	if count["pay"] < p.budget/2 || backups == 0 || count["delete"] == 0 {
		t.Error("too little was allowed for this to mean anything")
	}
	return all
}

// recorded checks that each call has been recorded, and verifies the hash chains.
func (p *plant) recorded(t *testing.T, calls []reached) {
	t.Helper()
	run := func(args ...string) string {
		cmd := exec.Command(p.binary, args...)
		cmd.Env = p.environment
		cmd.Stderr = os.Stderr
		out, err := cmd.Output()
		if err != nil {
			t.Errorf("%v: %v\n%s", args, err, out)
		}
		return string(out)
	}
	t.Log(strings.TrimSpace(run("audit", "verify", "--config", p.config)))
	records := run("audit", "query", "--config", p.config, "--json")
	allowed, ended := map[string]bool{}, 0
	for line := range strings.Lines(records) {
		var r struct {
			Event, Decision string
			Args            struct{ ID string }
		}
		if err := json.Unmarshal([]byte(line), &r); err != nil {
			t.Fatal(err)
		}
		switch {
		case r.Event == "outcome":
			ended++
		case r.Decision == "allow":
			allowed[r.Args.ID] = true
		}
	}
	t.Logf("%d calls were allowed, %d have an outcome", len(allowed), ended)
	for _, c := range calls {
		if !allowed[c.id] {
			t.Errorf("call %s has reached the upstream without a record", c.id)
		}
	}
}
