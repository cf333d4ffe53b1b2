package policytest

import (
	"encoding/json"
	"fmt"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/petrigate/petrigate/gate"
	"github.com/petrigate/petrigate/internal/policy/sandbox"
	"github.com/petrigate/petrigate/internal/text"
)

// A Result is what came of a test.
type Result struct {
	Test    *Test
	Steps   []Played // in order; the last one is not as expected where Failure is set
	Failure *Failure // nil: the test passed
}

// A Played is a step that was played.
type Played struct {
	Number  int // from 1
	Step    *Step
	Verdict string        // "allow", "refuse", "ask"; empty: the step makes no call
	Refusal *gate.Refusal // what is against the call, or what a person is asked; nil: nothing
	Names   []string      // that the call carries
	Would   *gate.Refusal // what nets in shadow have against a call that passes; nil: nothing
}

// A Failure is why a step is not as expected.
type Failure struct {
	Expected, Got string
	Nets          []gate.NetState // that are concerned, as they were before
}

// Run plays a test under a policy.
func (p *Policy) Run(t *Test) Result {
	pol := p.Result.Policy
	if p.coverage != nil {
		pol = p.coverage.watched
	}
	run := &testRun{p, t, sandbox.New(pol, p.Result.Active, t.Sessions...)}
	r := Result{Test: t}
	for i := range t.Steps {
		played, failure := run.step(i+1, &t.Steps[i])
		r.Steps = append(r.Steps, played)
		if failure != nil {
			r.Failure = failure
			break
		}
	}
	return r
}

// A testRun is a test that is being played.
type testRun struct {
	policy *Policy
	test   *Test
	box    *sandbox.Sandbox
}

func (r *testRun) step(number int, s *Step) (Played, *Failure) {
	r.box.Wait(s.After)
	played := Played{Number: number, Step: s}
	switch {
	case s.Settles > 0:
		return played, r.settle(s)
	case s.Tool == "":
		return played, nil
	}
	for i := 1; i <= s.Times; i++ {
		if failure := r.callOnce(s, &played); failure != nil {
			if s.Times > 1 {
				failure.Got += fmt.Sprintf(", call %d of %d", i, s.Times)
			}
			return played, failure
		}
	}
	return played, nil
}

func (r *testRun) callOnce(s *Step, played *Played) *Failure {
	played.Verdict, played.Refusal, played.Would = "", nil, nil
	session := r.box.Session(s.Session)
	session.Tick(r.box.Now())
	before := session.Nets()
	call := r.call(played.Number, s)
	d := r.decide(session, call, s, played)
	if failure := s.judge(played, d.names, r.policy); failure != nil {
		failure.Nets = d.concerned(before, played)
		return failure
	}
	if played.Verdict != refuse {
		end(session, call.ID, s.Result)
	}
	return nil
}

// call is the call of a step.
func (r *testRun) call(number int, s *Step) gate.Call {
	c := r.policy.Call(s.Tool)
	c.ID, c.Args, c.Time = strconv.Itoa(number), s.Args, r.box.Now()
	for _, name := range s.Also {
		if !slices.ContainsFunc(c.Also, func(n gate.Name) bool { return n.Text == name }) {
			c.Also = append(slices.Clip(c.Also), gate.Name{Text: name, Certain: true})
		}
	}
	if s.Annotations != nil {
		c.Annotations = s.Annotations
	}
	return c
}

// decided is what is known of a call beside its verdict.
type decided struct {
	names []gate.Name
	said  []gate.Verdict
}

// decide has a call decided, and the person who is asked answer.
func (r *testRun) decide(session *sandbox.Session, c gate.Call, s *Step, played *Played) decided {
	about := decided{r.policy.Result.Policy.Names(c), session.Classify(c)}
	played.Names = nil
	for _, n := range about.names {
		played.Names = append(played.Names, n.Text)
	}
	d := session.Call(c, sandbox.Later)
	asked, waited := d.(*gate.Ask)
	if waited {
		d = session.Answer(c.ID, s.Approve)
	}
	refused, ok := d.(*gate.Refusal)
	switch {
	case waited && (s.Approve == sandbox.Nobody || s.Expect == ask && (!ok || s.Approve == sandbox.No)):
		played.Verdict, played.Refusal = ask, asked.Refusal()
	case ok:
		played.Verdict, played.Refusal = refuse, refused
	default:
		played.Verdict, played.Would = allow, d.(*gate.Allow).Would
	}
	if cover := r.policy.coverage; cover != nil {
		cover.decided(about, d)
		if waited && !ok {
			cover.held(asked.Refusal())
		}
	}
	return about
}

// settle ends an earlier call.
func (r *testRun) settle(s *Step) *Failure {
	of := &r.test.Steps[s.Settles-1]
	if end(r.box.Session(of.Session), strconv.Itoa(s.Settles), s.Result) {
		return nil
	}
	return &Failure{Expected: fmt.Sprintf("step %d settles", s.Settles), Got: "its call was settled before"}
}

