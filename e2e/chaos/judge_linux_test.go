package chaos

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/petrigate/petrigate/internal/testserver"
)

// A verdict is the result of comparing all accounts.
type verdict struct {
	found    []string
	executed map[string]int // keyed by upstream
	fates    map[fate]int
	sessions int
	stable   []figure
}

func (v *verdict) violation(format string, args ...any) {
	v.found = append(v.found, fmt.Sprintf(format, args...))
}

func judge(l *load, p *plant, figures []figure) *verdict {
	v := &verdict{found: slices.Clone(l.ledger.wrongs), executed: map[string]int{}, fates: map[fate]int{}, stable: figures}
	if p.exitErr != nil {
		v.violation("petrigate ended with %v", p.exitErr)
	}
	if left := processes(p.options.dir); len(left) > 0 {
		v.violation("%d processes are left: %v", len(left), left)
		for _, proc := range left {
			_ = kill(proc.pid)
		}
	}
	v.readExecuted(l.ledger, p)
	b := newBook(v, l.ledger)
	if err := b.read(p.auditFile()); err != nil {
		v.violation("reading the audit log: %v", err)
	}
	b.close()
	for _, c := range l.ledger.calls {
		v.judgeCall(c)
	}
	v.judgeGroups(l.ledger)
	v.judgeFigures(p.options)
	for i := range p.options.upstreams {
		if v.executed[name(i)] == 0 {
			v.violation("%s has executed nothing", name(i))
		}
	}
	return v
}

func kill(pid int) error {
	proc, err := os.FindProcess(pid)
	if err != nil {
		return err
	}
	return proc.Kill()
}

// readExecuted reads the records of all processes that were upstreams.
func (v *verdict) readExecuted(l *ledger, p *plant) {
	files, _ := filepath.Glob(filepath.Join(p.options.dir, "executed.*"))
	for _, file := range files {
		f, err := os.Open(file)
		if err != nil {
			v.violation("%v", err)
			continue
		}
		records, err := testserver.ReadRecords(bufio.NewReader(f))
		_ = f.Close()
		if err != nil {
			v.violation("%s: %v", file, err)
		}
		for _, r := range records {
			var args struct{ Nonce string }
			_ = json.Unmarshal(r.Args, &args)
			c := l.byName[args.Nonce]
			if c == nil || c.tool != r.Name {
				v.violation("%s executed %s %s, which nobody called", file, r.Name, r.Args)
				continue
			}
			c.executed++
			v.executed[c.upstream]++
		}
	}
}

// judgeCall compares the accounts of one call.
func (v *verdict) judgeCall(c *call) {
	v.fates[c.fate]++
	say := func(what string) { v.violation("%s: %+v", what, *c) }
	switch {
	case c.fate == open:
		say("no answer")
	case c.executed > 1:
		say("executed twice")
	case c.executed == 1 && c.allowed == 0:
		say("executed without a decision on record")
	case c.allowed > 1:
		say("admitted twice")
	case c.allowed == 1 && len(c.outcomes) != 1:
		say("admitted, and not settled once")
	case len(c.late) > 1 || len(c.late) == 1 && c.outcomes[0] != "unknown":
		say("settled again")
	case c.allowed == 1 && c.refusals > 0:
		say("admitted and refused")
	}
	v.judgeFate(c, say)
}

// judgeFate compares what the client was told with the other accounts.
func (v *verdict) judgeFate(c *call, say func(string)) {
	outcome := ""
	if len(c.outcomes) > 0 {
		outcome = c.outcomes[0]
	}
	switch c.fate {
	case succeeded:
		if c.executed != 1 || outcome != "success" {
			say("told a success that is none")
		}
	case failed:
		if c.executed != 1 || outcome != "failure" {
			say("told a failure that is none")
		}
	case refused:
		if c.executed > 0 || c.allowed > 0 || c.refusals != 1 {
			say("told a refusal that is none")
		}
	case unavailable:
		if c.executed > 0 || c.allowed == 1 && outcome != "failure" {
			say("told that it did not run")
		}
	case unknown:
		if c.allowed != 1 || outcome == "success" {
			say("told that nobody knows")
		}
	}
}

