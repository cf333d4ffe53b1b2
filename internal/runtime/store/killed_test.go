package store_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/petrigate/petrigate/gate"
	"github.com/petrigate/petrigate/internal/runtime/admission"
	"github.com/petrigate/petrigate/internal/runtime/store"
	"github.com/petrigate/petrigate/internal/runtime/store/backend"
	"github.com/petrigate/petrigate/internal/runtime/store/journal"
)

// childPath is the variable that makes this program a child of [TestKilledProcessKeepsLimitAndRecords].
const childPath = "PETRIGATE_STORE_CHILD"

// budget is the limit of all processes of [TestKilledProcessKeepsLimitAndRecords].
const budget = 400

func sharedLimit() (*gate.Policy, error) {
	return gate.NewPolicy([]gate.Net{limit("all", budget, gate.ScopeGlobal)}, gate.PolicyOptions{})
}

// child makes calls in four sessions until the budget is used up, and writes each call to a file
// before it settles the call.
func child(path string) {
	ctx := context.Background()
	p, err := sharedLimit()
	check(err)
	b, err := journal.Open(ctx, journal.Options{Path: path, Sync: journal.Normal})
	check(err)
	d := store.NewDurable(ctx, store.DurableOptions{Backend: b, Policy: p})
	made, err := os.OpenFile(path+".made", os.O_WRONLY|os.O_APPEND|os.O_CREATE, 0o600)
	check(err)
	var wait sync.WaitGroup
	for i := range 4 {
		k := admission.Key{Session: fmt.Sprint(b.Writer(), "-", i)}
		check(d.Open(ctx, admission.SessionInfo{Key: k, Since: time.Now()}))
		wait.Go(func() {
			for {
				number, err := admit(ctx, d, k, gate.Call{Tool: "all"})
				if check(err); number == 0 {
					return
				}
				_, err = fmt.Fprintf(made, "%s %d\n", k.Session, number)
				check(err)
				check(finish(ctx, d, k, number, gate.Success))
			}
		})
	}
	wait.Wait()
	check(b.Close())
	os.Exit(0)
}

func check(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(2)
	}
}

// TestKilledProcessKeepsLimitAndRecords: if processes are killed at random points, every call that was made is on record, the
// limit is never exceeded, and calls in flight stay open.
func TestKilledProcessKeepsLimitAndRecords(t *testing.T) {
	t.Parallel()
	path := place(t)
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	kills := 4
	for running := 1; running > 0; {
		running = 0
		var children []*exec.Cmd
		for range 2 {
			c := exec.Command(os.Args[0])
			c.Env = append(os.Environ(), childPath+"="+path)
			c.Stderr = &bytes.Buffer{}
			if err := c.Start(); err != nil {
				t.Fatal(err)
			}
			children = append(children, c)
		}
		if kills > 0 {
			<-time.After(time.Duration(30+rand.IntN(80)) * time.Millisecond) // at any point of their work
		}
		for _, c := range children {
			if kills > 0 {
				kills--
				running++
				_ = c.Process.Kill()
			}
			if err := c.Wait(); err != nil && c.ProcessState.Exited() {
				t.Fatalf("%v: %s", err, c.Stderr)
			}
		}
	}
	b := database(t, path)
	recorded := map[string]bool{}
	for r, err := range b.Records(t.Context(), backend.Query{}) {
		if err != nil {
			t.Fatal(err)
		}
		var event struct{ Call uint64 }
		if err := json.Unmarshal(r.Object, &event); err != nil {
			t.Fatal(err)
		}
		recorded[fmt.Sprint(r.Session, " ", event.Call)] = true
	}
	made, err := os.ReadFile(path + ".made")
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSpace(string(made)), "\n")
	for _, line := range lines {
		if !recorded[line] {
			t.Errorf("call %s was made and is not on record", line)
		}
	}
	if len(recorded) != budget || len(lines) > budget {
		t.Errorf("%d calls are on record and %d were made, with a limit of %d", len(recorded), len(lines), budget)
	}
	p, err := sharedLimit()
	if err != nil {
		t.Fatal(err)
	}
	d, open := durable(t, b, p, nil), 0
	for s, err := range d.Sessions(t.Context()) {
		if err == nil {
			err = d.View(t.Context(), s.Key, func(state *gate.State) { open += len(state.Calls) })
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if open < budget-len(lines) || open > 4*4 {
		t.Errorf("%d calls are open, and %d were made of %d that are on record", open, len(lines), len(recorded))
	}
}
