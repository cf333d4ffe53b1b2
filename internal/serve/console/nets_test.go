package console

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/petrigate/petrigate/gate"
	"github.com/petrigate/petrigate/internal/operator"
	"github.com/petrigate/petrigate/internal/runtime/audit"
	"github.com/petrigate/petrigate/internal/runtime/audit/trail"
)

// A site contains the sessions of a policy, whose nets decide calls as in a proxy.
type site struct {
	policy *gate.Policy

	lock  sync.Mutex
	all   []operator.SessionInfo
	gates map[string]*gate.Session
	done  []string // actions by operators
}

func (s *site) Nets() (all []operator.PolicyNet) {
	for i, n := range s.netsOf() {
		all = append(all, operator.PolicyNet{Name: n.Name, Rule: fmt.Sprint("a.rules:", i+1), Active: true, Shadow: n.Shadow, Scope: "session"})
	}
	return all
}

func (s *site) netsOf() []gate.NetInfo {
	if s.policy == nil {
		return nil
	}
	return s.policy.Nets()
}

func (s *site) ListSessions() ([]operator.SessionInfo, error) {
	return append([]operator.SessionInfo(nil), s.all...), nil
}

func (s *site) Session(id string) (operator.SessionInfo, error) {
	for _, one := range s.all {
		if one.ID == id {
			return one, nil
		}
	}
	return operator.SessionInfo{}, errors.New("no session")
}

func (s *site) State(id string) (*gate.State, error) {
	if id == "" {
		return s.policy.NewState(nil), nil
	}
	if of := s.gates[id]; of != nil {
		return of.Snapshot(), nil
	}
	return nil, errors.New("no session")
}

func (s *site) Shadow(id string) (operator.ShadowInfo, error) {
	if id != "s1" {
		return operator.ShadowInfo{}, nil
	}
	return operator.ShadowInfo{Refused: 2, Would: []operator.WouldInfo{{Tool: evilName, Decision: "refuse", Reason: evilName, Rules: []string{"a.rules:9"}, Count: 2, Arguments: []byte(`{"command":"ls <x>\u202e"}`)}}}, nil
}

func (s *site) ChannelsOf(string) ([]string, error) { return []string{"web", "cli"}, nil }

func (s *site) ResetSession(id string, a operator.Actor) error {
	return s.tell("reset " + id + " by " + a.Name + a.PIN)
}

func (s *site) SettleCall(id string, call uint64, success bool, a operator.Actor) error {
	if call == 99 {
		return errors.New("no open call")
	}
	return s.tell(fmt.Sprint("settle ", id, " ", call, " ", success, " by ", a.Name+a.PIN))
}

func (s *site) tell(line string) error {
	s.lock.Lock()
	defer s.lock.Unlock()
	s.done = append(s.done, line)
	return nil
}

func (s *site) told() string {
	s.lock.Lock()
	defer s.lock.Unlock()
	return strings.Join(s.done, "; ")
}

const evilName = "<b>x</b>\x1b[2J\u202e\"'"

// backupNet returns a net that requires a backup before a delete, like the rule.
func backupNet(name string) gate.Net {
	return gate.Net{
		Name: name, Places: []string{"idle", "ready", "gate"}, Initial: map[string]int{"idle": 1},
		Transitions: []gate.Transition{
			{Name: "start", Inputs: []string{"idle"}, Outputs: []string{"ready"}},
			{Name: "do-backup", Inputs: []string{"ready"}, Outputs: []string{"gate"}, Tools: gate.Tools("backup"), Deferred: true, Observe: true},
			{Name: "do-delete", Inputs: []string{"gate"}, Outputs: []string{"ready"}, Tools: gate.Tools("delete")},
		},
	}
}