// end settles a call by the word of a step.
func end(session *sandbox.Session, id, result string) bool {
	switch result {
	case "pending":
		return true
	case "success":
		return session.End(id, gate.Success)
	case "unknown":
		return session.End(id, gate.Unknown)
	default:
		return session.End(id, gate.Failure)
	}
}

// judge compares a call with what its step expects.
func (s *Step) judge(played *Played, names []gate.Name, p *Policy) *Failure {
	if played.Verdict != s.Expect {
		return &Failure{Expected: s.Expect, Got: played.Verdict}
	}
	verdict, refusal := played.Verdict, played.Refusal
	if s.Would != "" {
		verdict, refusal = would(played.Would), played.Would
		if verdict != inShadow+s.Would {
			return &Failure{Expected: inShadow + s.Would, Got: verdict}
		}
	}
	if s.Reason != nil && !s.Reason.matches(refusal.Text) {
		return &Failure{Expected: fmt.Sprintf("%s, reason %q", verdict, s.Reason.Source), Got: fmt.Sprintf("%s, another reason", verdict)}
	}
	if s.Rule != "" && !slices.ContainsFunc(refusal.Blocks, s.speaksOf) {
		return &Failure{Expected: verdict + " by " + s.Rule + s.unknownRule(p), Got: verdict + " by " + blocksText(refusal.Blocks)}
	}
	var carried []string
	for _, n := range names {
		carried = append(carried, n.Text)
	}
	for _, name := range s.Names {
		if !slices.Contains(carried, name) {
			return &Failure{Expected: fmt.Sprintf("the name %q", name), Got: "the names " + strings.Join(carried, ", ")}
		}
	}
	return nil
}

const inShadow = "in shadow "

// would is what nets in shadow say.
func would(r *gate.Refusal) string {
	switch {
	case r == nil:
		return inShadow + allow
	case r.Kind == gate.KindApproval:
		return inShadow + ask
	default:
		return inShadow + refuse
	}
}

// numbered finds rules that are named by their line.
var numbered = regexp.MustCompile(`^(.*?):([0-9]+)(?::([0-9]+))?$`)

// speaksOf reports whether the rule of a step is that of the block.
func (s *Step) speaksOf(b gate.Block) bool {
	m := numbered.FindStringSubmatch(s.Rule)
	if m == nil {
		return b.Net == s.Rule
	}
	line, _ := strconv.Atoi(m[2]) // it is digits; too many are no line
	column, _ := strconv.Atoi(m[3])
	want, got := filepath.ToSlash(m[1]), filepath.ToSlash(b.Rule.File)
	return (want == got || strings.HasSuffix(got, "/"+path.Clean(want))) && line == b.Rule.Line && (column == 0 || column == b.Rule.Column)
}

// unknownRule says that the policy has no net of the name that is expected.
func (s *Step) unknownRule(p *Policy) string {
	if numbered.MatchString(s.Rule) {
		return ""
	}
	var nets []string
	for _, n := range p.Result.Policy.Nets() {
		nets = append(nets, n.Name)
	}
	near := text.Nearest(s.Rule, nets)
	switch {
	case slices.Contains(nets, s.Rule):
		return ""
	case near != "":
		return fmt.Sprintf(" (there is no such net; did you mean %s?)", near)
	default:
		return " (there is no such net)"
	}
}

func blocksText(blocks []gate.Block) string {
	var all []string
	for _, b := range blocks {
		all = append(all, fmt.Sprintf("%s (%s)", b.Rule, b.Net))
	}
	if len(all) == 0 {
		return "no net"
	}
	return strings.Join(all, ", ")
}

// concerned are the nets that say something about the call, or against it.
func (d *decided) concerned(all []gate.NetState, played *Played) []gate.NetState {
	said := make(map[string]bool)
	for _, v := range d.said {
		said[v.Net] = v.Kind != gate.Abstain
	}
	if played.Refusal != nil {
		for _, b := range played.Refusal.Blocks {
			said[b.Net] = true
		}
	}
	return slices.DeleteFunc(all, func(n gate.NetState) bool { return !said[n.Name] })
}

// What is a line that tells the step.
func (s *Step) What() string {
	switch {
	case s.Settles > 0:
		return fmt.Sprintf("settle step %d as %s", s.Settles, s.Result)
	case s.Tool == "":
		return fmt.Sprintf("after %s", s.After)
	}
	text := s.Tool
	if s.Args != nil {
		text += " " + compact(s.Args)
	}
	if s.Times > 1 {
		text += fmt.Sprintf(", %d times", s.Times)
	}
	return text
}

// compact is JSON that fits a line.
func compact(text json.RawMessage) string {
	const most = 120
	shown := []rune(string(text))
	if len(shown) > most {
		return string(shown[:most]) + "..."
	}
	return string(shown)
}
