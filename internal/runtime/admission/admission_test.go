package admission_test

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/petrigate/petrigate/gate"
	"github.com/petrigate/petrigate/internal/runtime/admission"
	"github.com/petrigate/petrigate/internal/runtime/approval"
	"github.com/petrigate/petrigate/internal/runtime/audit"
	"github.com/petrigate/petrigate/internal/runtime/store"
)

// nets returns the nets of the tests: delete needs a backup, deploy needs a person, and two pushes are allowed.
func nets() []gate.Net {
	return []gate.Net{{
		Name: "backup", Places: []string{"ready", "saved"}, Initial: map[string]int{"ready": 1}, Cause: gate.CauseSequence, Reason: "delete requires a backup.",
		Transitions: []gate.Transition{
			{Name: "backup", Inputs: []string{"ready"}, Outputs: []string{"saved"}, Tools: gate.Tools("backup"), Deferred: true},
			{Name: "delete", Inputs: []string{"saved"}, Outputs: []string{"ready"}, Tools: gate.Tools("delete")},
		},
	}, {
		Name: "deploys", Places: []string{"p"}, Initial: map[string]int{"p": 1}, Cause: gate.CauseApproval,
		Transitions: []gate.Transition{{Name: "deploy", Inputs: []string{"p"}, Outputs: []string{"p"}, Tools: gate.Tools("deploy"), Manual: true}},
	}, {
		Name: "pushes", Places: []string{"budget", "spent"}, Initial: map[string]int{"budget": 2}, Cause: gate.CauseLimit, Scope: gate.ScopeGlobal,
		Transitions: []gate.Transition{{Name: "push", Inputs: []string{"budget"}, Outputs: []string{"spent"}, Tools: gate.Tools("push")}},
	}, {
		Name: "shadow", Places: []string{"none"}, Cause: gate.CauseBlock, Shadow: true, Reason: "odd is blocked.",
		Transitions: []gate.Transition{{Name: "odd", Inputs: []string{"none"}, Outputs: []string{"none"}, Tools: gate.Tools("odd")}},
	}}
}

func policyOf(t testing.TB, nets ...gate.Net) *gate.Policy {
	t.Helper()
	p, err := gate.NewPolicy(nets, gate.PolicyOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return p
}

var now = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)

// disk stores records until it is full.
type disk struct {
	mu    sync.Mutex
	full  bool
	lines []string
}

func (d *disk) Append(record []byte) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.full {
		return errors.New("no space left")
	}
	d.lines = append(d.lines, string(record))
	return nil
}

// said returns the recorded events in short form.
func (d *disk) said(t *testing.T) []string {
	var all []string
	for _, line := range d.lines {
		var e struct{ Event, Decision, Tool, Outcome, Approval, Kind string }
		if err := json.Unmarshal([]byte(line), &e); err != nil {
			t.Fatal(err)
		}
		all = append(all, strings.Join(strings.Fields(strings.Join([]string{e.Event, e.Decision, e.Kind, e.Tool, e.Outcome}, " ")), " "))
	}
	return all
}

// faults is a ledger that fails.
type faults struct {
	admission.Ledger
	append, ready error
	stale         int // number of steps to fail as if another process was faster

	mu     sync.Mutex
	update error
}

// fail makes each step fail with err from now on; nil lets steps succeed again.
func (f *faults) fail(err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.update = err
}

func (f *faults) failing() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.update
}

// late is the commit of a step when another process was faster.
type late struct{}

func (late) Wait(context.Context) error { return admission.ErrStale }

func (f *faults) Stage(ctx context.Context, k admission.Key, do func(*gate.State) (admission.Change, error)) (admission.Commit, error) {
	if err := f.failing(); err != nil {
		return nil, err
	}
	if f.stale > 0 {
		f.stale--
		err := f.View(ctx, k, func(s *gate.State) { _, _ = do(s) })
		return late{}, err
	}
	return f.Ledger.Stage(ctx, k, do)
}

func (f *faults) Append(ctx context.Context, events ...audit.Event) (admission.Commit, error) {
	if f.append != nil {
		return nil, f.append
	}
	return f.Ledger.Append(ctx, events...)
}