// visitNets opens the console of a site that has a session s1.
func visitNets(t *testing.T, way WayFinder, nets ...gate.Net) (*browser, *Console) {
	t.Helper()
	policy, err := gate.NewPolicy(nets, gate.PolicyOptions{Labels: []*gate.Labels{{Maps: []gate.Map{
		{Tool: "run", Field: "command", Match: func(string) bool { return false }, As: "delete", Source: "rm", Rule: gate.Position{File: "a.rules", Line: 7}},
	}}}})
	if err != nil {
		t.Fatal(err)
	}
	b := &browser{t: t, desk: &desk{changed: make(chan struct{})}}
	b.desk.policy = policy
	b.desk.gates = map[string]*gate.Session{"s1": gate.NewSession(policy, gate.SessionOptions{})}
	b.desk.all = []operator.SessionInfo{{
		ID: "s1", Principal: evilName, By: "connection", Clients: []string{"http " + evilName}, Since: time.Now(),
		Calls: []operator.CallInfo{{Number: 7, Tool: evilName, Since: time.Now(), Unknown: true}, {Number: 8, Tool: evilName, Since: time.Now()}},
		Nets:  []operator.NetInfo{{Name: "backup-first", Active: true, Moved: true, Marking: map[string]int{"gate": 1}, Status: "gate:1"}},
	}}
	b.server = httptest.NewUnstartedServer(nil)
	c := New(Options{Proxy: b.desk, Hosts: []string{b.server.Listener.Addr().String()}, Way: way, Pins: &b.desk.site})
	b.server.Config.Handler = c
	b.server.Start()
	t.Cleanup(func() { c.Close(); b.server.Close() })
	b.enter(c.Code(ann))
	return b, c
}

// wants checks that a page contains the given parts, and no markup from others.
func (b *browser) wants(path string, parts ...string) string {
	b.t.Helper()
	code, page := b.get(path)
	if code != http.StatusOK {
		b.t.Fatalf("%s: %d\n%s", path, code, page)
	}
	for _, part := range parts {
		if !strings.Contains(page, part) {
			b.t.Errorf("%s: no %q in\n%s", path, part, page)
		}
	}
	for _, no := range []string{"<b>x</b>", "\x1b", "\u202e", " style=", "ZgotmplZ"} {
		if strings.Contains(page, no) {
			b.t.Errorf("%s has %q", path, no)
		}
	}
	return page
}

// TestNets checks that each net has a row, and that the drawing of a net shows its tokens and
// missing tokens.
func TestNets(t *testing.T) {
	shadowed := backupNet("in-shadow")
	shadowed.Shadow = true
	b, _ := visitNets(t, nil, backupNet("backup-first"), shadowed)
	list := b.wants("/nets?session=s1", "2 nets in the policy", `href="/nets?net=backup-first&amp;session=s1"`, "a.rules:1", "ready:1", ">shadow<", "run.command", "becomes", ">delete<", "a.rules:7")
	if strings.Count(list, "<tr>") != 3 {
		t.Errorf("%d lines", strings.Count(list, "<tr>"))
	}
	page := b.wants("/nets?net=backup-first&session=s1", `aria-label="Net backup-first; ready has 1 token; backup: enabled; delete: gate is empty."`, `class="place wanted"`, "why=delete#why", "do-delete")
	if strings.Contains(page, "idle") || strings.Contains(page, ">start<") {
		t.Error("the start of a rule is drawn")
	}
	b.wants("/nets?net=backup-first", "a new session", "Select a session")
	for _, path := range []string{"/nets?net=nothing", "/nets?session=nobody", "/nets?net=backup-first&session=s1&at=4"} {
		if code, _ := b.get(path); code != http.StatusNotFound {
			t.Errorf("%s: %d", path, code)
		}
	}
}

// TestNetsHostile checks that names in a policy and in calls do not become markup, not even in
// links.
func TestNetsHostile(t *testing.T) {
	bad := "n\"><script>alert(1)</script> & javascript:x"
	n := backupNet(bad)
	n.Transitions[2].Tools = gate.Tools("delete", "</text><script>x")
	b, _ := visitNets(t, nil, n)
	at := url.Values{"net": {bad}, "session": {"s1"}, "why": {"<script>y"}}
	for _, path := range []string{"/nets", "/nets?" + at.Encode()} {
		if page := b.wants(path, "&lt;script&gt;"); strings.Contains(page, "<script>") {
			t.Errorf("%s has a script in\n%s", path, page)
		}
	}
}

// TestWhatEnables checks that a refused call is shown with its rules, and that the calls that would
// unlock it are shown with theirs.
func TestWhatEnables(t *testing.T) {
	var asked []string
	b, _ := visitNets(t, func(s *gate.State, c gate.Call, r *gate.Refusal) WayOut {
		asked = append(asked, c.Tool+" "+string(r.Kind)+" "+s.Policy().NetsOf(s)[0].Marking.String())
		return WayOut{Calls: []string{"backup"}, Sentence: "Way out: call backup."}
	}, backupNet("backup-first"))
	b.wants("/nets?session=s1&why=delete", "refused now", "backup-first, a.rules:1", "Shortest way", `<b class="tool">backup</b> succeeds <span class="hint">backup-first, a.rules:1</span>`, "Way out: call backup.")
	b.wants("/nets?net=backup-first&session=s1&why=backup", "allowed now")
	if got := strings.Join(asked, "; "); got != "delete blocked ready:1" {
		t.Error(got)
	}
}

