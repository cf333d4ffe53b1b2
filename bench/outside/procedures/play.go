package main

import (
	"bytes"
	"encoding/json"
	"regexp"
	"strings"

	"github.com/petrigate/petrigate/gate"
)

// A run is one recorded conversation about a task, possibly several times.
type run struct {
	Task         task `json:"task"`
	Interactions []struct {
		Messages []message `json:"interaction"`
	} `json:"interactions"`
}

// A message calls functions, or has the result of a call.
type message struct {
	Calls []struct {
		ID       string `json:"id"`
		Function struct {
			Name      string `json:"name"`
			Arguments string `json:"arguments"`
		} `json:"function"`
	} `json:"tool_calls"`
	Call    string          `json:"tool_call_id"`
	Content json.RawMessage `json:"content"`
}

// A record is one call with its result.
type record struct {
	function string
	args     []byte
	result   string
}

// records lists the calls that have a result, in the order in which they were made.
func records(messages []message) (all []record) {
	open := make(map[string]record)
	for _, m := range messages {
		for _, c := range m.Calls {
			open[c.ID] = record{function: c.Function.Name, args: []byte(c.Function.Arguments)}
		}
		if r, ok := open[m.Call]; ok && m.Call != "" {
			delete(open, m.Call)
			r.result = text(m.Content)
			all = append(all, r)
		}
	}
	return all
}

// text returns a JSON string, or the source of another value.
func text(raw json.RawMessage) string {
	var s string
	if json.Unmarshal(raw, &s) == nil {
		return s
	}
	return string(raw)
}

var failure = regexp.MustCompile(`^\w*Error\b`)

// failed reports whether the call ran into an error. That it was answered with no is
// another thing.
func (r *record) failed() bool { return failure.MatchString(r.result) }

// yes reports whether the service was rendered.
func (r *record) yes() bool {
	s := strings.Trim(r.result, "[(")
	return strings.HasPrefix(s, "True") || strings.HasPrefix(s, "true")
}

// A count sums up the calls of many runs.
type count struct {
	Runs, Calls, Agree     int
	Missed                 int // the procedure forbids, and the gate admits
	FalseRefusals          int // the procedure permits, and the gate refuses
	OtherTask              int // of these, where the task leaves conditions of the domain out
	Forbidden, Prevented   int // calls of functions whose procedure was not followed
	Rendered, NotRendered  int // runs in which a service was rendered that the task forbids; those that the gate stops
	Unreadable, ErrorCalls int
}

// play decides the calls of a run by the policy and by the procedures.
func (c *count) play(p *gate.Policy, d domain, in implied, r *run) error {
	own, err := d.with(&r.Task, in)
	if err != nil {
		return err
	}
	for _, i := range r.Interactions {
		c.Runs++
		c.conversation(p, &oracle{domain: d}, &oracle{domain: own}, &r.Task, records(i.Messages))
	}
	return nil
}

func (c *count) conversation(p *gate.Policy, procedures, ofTask *oracle, t *task, all []record) {
	session := gate.NewSession(p, gate.SessionOptions{})
	rendered, stopped := false, false
	for _, r := range all {
		var args map[string]any
		decoder := json.NewDecoder(bytes.NewReader(r.args))
		decoder.UseNumber()
		switch {
		case decoder.Decode(&args) != nil:
			c.Unreadable++
			continue
		case r.failed():
			c.ErrorCalls++
			continue
		}
		c.Calls++
		permits, admitted := procedures.permits(r.function, args), false
		if a, ok := session.Decide(gate.Call{Tool: r.function, Args: r.args}, nil).(*gate.Allow); ok {
			admitted = true
			a.Ticket.Settle(gate.Success)
		}
		if permits {
			procedures.add(r.function, args)
		}
		permitsTask := ofTask.permits(r.function, args)
		if permitsTask {
			ofTask.add(r.function, args)
		}
		c.compare(permits, permitsTask, admitted)
		if r.function == t.Goal && !t.permits() && r.yes() {
			rendered = true
			stopped = stopped || !admitted
		}
	}
	if rendered {
		c.Rendered++
	}
	if rendered && stopped {
		c.NotRendered++
	}
}

// compare counts one call.
func (c *count) compare(permits, permitsTask, admitted bool) {
	switch {
	case permits == admitted:
		c.Agree++
	case permits:
		c.FalseRefusals++
	default:
		c.Missed++
	}
	if !admitted && permitsTask {
		c.OtherTask++
	}
	if !permits {
		c.Forbidden++
		if !admitted {
			c.Prevented++
		}
	}
}