func (f *faults) Ready() error {
	if f.ready != nil {
		return f.ready
	}
	return f.Ledger.Ready()
}

// A fixture is an admission with its ledger, broker and records.
type fixture struct {
	*admission.Admission
	*testing.T
	disk   *disk
	ledger *faults
	broker *approval.Broker
	key    admission.Key
}

func newFixture(t *testing.T, change func(*admission.Options)) *fixture {
	d := &fixture{T: t, disk: &disk{}, key: admission.Key{Session: "s", Principal: "ann"}}
	d.broker = approval.New(approval.Options{Expire: time.Hour, Channels: []string{approval.CLI}, Now: func() time.Time { return now }})
	p := policyOf(t, nets()...)
	d.ledger = &faults{Ledger: store.NewMemory(p, nil, d.broker, audit.NewRecorder(d.disk, func() time.Time { return now }))}
	o := admission.Options{Ledger: d.ledger, Generation: admission.NewGeneration(p, nil), Now: func() time.Time { return now }}
	if change != nil {
		change(&o)
	}
	d.Admission = admission.New(o)
	if err := d.Sessions.Open(t.Context(), admission.SessionInfo{Key: d.key, Since: now}); err != nil {
		t.Fatal(err)
	}
	d.disk.lines = nil // the record of the opened session
	return d
}

func (d *fixture) call(tool string) *admission.Call {
	return &admission.Call{Key: d.key, Gate: gate.Call{Tool: tool, Time: now}, Tool: tool, Canonical: "up." + tool, Upstream: "up"}
}

func (d *fixture) decide(tool string) admission.Decision { return d.Decide(d.Context(), d.call(tool)) }

func (d *fixture) admit(tool string) *admission.Ticket {
	d.Helper()
	a, ok := d.decide(tool).(*admission.Admitted)
	if !ok {
		d.Fatalf("%s was not admitted", tool)
	}
	return &a.Ticket
}

func (d *fixture) refuse(tool, kind string) *admission.Refused {
	d.Helper()
	r, ok := d.decide(tool).(*admission.Refused)
	if !ok || r.Facts.Kind != kind {
		d.Fatalf("%s: %+v, want a refusal (%s)", tool, r, kind)
	}
	return r
}

func (d *fixture) marking(net string) string {
	d.Helper()
	s, err := d.Snapshot(d.Context(), d.key)
	if err != nil {
		d.Fatal(err)
	}
	for _, n := range s.Policy().NetsOf(s) {
		if n.Name == net {
			return n.Marking.String()
		}
	}
	return "no such net"
}

func (d *fixture) want(net, marking string) {
	d.Helper()
	if m := d.marking(net); m != marking {
		d.Errorf("%s: %s, want %s", net, m, marking)
	}
}

// approved asks for a deployment and has a person approve it.
func (d *fixture) approved() (*admission.Asked, admission.Consent) {
	d.Helper()
	q, ok := d.decide("deploy").(*admission.Asked)
	if !ok {
		d.Fatal("nobody is asked")
	}
	r, err := d.broker.Open(approval.Key{Session: "s"}, approval.Call{Tool: "deploy"}, q.Ask)
	if err == nil && d.broker.Status(r).State == approval.Pending {
		err = d.broker.Answer(r.ID, true, approval.CLI, "bob", "")
	}
	if err != nil {
		d.Fatal(err)
	}
	return q, admission.Consent{ID: r.ID, Channel: approval.CLI, Actor: "bob"}
}

// TestRecordPrecedesAnswer: each decision is on record before its caller learns of it, and each outcome before the
// nets move.
func TestRecordPrecedesAnswer(t *testing.T) {
	d := newFixture(t, nil)
	d.refuse("delete", "blocked")
	ticket := d.admit("backup")
	if got := d.disk.said(t); got[len(got)-1] != "decision allow backup" || !ticket.Awaited {
		t.Errorf("%q, awaited %t", got, ticket.Awaited)
	}
	d.want("backup", "ready:1 (1 in flight)")
	d.Settle(t.Context(), ticket, gate.End{Outcome: gate.Success}, "")
	d.want("backup", "saved:1")
	d.Settle(t.Context(), d.admit("delete"), gate.End{Outcome: gate.Success}, "")
	d.admit("odd")
	want := []string{
		"decision refuse blocked delete", "decision allow backup", "outcome up.backup success",
		"decision allow delete", "outcome up.delete success", "decision allow odd",
	}
	if got := d.disk.said(t); !slices.Equal(got, want) {
		t.Errorf("on record: %q, want %q", got, want)
	}
	if c := d.Counts("s"); c.Refused != 1 || c.Would[0].Tool != "up.odd" || d.Counts("").Refused != 1 || d.Counts("other").Refused != 0 {
		t.Errorf("counted: %+v", c)
	}
}