// TestHistory checks that events in a session are kept together with the resulting state.
func TestHistory(t *testing.T) {
	waits := backupNet("backup-first")
	waits.Transitions[1].Observe = false // the call in flight holds its token
	b, c := visitNets(t, nil, waits)
	b.wants("/nets?net=backup-first&session=s1", "No history")
	session := b.desk.gates["s1"]
	do := func(n uint64, tool string) {
		t.Helper()
		d, ok := session.Decide(gate.Call{ID: fmt.Sprint(n), Tool: tool}, nil).(*gate.Allow)
		if !ok {
			t.Fatalf("%s is refused", tool)
		}
		passedOn(c, b.desk.State, fmt.Sprintf(`{"event":"decision","session":"s1","upstream":"demo","tool":%q,"decision":"allow","call":%d}`, tool, n))
		session.End(d.Ticket.Number, gate.End{Outcome: gate.Success})
		passedOn(c, b.desk.State, fmt.Sprintf(`{"event":"outcome","session":"s1","tool":"demo.%s","outcome":"success","call":%d}`, tool, n))
	}
	do(1, "backup")
	do(2, "delete")
	passedOn(c, b.desk.State, `{"event":"outcome","session":"nobody","tool":"x","outcome":"success","call":1}`)
	passedOn(c, b.desk.State, `{"event":"policy"}`)
	page := b.wants("/nets?net=backup-first&session=s1", "1. demo.backup allowed (call 1)", "2. demo.backup ended: success (call 1)", "4. demo.delete ended", `href="/nets?at=2&amp;net=backup-first&amp;session=s1"`, "ready has 1 token")
	if strings.Count(page, `aria-current="step"`) != 1 {
		t.Error("not one step is shown")
	}
	b.wants("/nets?net=backup-first&session=s1&at=1", "ready has 1 token", "1 in flight</span>", "after step 1", "In flight: <span class=\"tool\">backup</span> (call 1)")
	b.wants("/nets?net=backup-first&session=s1&at=2", "gate has 1 token", "delete: enabled", "after step 2")
	delete(b.desk.gates, "s1")
	passedOn(c, b.desk.State, `{"event":"outcome","session":"s1","tool":"x","outcome":"success","call":3}`)
	b.wants("/nets?net=backup-first&session=s1", "This session has ended", "Its activity after the last step here is unknown: the session ended before", "after step 4")
	b.desk.gates["s1"] = session
	for n := range 3 * maxSteps {
		c.history.addStep("s1", &step{Time: time.Now(), Said: []string{"x"}, state: session.Snapshot()})
		c.history.addStep(fmt.Sprint("other ", n), &step{Time: time.Now()})
	}
	steps, _ := c.history.stepsOf("s1")
	if len(steps) > maxSteps || len(steps) < maxSteps/2 || len(c.history.tracks) > maxTracks || c.history.count > maxAllSteps || steps[0].Before != "older steps are not kept" {
		t.Errorf("%d steps, %d tracks, %d steps in all are kept", len(steps), len(c.history.tracks), c.history.count)
	}
	page = b.wants(fmt.Sprintf("/nets?net=backup-first&session=s1&at=%d", steps[len(steps)/2].Number), "Newer steps", "Older steps", "older steps are not kept")
	if n := strings.Count(page, "<li"); n > stepsShown+10 {
		t.Errorf("%d steps are on the page", n)
	}
}

// passedOn adds a record to the history as the feed would.
func passedOn(c *Console, state func(string) (*gate.State, error), event string) {
	c.history.add([][]byte{[]byte(strings.Replace(event, "{", `{"time":"2026-01-02T03:04:05Z",`, 1))}, 0, state)
}

