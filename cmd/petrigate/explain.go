package main

import (
	"encoding/json"
	"fmt"
	"strconv"

	"github.com/spf13/cobra"

	"github.com/petrigate/petrigate/gate"
	"github.com/petrigate/petrigate/internal/policy"
	"github.com/petrigate/petrigate/internal/policy/sandbox"
	"github.com/petrigate/petrigate/internal/policy/verify"
)

// Exit codes of explain --exit-code.
const (
	exitRefuse = 5
	exitAsk    = 6
)

// explainFlags are what explain is asked.
type explainFlags struct {
	stageFlags
	args     string
	tools    string
	after    []string
	exitCode bool
	verbose  bool
	json     bool
}

func newExplain(s stdio) *cobra.Command {
	c := &cobra.Command{
		Use:   "explain TOOL",
		Short: "Say what becomes of a call, by which rule, and how it would be allowed",
		Long: "explain decides a call in a new session, without a server, and says what every net has to do with it, the\n" +
			"names that the call carries, and the shortest way to have it allowed. --after makes calls before, which\n" +
			"succeed one after the other; a person who is asked about them agrees.",
		Args: cobra.ExactArgs(1),
	}
	var f explainFlags
	f.add(c)
	c.Flags().StringVar(&f.tools, "tools", "", "a recorded tool list (`file`), as tools/list gives it; default: the tools of a running proxy with this configuration")
	c.Flags().StringVar(&f.args, "args", "", "the arguments of the call, a `JSON` object")
	c.Flags().StringArrayVar(&f.after, "after", nil, "`calls` that are made before: a,b{\"x\": 1}")
	c.Flags().BoolVar(&f.exitCode, "exit-code", false, "end with 5 where the call is refused, and with 6 where a person is asked")
	c.Flags().BoolVar(&f.verbose, "verbose", false, "list also the nets that have nothing to say")
	c.Flags().BoolVar(&f.json, "json", false, "print JSON")
	c.RunE = func(c *cobra.Command, tool []string) error {
		st, err := f.open(c)
		if err != nil {
			return err
		}
		if err := st.learn(f.tools); err != nil {
			return err
		}
		return f.explain(s, st, writtenCall{tool: tool[0]})
	}
	return c
}

func (f *explainFlags) explain(s stdio, st *stage, call writtenCall) (err error) {
	if f.args != "" {
		if call.args, err = arguments(f.args); err != nil {
			return usage("--args: %v", err)
		}
	}
	for _, text := range f.after {
		calls, err := parseCalls(text)
		if err != nil {
			return usage("--after: %v", err)
		}
		for _, c := range calls {
			if err := st.before(c); err != nil {
				return err
			}
		}
	}
	e := st.explain(call)
	if f.json {
		err = printJSON(s.out, e.report(f.verbose))
	} else {
		_, err = fmt.Fprint(s.out, e.text(newInk(s.out), f.verbose))
	}
	if err == nil && f.exitCode && e.decision != "allow" {
		err = &exit{map[string]int{"refuse": exitRefuse, "ask": exitAsk}[e.decision], nil}
	}
	return err
}

// made is the call that a user wrote, under an id of its own.
func (s *stage) made(c writtenCall, id int) gate.Call {
	call := s.call(c.tool)
	call.ID, call.Args, call.Time = strconv.Itoa(id), c.args, s.box.Now()
	return call
}

// before makes a call that has to succeed.
func (s *stage) before(c writtenCall) error {
	call := s.made(c, 1)
	if r, ok := s.session.Call(call, sandbox.Yes).(*gate.Refusal); ok {
		return fmt.Errorf("--after: %s is refused, %s%s", c, blamed(r), r.Text)
	}
	s.session.End(call.ID, gate.Success) // it was admitted just now
	return nil
}

// blamed is the place of the first rule that refuses, with a colon.
func blamed(r *gate.Refusal) string {
	if len(r.Blocks) == 0 || r.Blocks[0].Rule.Line == 0 {
		return ""
	}
	return r.Blocks[0].Rule.String() + ": "
}

// An explanation is all that is known of a call.
type explanation struct {
	stage    *stage
	call     writtenCall
	names    []gate.Name
	verdicts []gate.Verdict
	states   map[string]gate.NetState
	decision string        // "allow", "refuse", "ask"
	refusal  *gate.Refusal // or what a person is asked, or what nets in shadow would say; nil: nothing
	remedy   verify.Remedy // of a refusal
}