// TestStaleStepIsDecidedAgain: if another process was faster, the step is decided again.
func TestStaleStepIsDecidedAgain(t *testing.T) {
	d := newFixture(t, nil)
	d.ledger.stale = 3
	ticket := d.admit("backup")
	d.want("backup", "ready:1 (1 in flight)")
	d.ledger.stale = 1
	d.Settle(t.Context(), ticket, gate.End{Outcome: gate.Success}, "")
	d.want("backup", "saved:1")
	over, end := context.WithCancel(t.Context())
	end()
	d.ledger.stale = 1
	if _, ok := d.Decide(over, d.call("delete")).(*admission.Refused); !ok || d.ledger.stale != 0 {
		t.Error("it tries again though nobody waits any more")
	}
	d.want("backup", "saved:1")
	want := []string{"decision allow backup", "outcome up.backup success"}
	if got := d.disk.said(t); !slices.Equal(got, want) {
		t.Errorf("on record: %q, want %q", got, want)
	}
}

// TestAdmissionUsesApproval: an admission uses up an approval and records it.
func TestAdmissionUsesApproval(t *testing.T) {
	d := newFixture(t, nil)
	q, consent := d.approved()
	got, err := d.Redeem(t.Context(), d.call("deploy"), q, consent)
	if _, ok := got.(*admission.Admitted); !ok || err != nil {
		t.Fatalf("%+v, %v", got, err)
	}
	d.Withdraw(t.Context(), d.key, q)
	if last := d.disk.lines[len(d.disk.lines)-1]; !strings.Contains(last, `"approval":"`+consent.ID+`","channel":"cli","actor":"bob"`) {
		t.Errorf("the consent is not on record: %s", last)
	}
	again := d.decide("deploy").(*admission.Asked)
	if _, err := d.Redeem(t.Context(), d.call("deploy"), again, consent); !errors.Is(err, approval.ErrUsed) {
		t.Errorf("the consent is good twice: %v", err)
	}
	if r := d.Deny(t.Context(), d.call("deploy"), again.Ask, "no.", &consent); r.Facts.Cause != "approval" || len(r.Facts.Nets) != 1 {
		t.Errorf("%+v", r)
	}
}

// TestConcurrentCallsUseApprovalOnce: of many concurrent calls, one uses up the approval.
func TestConcurrentCallsUseApprovalOnce(t *testing.T) {
	d := newFixture(t, nil)
	var admitted, used atomic.Int32
	q, consent := d.approved()
	questions := []*admission.Asked{q}
	for range 7 {
		questions = append(questions, d.decide("deploy").(*admission.Asked))
	}
	var all sync.WaitGroup
	for _, q := range questions {
		all.Go(func() {
			got, err := d.Redeem(t.Context(), d.call("deploy"), q, consent)
			if _, ok := got.(*admission.Admitted); ok {
				admitted.Add(1)
			} else if errors.Is(err, approval.ErrUsed) {
				used.Add(1)
			}
		})
	}
	all.Wait()
	if admitted.Load() != 1 || used.Load() != 7 {
		t.Errorf("%d were admitted, %d came too late", admitted.Load(), used.Load())
	}
}