// judgeGroups checks that the executed calls are within the budgets.
func (v *verdict) judgeGroups(l *ledger) {
	type tally struct{ pay, send, refresh, forbidden int }
	groups := map[string]*tally{}
	for _, c := range l.calls {
		t := groups[c.group]
		if t == nil {
			t = &tally{}
			groups[c.group] = t
		}
		switch c.tool {
		case toolPay:
			t.pay += c.executed
		case toolSend:
			t.send += c.executed
		case toolRefresh:
			t.refresh += c.allowed
		case toolForbidden:
			t.forbidden += c.executed
		}
	}
	v.sessions = len(groups)
	for group, t := range groups {
		if t.pay > maxPay || t.send > maxSend+t.refresh || t.forbidden > 0 {
			v.violation("%s went over a budget: %+v", group, *t)
		}
	}
}

// maxKept is the number of idle connections to one upstream that a proxy may keep.
const maxKept = 256

// judgeFigures compares the resources that petrigate uses while it is idle. Memory may grow at
// first, because pools fill up and the garbage collector allows it.
func (v *verdict) judgeFigures(o *options) {
	if len(v.stable) < 3 {
		v.violation("the run was cut short")
		return
	}
	start, middle, end := v.stable[0], v.stable[1], v.stable[2]
	slack := 4 * o.upstreams                                  // varies with the upstreams that are up
	came := 2 * max(0, end.kept-max(start.kept, middle.kept)) // a kept connection has either two goroutines or none
	switch {
	case end.goroutines-max(start.goroutines, middle.goroutines) > slack+came:
		v.violation("goroutines have grown from %d to %d", start.goroutines, end.goroutines)
	case end.files > max(start.files, middle.files)+slack:
		v.violation("open files have grown from %d to %d", start.files, end.files)
	case end.kept > maxKept*o.upstreams:
		v.violation("%d connections to upstreams are kept", end.kept)
	case end.clients > 0:
		v.violation("%d clients are left", end.clients)
	case end.children > o.upstreams:
		v.violation("petrigate has %d children", end.children)
	case end.resident > 2*middle.resident && end.resident > 128<<10:
		v.violation("memory has grown from %d to %d KiB", middle.resident, end.resident)
	case middle.live > 0 && end.live > 2*middle.live+8:
		v.violation("the live heap has grown from %d to %d MiB", middle.live, end.live)
	}
}

// print fails the test for each violation, and logs the figures.
func (v *verdict) print(t *testing.T, o *options, l *load, p *plant) {
	for i, what := range v.found {
		if i == 50 {
			t.Errorf("and %d more", len(v.found)-i)
			break
		}
		t.Error(what)
	}
	for _, f := range v.stable {
		t.Log(f)
	}
	if audit, err := os.Stat(p.auditFile()); err == nil {
		t.Logf("audit log %.1f MiB", float64(audit.Size())/(1<<20))
	}
	executed := 0
	for _, n := range v.executed {
		executed += n
	}
	files, _ := filepath.Glob(filepath.Join(p.options.dir, "executed.*"))
	t.Logf("chaos: %v, %d upstreams, %d clients, seed %d: %d calls in %d sessions, %d executed; "+
		"%d succeeded, %d failed, %d refused, %d unavailable, %d unknown, %d cancelled; "+
		"%d starts of upstreams, %d kills, %d stops; %d violations",
		o.duration.Round(time.Second), o.upstreams, o.clients, o.seed, len(l.ledger.calls), v.sessions, executed,
		v.fates[succeeded], v.fates[failed], v.fates[refused], v.fates[unavailable], v.fates[unknown], v.fates[cancelled],
		len(files), p.kills.Load(), p.stops.Load(), len(v.found))
}

// eachLine calls f for each line of a file.
func eachLine(file string, f func(line []byte) error) error {
	in, err := os.Open(file)
	if err != nil {
		return err
	}
	defer func() { _ = in.Close() }()
	for r := bufio.NewReaderSize(in, 1<<20); ; {
		line, err := r.ReadBytes('\n')
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		if err := f(line); err != nil {
			return err
		}
	}
}