// explain decides the call, and looks for the way out where it is refused.
func (s *stage) explain(c writtenCall) *explanation {
	call, session := s.made(c, 1), s.session
	session.Tick(s.box.Now())
	e := &explanation{stage: s, call: c, names: s.result.Policy.Names(call), verdicts: session.Classify(call), states: make(map[string]gate.NetState)}
	for _, n := range session.Nets() {
		e.states[n.Name] = n
	}
	switch d := s.session.Call(call, sandbox.Later).(type) {
	case *gate.Refusal:
		e.decision, e.refusal = "refuse", d
		e.remedy = s.guide.Remedy(session.Snapshot(), call, d)
	case *gate.Ask:
		e.decision, e.refusal = "ask", d.Refusal()
	case *gate.Allow:
		e.decision, e.refusal = "allow", d.Would
	}
	return e
}

// explainReport is the answer of explain, in the form that tools rely on.
type explainReport struct {
	Version  int             `json:"version"`
	Tool     string          `json:"tool"`
	Args     json.RawMessage `json:"args,omitempty"`
	Unknown  bool            `json:"unknown,omitempty"` // the tools are known, and none has this name
	Decision string          `json:"decision"`
	Names    []string        `json:"names"`
	Certain  []string        `json:"certain"` // of the names: they exempt, and make a call known
	Weak     []string        `json:"weak"`    // of the names: they restrict, and prove nothing
	Kind     gate.Kind       `json:"kind,omitempty"`
	Reason   string          `json:"reason,omitempty"`
	Would    string          `json:"would,omitempty"` // what nets in shadow would have said; kind and reason are then of that
	Nets     []explainedNet  `json:"nets"`
	Remedy   []string        `json:"remedy"` // calls that have to succeed before; null: there are none that would do, or it is not known
	Way      string          `json:"way,omitempty"`
	Why      string          `json:"why,omitempty"` // the remedy is not known
	Retry    float64         `json:"retryAfter,omitempty"`
}

type explainedNet struct {
	Name       string      `json:"name"`
	Verdict    string      `json:"verdict"` // "blocked", "yields", "gated", "free", "abstain"
	Manual     bool        `json:"manual,omitempty"`
	Shadow     bool        `json:"shadow,omitempty"`
	Transition string      `json:"transition"`
	Rule       policy.Rule `json:"rule"`
	Reason     string      `json:"reason"`
	Marking    string      `json:"marking"`
}

var verdictWords = [...]string{gate.Abstain: "abstain", gate.Free: "free", gate.Gated: "gated", gate.Blocked: "blocked", gate.Yields: "yields"}

func (e *explanation) report(verbose bool) explainReport {
	r := explainReport{
		Version: 1, Tool: e.call.tool, Args: e.call.args, Unknown: e.stage.unknown(e.call.tool), Decision: e.decision,
		Names: []string{}, Certain: []string{}, Weak: []string{}, Nets: []explainedNet{}, Remedy: []string{},
	}
	for _, n := range e.names {
		r.Names = append(r.Names, n.Text)
		if n.Certain {
			r.Certain = append(r.Certain, n.Text)
		}
		if n.Weak {
			r.Weak = append(r.Weak, n.Text)
		}
	}
	for _, v := range e.verdicts {
		if v.Kind != gate.Abstain || verbose {
			r.Nets = append(r.Nets, e.net(v))
		}
	}
	if e.refusal != nil {
		r.Kind, r.Reason, r.Retry = e.refusal.Kind, e.refusal.Text, e.refusal.Retry.Seconds()
	}
	if e.decision == "allow" {
		r.Would = wouldSay(e.refusal)
	}
	if e.decision == "refuse" {
		r.Remedy, r.Way, r.Why = nil, e.way(), e.remedy.Why
		if e.remedy.Found {
			r.Remedy = append([]string{}, e.remedy.Calls()...)
		}
	}
	return r
}

func (e *explanation) net(v gate.Verdict) explainedNet {
	n := explainedNet{
		Name: v.Net, Verdict: verdictWords[v.Kind], Manual: v.Manual, Shadow: v.Shadow, Transition: v.Transition,
		Rule: policy.Rule(v.Rule), Marking: e.states[v.Net].Marking.String(),
	}
	if e.refusal != nil {
		for _, b := range e.refusal.Blocks {
			if b.Net == v.Net {
				n.Reason = b.Reason
			}
		}
	}
	return n
}

// way is how the call would be allowed; empty where that is not known.
func (e *explanation) way() string {
	switch {
	case e.remedy.None && e.refusal.Retry > 0:
		return "" // time will do
	case e.refusal.Kind == gate.KindValidation:
		return "Other arguments may be allowed."
	}
	return e.remedy.Sentence(e.call.tool)
}