// TestUndurableCallIsRefused: whatever cannot be made durable is refused, and nothing is spent.
func TestUndurableCallIsRefused(t *testing.T) {
	d := newFixture(t, nil)
	gone := errors.New("the store is gone")
	d.ledger.fail(gone)
	d.refuse("push", "internal")
	if _, ok := d.decide("deploy").(*admission.Refused); !ok {
		t.Error("a person is asked though nothing can be kept")
	}
	d.ledger.fail(nil)
	d.want("pushes", "budget:2")

	d.ledger.ready = gone
	if r := d.Ready("up.push"); r == nil || r.Facts.Kind != "internal" || r.Text != "The call was not made: cannot record the decision." {
		t.Errorf("%+v", r)
	}
	d.ledger.ready = nil
	if r := d.Ready("up.push"); r != nil {
		t.Errorf("%+v", r)
	}

	d.ledger.append = gone
	if r := d.refuse("delete", "blocked"); r.Text != "delete requires a backup." {
		t.Errorf("an unrecorded refusal: %q", r.Text)
	}
	d.ledger.append = nil

	q, consent := d.approved()
	d.disk.full = true
	d.refuse("push", "internal")
	d.want("pushes", "budget:2")
	if got, err := d.Redeem(t.Context(), d.call("deploy"), q, consent); err != nil || got.(*admission.Refused).Facts.Kind != "internal" {
		t.Errorf("%+v, %v", got, err)
	}
	d.disk.full = false
	if got, err := d.Redeem(t.Context(), d.call("deploy"), q, consent); err != nil {
		t.Errorf("a call that was not made has used the consent up: %+v, %v", got, err)
	}

	ticket := d.admit("backup")
	d.disk.full = true
	d.Settle(t.Context(), ticket, gate.End{Outcome: gate.Success}, "")
	d.want("backup", "ready:1 (1 in flight)")
	if err := d.SettleOpen(t.Context(), d.key, ticket.Number, true, "ann"); !errors.Is(err, audit.ErrUnrecorded) {
		t.Error(err)
	}
	d.disk.full = false
	d.want("backup", "saved:1")
	recorded := len(d.disk.lines)
	if err := d.SettleOpen(t.Context(), d.key, ticket.Number, false, "ann"); err == nil || err.Error() != "session s has no open call #2" {
		t.Errorf("it is settled already: %v", err)
	}
	if len(d.disk.lines) != recorded {
		t.Errorf("on record although nothing was settled: %q", d.disk.lines[recorded:])
	}
}

// TestInvalidCallSpendsNothing: an invalid call spends nothing, although the nets would admit it.
func TestInvalidCallSpendsNothing(t *testing.T) {
	d := newFixture(t, nil)
	c := d.call("push")
	c.Invalid = errors.New("not ours")
	if r, ok := d.Decide(t.Context(), c).(*admission.Refused); !ok || !errors.Is(r.Err, c.Invalid) {
		t.Errorf("%+v", r)
	}
	d.want("pushes", "budget:2")
	if len(d.disk.lines) != 0 {
		t.Errorf("on record: %q", d.disk.lines)
	}
}

// TestSwapKeepsStates: unchanged nets keep their states, and calls in flight can be settled.
func TestSwapKeepsStates(t *testing.T) {
	d := newFixture(t, nil)
	ticket := d.admit("backup")
	d.admit("push")
	asked, consent := d.approved()
	changed := nets()
	changed[0].Reason = "delete wants a backup."
	changed[1].Transitions[0].Name = "roll"
	report, err := d.Swap(t.Context(), admission.NewGeneration(policyOf(t, changed...), nil), admission.SwapOptions{})
	if err != nil || len(report.Sessions) != 2 || report.Sessions[1].Nets[1].Fate != gate.Begun {
		t.Fatalf("%+v, %v", report, err)
	}
	d.want("pushes", "budget:1, spent:1")
	d.Settle(t.Context(), ticket, gate.End{Outcome: gate.Success}, "")
	d.want("backup", "saved:1")
	if got, err := d.Redeem(t.Context(), d.call("deploy"), asked, consent); err != nil || got.(*admission.Refused).Facts.Kind != "approval" {
		t.Errorf("a consent under another policy: %+v, %v", got, err)
	}
	d.admit("delete")
	if r := d.refuse("delete", "blocked"); r.Text != "delete wants a backup." {
		t.Errorf("%q", r.Text)
	}
}