// TestHistoryFollows checks that the history receives records from the feed until it is closed.
func TestHistoryFollows(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		feed, h := audit.NewFeed(nil), newHistory()
		ctx, cancel := context.WithCancel(t.Context())
		go h.run(ctx, feed.Follow(maxUnread), nil, false, func(string) (*gate.State, error) { return &gate.State{}, nil })
		synctest.Wait()
		for _, tool := range []string{"a", "b"} {
			if err := feed.Append(fmt.Appendf(nil, `{"time":"2026-01-02T03:04:05Z","event":"decision","session":"s","tool":%q,"decision":"refuse"}`, tool)); err != nil {
				t.Fatal(err)
			}
			synctest.Wait()
		}
		if steps, _ := h.stepsOf("s"); len(steps) != 2 || steps[1].Number != 2 || steps[1].Said[0] != "b refused" {
			t.Errorf("%+v", steps)
		}
		cancel()
		<-h.done
		if feed.Active() {
			t.Error("the feed is still followed")
		}
	})
}

// TestNetIsDrawnForEachValue checks that a net with a key is drawn separately for each value and
// for all other values.
func TestNetIsDrawnForEachValue(t *testing.T) {
	keyed := backupNet("backup-first")
	keyed.Key = []gate.Field{{Path: "path"}}
	b, _ := visitNets(t, nil, keyed)
	session := b.desk.gates["s1"]
	for _, path := range []string{"a", hostile} {
		args, err := json.Marshal(map[string]string{"path": path})
		if err != nil {
			t.Fatal(err)
		}
		d, ok := session.Decide(gate.Call{Tool: "backup", Args: args}, nil).(*gate.Allow)
		if !ok {
			t.Fatal("backup is refused")
		}
		session.End(d.Ticket.Number, gate.End{Outcome: gate.Success})
	}
	b.wants("/nets?session=s1", `of other path`)
	page := b.wants("/nets?net=backup-first&session=s1", "every other value", "path &#34;a&#34;", "delete: gate is empty")
	_, rest, _ := strings.Cut(page, `aria-current="true">every other value`)
	_, link, _ := strings.Cut(rest, `<a href="`)
	link, _, _ = strings.Cut(link, `"`)
	b.wants(strings.ReplaceAll(link, "&amp;", "&"), "delete: enabled", `aria-current="true">path`)
}

// TestDescribeRecords checks that only records about nets are described.
func TestDescribeRecords(t *testing.T) {
	for event, want := range map[string]string{
		`{"event":"decision","tool":"x","upstream":"u","decision":"refuse"}`: "u.x refused",
		`{"event":"decision","tool":"x","decision":"ask"}`:                   "x asked about",
		`{"event":"outcome","tool":"u.x","outcome":"unknown","call":3}`:      "u.x ended: unknown (call 3)",
		`{"event":"settle failure","call":3}`:                                "settled as failure by an operator (call 3)",
		`{"event":"reset"}`:                                                  "reset by an operator",
		`{"event":"session opened"}`:                                         "",
		`{"event":"start"}`:                                                  "",
	} {
		r := trail.Record{Event: []byte(event)}
		e, err := r.Entry()
		if got := describe(&e); err != nil || got != want {
			t.Errorf("%s: %q %v", event, got, err)
		}
	}
}

// TestRecordsTogetherShareStep checks that records that arrive together share one step.
func TestRecordsTogetherShareStep(t *testing.T) {
	h := newHistory()
	var records [][]byte
	for n := range 8 {
		records = append(records, fmt.Appendf(nil, `{"time":"2026-01-02T03:04:05Z","event":"decision","session":"s","tool":"t%d","decision":"allow"}`, n))
	}
	asked := 0
	h.add(append(records, []byte("{")), 3, func(string) (*gate.State, error) { asked++; return &gate.State{}, nil })
	steps, _ := h.stepsOf("s")
	if len(steps) != 1 || asked != 1 || h.lost != 3 || len(steps[0].Said) != maxSaidInOne+1 || steps[0].Said[maxSaidInOne] != "and 3 more" {
		t.Errorf("%+v, %d asked, %d lost", steps, asked, h.lost)
	}
}

func (s *site) Changes() []operator.ToolChange {
	return []operator.ToolChange{{
		Canonical: "fs.read", Upstream: "fs", Quarantined: true, Why: evilName, Hash: "h1", By: evilName, Accepted: time.Now(),
		Differences: []operator.Difference{{Path: "$.description", Is: json.RawMessage(`"<script>alert(1)</script>"`)}},
	}}
}

func (s *site) Accept(tool, hash string, a operator.Actor) error {
	if hash != "h1" {
		return errors.New("not what was shown")
	}
	return s.tell("accept " + tool + " " + hash + " by " + a.Name + a.PIN)
}