// TestSwapWhileDeciding: no decision is lost or made under the wrong policy.
func TestSwapWhileDeciding(t *testing.T) {
	d := newFixture(t, nil)
	policies := []*gate.Policy{policyOf(t, nets()...), policyOf(t, nets()[2], nets()[0])}
	var admitted atomic.Int32
	var all sync.WaitGroup
	for range 4 {
		all.Go(func() {
			for range 25 {
				if a, ok := d.decide("push").(*admission.Admitted); ok {
					admitted.Add(1)
					d.Settle(t.Context(), &a.Ticket, gate.End{Outcome: gate.Success}, "")
				}
			}
		})
	}
	for i := range 20 {
		if _, err := d.Swap(t.Context(), admission.NewGeneration(policies[i%2], nil), admission.SwapOptions{}); err != nil {
			t.Error(err)
		}
	}
	all.Wait()
	if admitted.Load() != 2 {
		t.Errorf("%d calls passed a limit of 2", admitted.Load())
	}
	d.want("pushes", "spent:2")
}

// TestOperatorSwitchesAndResets: an operator switches nets for all sessions, and resets one session.
func TestOperatorSwitchesAndResets(t *testing.T) {
	d := newFixture(t, nil)
	ctx := t.Context()
	for _, on := range []bool{false, true} {
		if err := d.SwitchNet(ctx, "backup", on, "ann"); err != nil || d.Generation().IsActive("backup") != on {
			t.Errorf("%t: %v", on, err)
		}
		if _, free := d.decide("delete").(*admission.Admitted); free == on {
			t.Errorf("active %t, and delete passes: %t", on, free)
		}
	}
	if err := d.SwitchNet(ctx, "backup", true, "ann"); err == nil {
		t.Error("it is active already")
	}
	d.disk.full = true
	if err := d.SwitchNet(ctx, "backup", false, "ann"); !errors.Is(err, audit.ErrUnrecorded) || !d.Generation().IsActive("backup") {
		t.Errorf("it was switched off the record: %v", err)
	}
	d.disk.full = false
	d.admit("backup")
	if err := d.Reset(ctx, d.key, "ann"); err != nil {
		t.Error(err)
	}
	d.want("backup", "ready:1")
}

// TestSharedNetsOutliveSession: shared nets outlive sessions, and open calls of an ended session can still be
// settled.
func TestSharedNetsOutliveSession(t *testing.T) {
	d := newFixture(t, nil)
	ctx := t.Context()
	push, backup := d.admit("push"), d.admit("backup")
	if err := d.Sessions.End(ctx, d.key); err != nil {
		t.Fatal(err)
	}
	d.Settle(ctx, backup, gate.End{Outcome: gate.Success}, "")
	d.want("backup", "saved:1")
	d.Settle(ctx, push, gate.End{Outcome: gate.Success}, "")
	if r := d.refuse("push", "internal"); r.Text != "The call was not made: the session has ended." {
		t.Errorf("%q", r.Text)
	}
	fresh, err := d.FreshState(ctx)
	if err != nil {
		t.Fatal(err)
	}
	if m := fresh.Policy().NetsOf(fresh)[2].Marking.String(); m != "budget:1, spent:1" {
		t.Errorf("a new session: %s", m)
	}
}

// TestFreshStateOfSeveralPrincipals checks that a new session does not share the nets of one
// principal if another session has no principal, whichever session is older.
func TestFreshStateOfSeveralPrincipals(t *testing.T) {
	net := nets()[2]
	net.Scope = gate.ScopePrincipal
	for name, since := range map[string]time.Duration{"older": -time.Hour, "newer": time.Hour} {
		d := newFixture(t, func(o *admission.Options) {
			p := policyOf(t, net)
			o.Ledger, o.Generation = store.NewMemory(p, nil, nil, audit.NewRecorder(&disk{}, o.Now)), admission.NewGeneration(p, nil)
		})
		d.admit("push")
		marking := func() string {
			fresh, err := d.FreshState(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			return fresh.Policy().NetsOf(fresh)[0].Marking.String()
		}
		if m := marking(); m != "budget:1, spent:1" {
			t.Errorf("the only session: %s", m)
		}
		if err := d.Sessions.Open(t.Context(), admission.SessionInfo{Key: admission.Key{Session: "other"}, Since: now.Add(since)}); err != nil {
			t.Fatal(err)
		}
		if m := marking(); m != "budget:2" {
			t.Errorf("the other session is %s: %s", name, m)
		}
	}
}

type toolKey struct{}

// phases records the phases of calls.
type phases struct {
	mu  sync.Mutex
	all []string
}

func (s *phases) Start(ctx context.Context, at admission.Phase, c admission.Info) (context.Context, func(admission.Result)) {
	return context.WithValue(ctx, toolKey{}, c.Tool), func(r admission.Result) {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.all = append(s.all, strings.TrimSpace(string(at)+" "+c.Tool+" "+r.Decision))
	}
}

func (s *phases) Trace(ctx context.Context) (parent, state string) {
	tool, _ := ctx.Value(toolKey{}).(string)
	return tool, ""
}

// TestObserverSeesPhases: an observer sees each phase of a call.
func TestObserverSeesPhases(t *testing.T) {
	seen := &phases{}
	d := newFixture(t, func(o *admission.Options) { o.Observer = seen })
	push := d.admit("push")
	trace, forwarded := d.Watch.StartForward(push)
	if parent, _ := trace(); parent != "push" {
		t.Errorf("the upstream is told of %q", parent)
	}
	forwarded(admission.Result{})
	d.Settle(t.Context(), push, gate.End{Outcome: gate.Success}, "")
	answered := d.Watch.StartApproval(t.Context(), d.call("deploy"))
	q, consent := d.approved()
	answered(admission.Result{})
	if _, err := d.Redeem(t.Context(), d.call("deploy"), q, consent); err != nil {
		t.Error(err)
	}
	want := []string{"decide push allow", "forward push", "settle push", "decide deploy ask", "approve deploy", "decide deploy allow"}
	if !slices.Equal(seen.all, want) {
		t.Errorf("%q, want %q", seen.all, want)
	}
}

// TestRefusalContainsRemedy: a refusal contains the remedy, computed on the state of the refusal.
func TestRefusalContainsRemedy(t *testing.T) {
	d := newFixture(t, func(o *admission.Options) {
		o.Generation.Remedy = func(s *gate.State, c gate.Call, _ *gate.Refusal) admission.Remedy {
			return admission.Remedy{Text: "Call backup first.", Steps: []string{"backup"}}
		}
	})
	r := d.refuse("delete", "blocked")
	if r.Text != "delete requires a backup. Call backup first." || string(r.Facts.Remedy) != `["backup"]` {
		t.Errorf("%q %s", r.Text, r.Facts.Remedy)
	}
}

// TestSwitchedNetsStayOverSwap: nets that operators have switched keep their setting under another policy,
// whichever nets it activates; a net that was not switched has the setting of the new policy.
func TestSwitchedNetsStayOverSwap(t *testing.T) {
	d := newFixture(t, nil)
	if err := d.SwitchNet(t.Context(), "deploys", false, "ann"); err != nil {
		t.Fatal(err)
	}
	changed := nets()
	changed[0].Reason = "delete wants a backup."
	added := changed[1]
	added.Name = "added"
	swap := func(active []string, nets ...gate.Net) *admission.Generation {
		if _, err := d.Swap(t.Context(), admission.NewGeneration(policyOf(t, nets...), active), admission.SwapOptions{}); err != nil {
			t.Fatal(err)
		}
		return d.Generation()
	}
	if g := swap(nil, append(changed, added)...); g.IsActive("deploys") || !g.IsActive("added") || !g.IsActive("backup") {
		t.Errorf("active: %v", g.Active)
	}
	if g := swap([]string{"backup"}, changed...); g.IsActive("deploys") || g.IsActive("pushes") || !g.IsActive("backup") {
		t.Errorf("active: %v", g.Active)
	}
	if err := d.SwitchNet(t.Context(), "deploys", true, "ann"); err != nil {
		t.Fatal(err)
	}
	if g := swap([]string{"backup"}, changed...); !g.IsActive("deploys") || g.IsActive("pushes") {
		t.Errorf("active: %v", g.Active)
	}
	if g := swap(nil, changed...); g.Active != nil {
		t.Errorf("active: %v, want all", g.Active)
	}
}
